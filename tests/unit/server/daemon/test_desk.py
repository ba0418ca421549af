"""The desk: many at once share one flush, nobody pays for another's fault, and nobody is forgotten in line."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import CountingIds, FakeClock
from tests.patience import PATIENCE_SECONDS

from commonhold.api.service import Service
from commonhold.api.wire import calls
from commonhold.kernel.errors import Code, CommonholdError, StoreError
from commonhold.server.daemon.request_scheduler import THREADS, Job, RequestScheduler, job_of
from commonhold.stores.sqlite.mirror import MirroredStore
from commonhold.workspace.files import WorkingTree

pytestmark = pytest.mark.slow


@dataclass(eq=False)
class FakePeer:
    """A client's end: what it was sent, decoded."""

    service: Service
    is_open: bool = True
    replies: list[object] = field(default_factory=list)
    asked: dict[int, str] = field(default_factory=dict)

    @property
    def agent(self) -> str:
        return self.service.holder

    def send(self, frame: bytes) -> None:
        reply = calls.decode_reply(frame[calls.LENGTH.size :])
        if reply.kind == "error":
            self.replies.append(calls.decode_fault(reply.body))
        else:
            self.replies.append(calls.method(self.asked[reply.number]).answer(reply.body))

    @property
    def outcomes(self) -> list[str]:
        return [str(reply.code if isinstance(reply, CommonholdError) else reply.outcome) for reply in self.replies]  # type: ignore[attr-defined]


@dataclass
class Room:
    """A desk, its store, and those who come to it."""

    folder: Path
    clock: FakeClock = field(default_factory=FakeClock)
    ids: CountingIds = field(default_factory=CountingIds)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        (self.folder / "root").mkdir()
        (self.folder / "root/a.py").write_text("def f():\n    return 1\n")
        self.store = MirroredStore(str(self.folder / "state"), synchronous="OFF")
        self.store.own()
        self.woken = threading.Event()
        self.desk = RequestScheduler(self.store, lambda: self.clock.seconds, self.woken.set)

    def peer(self, agent: str) -> FakePeer:
        files = WorkingTree(str(self.folder / "root"))
        return FakePeer(Service(store=self.store, files=files, clock=self.clock, ids=self.ids, agent=agent))

    def job(self, peer: FakePeer, name: str, *arguments: object, **named: object) -> Job:
        number = next(self.numbers)
        peer.asked[number] = name
        frame = calls.encode_request(number, name, arguments, named)
        return job_of(peer, calls.decode_request(frame[calls.LENGTH.size :]))  # type: ignore[arg-type]

    def ask(self, peer: FakePeer, name: str, *arguments: object, **named: object) -> None:
        self.desk.take([self.job(peer, name, *arguments, **named)])

    def wait_for(self, is_so: Callable[[], bool]) -> None:
        """Deliver what threads have done until something is so."""
        until = time.monotonic() + PATIENCE_SECONDS
        while not is_so():
            assert time.monotonic() < until
            self.woken.wait(0.05)
            self.woken.clear()
            self.desk.deliver()

    def waiting(self) -> list[str]:
        return [waiter.holder for waiter in self.store.index.waiters()]


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    made = Room(tmp_path)
    yield made
    made.desk.close()
    made.store.close()


def standing(room: Room, peer: FakePeer, ticket: str, key: str = "account:1", **more: Any) -> Job:
    job = room.job(peer, "acquire", key, ticket=ticket, patience_seconds=15.0, hold_seconds=60.0, **more)
    room.desk.take([job])
    return job


def test_all_of_a_round_share_one_transaction(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[MirroredStore] = []
    writing = MirroredStore._writing

    def counted(store: MirroredStore) -> AbstractContextManager[object]:
        begun.append(store)
        return writing(store)

    monkeypatch.setattr(MirroredStore, "_writing", counted)
    peers = [room.peer(f"agent-{number}") for number in range(8)]
    room.desk.take([room.job(peer, "acquire", f"account:{number}") for number, peer in enumerate(peers)])
    assert [peer.outcomes for peer in peers] == [["granted"]] * 8
    assert len(begun) == 1


def test_one_bad_request_does_not_spoil_the_others(room: Room) -> None:
    good, bad = room.peer("good"), room.peer("bad")
    room.desk.take(
        [
            room.job(good, "put", "account:1", "1", expected_version=0),
            room.job(bad, "acquire", "account:1", ttl_seconds=-1.0),
            room.job(bad, "put", "a.py", "x", expected_version=0),
            room.job(bad, "acquire"),
            room.job(good, "put", "account:2", "2", expected_version=0),
        ]
    )
    assert good.outcomes == ["stored", "stored"]
    assert bad.outcomes == [Code.TTL_INVALID, Code.KEY_INVALID, Code.USAGE]
    assert good.service.get("account:2").text == "2"


def test_a_defect_in_one_of_them_neither(room: Room, caplog: pytest.LogCaptureFixture) -> None:
    """The round is taken back, and each is done by itself: once, and with an answer of its own."""
    good, bad = room.peer("good"), room.peer("bad")
    bad.service.put = lambda *_, **__: 1 / 0  # type: ignore[method-assign, assignment]
    room.desk.take(
        [
            room.job(good, "put", "account:1", "1", expected_version=0),
            room.job(bad, "put", "account:1", "x", expected_version=0),
            room.job(good, "put", "account:2", "2", expected_version=0),
        ]
    )
    assert good.outcomes == ["stored", "stored"]
    assert bad.outcomes == [Code.INTERNAL]
    assert "ZeroDivisionError" in caplog.text
    assert [each.sequence for each in good.service.log(after=0)] == [1, 2]
    assert room.store.index.next_sequence == 3


def test_an_answer_that_cannot_be_sent_is_a_defect_and_no_end(room: Room, caplog: pytest.LogCaptureFixture) -> None:
    peer = room.peer("ann")
    peer.service.get = lambda **_: "\ud800"  # type: ignore[method-assign, assignment]
    room.ask(peer, "get", "account:1")
    assert peer.outcomes == [Code.INTERNAL]
    assert "UnicodeEncodeError" in caplog.text


def test_nobody_is_answered_before_it_is_durable(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the transaction cannot be ended, all get the error, and none was granted anything."""
    peer = room.peer("ann")
    room.ask(peer, "put", "account:0", "0", expected_version=0)

    def failing(*_: object) -> None:
        raise StoreError(Code.DISK_FULL, "full", hint="")

    monkeypatch.setattr("commonhold.stores.sqlite.session.SqliteSession.record", failing)
    room.desk.take([room.job(peer, "acquire", "account:1"), room.job(peer, "acquire", "account:2")])
    assert peer.outcomes[1:] == [Code.DISK_FULL, Code.DISK_FULL]
    assert room.store.index.leases() == ()


def test_who_stands_in_line_is_answered_in_the_same_round_as_it_is_served(room: Room) -> None:
    ann, bob = room.peer("ann"), room.peer("bob")
    room.ask(ann, "acquire", "account:1", ticket="a")
    standing(room, bob, "b")
    assert (bob.outcomes, room.waiting()) == ([], ["bob"])
    room.ask(ann, "release", "a")
    assert bob.outcomes == ["granted"]
    assert bob.replies[0].lease.is_claimed  # type: ignore[attr-defined]
    assert room.desk.is_idle


def test_first_come_first_served(room: Room) -> None:
    ann = room.peer("ann")
    room.ask(ann, "acquire", "account:1", ticket="a")
    others = [room.peer(f"agent-{number}") for number in range(8)]
    for number, peer in enumerate(others):
        standing(room, peer, f"t{number}")
    served = []
    room.ask(ann, "release", "a")
    for _ in others:
        (now,) = [number for number, peer in enumerate(others) if peer.outcomes and number not in served]
        served.append(now)
        room.ask(others[now], "release", f"t{now}")
    assert served == list(range(8))


def test_who_is_held_back_shows_that_it_is_still_there(room: Room) -> None:
    ann, bob = room.peer("ann"), room.peer("bob")
    room.ask(ann, "acquire", "account:1", ticket="a")
    standing(room, bob, "b")
    for _ in range(10):
        room.clock.advance(5.0)
        room.desk.take(())
        assert room.waiting() == ["bob"]
    assert bob.outcomes == []


def test_when_its_time_is_over_it_learns_where_it_stands(room: Room) -> None:
    ann, bob = room.peer("ann"), room.peer("bob")
    room.ask(ann, "acquire", "account:1", ticket="a")
    standing(room, bob, "b")
    room.clock.advance(60.0)
    assert room.desk.next_look_at() is not None
    room.desk.take(())
    assert bob.outcomes == ["queued"]
    assert room.desk.next_look_at() is None


@pytest.mark.parametrize("hold_seconds", [None, 0.0, -1.0, float("nan")])
def test_who_does_not_want_to_be_held_back_learns_it_at_once(room: Room, hold_seconds: float | None) -> None:
    ann, bob = room.peer("ann"), room.peer("bob")
    room.ask(ann, "acquire", "account:1", ticket="a")
    room.ask(bob, "acquire", "account:1", ticket="b", patience_seconds=15.0, hold_seconds=hold_seconds)
    assert bob.outcomes == ["queued"]


def test_who_dies_in_line_makes_room_at_once(room: Room) -> None:
    ann, bob, cid = room.peer("ann"), room.peer("bob"), room.peer("cid")
    room.ask(ann, "acquire", "account:1", ticket="a")
    standing(room, bob, "b")
    standing(room, cid, "c")
    bob.is_open = False
    room.desk.forget(bob)  # type: ignore[arg-type]
    room.ask(ann, "release", "a")
    assert (bob.outcomes, cid.outcomes) == ([], ["granted"])


def test_whose_death_shows_only_when_it_is_served_makes_room_for_the_next(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob, cid = (room.peer(agent) for agent in ("ann", "bob", "cid"))
    room.ask(ann, "acquire", "account:1", ticket="a")
    standing(room, bob, "b")
    standing(room, cid, "c")
    monkeypatch.setattr(bob, "send", lambda _: setattr(bob, "is_open", False))
    room.ask(ann, "release", "a")
    assert cid.outcomes == ["granted"]


def test_who_dies_before_its_request_is_read_is_not_served(room: Room) -> None:
    ann, bob = room.peer("ann"), room.peer("bob")
    bob.is_open = False
    room.desk.take([room.job(bob, "acquire", "account:1"), room.job(ann, "acquire", "account:1")])
    assert ann.outcomes == ["granted"]


def test_what_the_dead_still_did_is_done(room: Room) -> None:
    """Who sends a release and goes has let go."""
    ann, bob = room.peer("ann"), room.peer("bob")
    room.ask(ann, "acquire", "account:1", ticket="a")
    ann.is_open = False
    room.desk.take([room.job(ann, "release", "a"), room.job(bob, "acquire", "account:1")])
    assert bob.outcomes == ["granted"]


def test_who_lets_go_of_its_place_waits_no_longer(room: Room) -> None:
    """A wait was cancelled: whoever waits for its answer gets one now."""
    ann, bob, second = room.peer("ann"), room.peer("bob"), room.peer("bob")
    room.ask(ann, "acquire", "account:1", ticket="a")
    standing(room, bob, "b")
    room.ask(second, "release", "b")
    assert (bob.outcomes, second.outcomes, room.waiting()) == (["queued"], ["cancelled"], [])
    assert room.desk.is_idle


def test_who_asks_once_more_through_another_peer_leaves_nobody_waiting_at_the_first(room: Room) -> None:
    ann, first, second = room.peer("ann"), room.peer("bob"), room.peer("bob")
    room.ask(ann, "acquire", "account:1", ticket="a")
    standing(room, first, "b")
    standing(room, second, "b")
    assert (first.outcomes, room.waiting()) == (["queued"], ["bob"])
    room.ask(ann, "release", "a")
    assert second.outcomes == ["granted"]


def test_who_must_not_wait_is_told_so(room: Room) -> None:
    """Each waits for the other's: the younger is sent away, though its answer was kept back."""
    ann, bob = room.peer("ann"), room.peer("bob")
    room.ask(ann, "acquire", "account:1", ticket="a1")
    room.ask(bob, "acquire", "account:2", ticket="b2")
    standing(room, bob, "b1")
    standing(room, ann, "a2", "account:2")
    assert bob.outcomes == ["granted", "denied"]
    room.ask(bob, "release", "b2")
    assert ann.outcomes == ["granted", "granted"]


def test_regions_are_waited_for_like_all_else(room: Room) -> None:
    """What needs a look into a file is done in a thread, and stands in line all the same."""
    ann, bob, cid = room.peer("ann"), room.peer("bob"), room.peer("cid")
    room.ask(ann, "acquire", "a.py#f", ticket="a")
    room.wait_for(lambda: bool(ann.outcomes))
    standing(room, bob, "b", "a.py#f")
    room.wait_for(lambda: room.waiting() == ["bob"] and not room.desk._beside)
    standing(room, cid, "c", "a.py#f")
    room.wait_for(lambda: room.waiting() == ["bob", "cid"] and not room.desk._beside)
    assert (bob.outcomes, cid.outcomes) == ([], [])
    bob.is_open = False
    room.desk.forget(bob)  # type: ignore[arg-type]
    room.ask(ann, "release", "a")
    room.wait_for(lambda: bool(cid.outcomes))
    assert (bob.outcomes, cid.outcomes) == ([], ["granted"])


def begun_in_a_thread(peer: FakePeer, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """An acquire that a thread is in the middle of until the event."""
    go, acquire = threading.Event(), peer.service.acquire

    def slowly(*keys: str, **named: Any) -> object:
        assert go.wait(PATIENCE_SECONDS)
        return acquire(*keys, **named)

    monkeypatch.setattr(peer.service, "acquire", slowly)
    return go


@pytest.mark.parametrize("is_held", [False, True], ids=["free", "held"])
def test_what_is_let_go_of_while_a_thread_asks_for_it_is_let_go_of_then(
    room: Room, monkeypatch: pytest.MonkeyPatch, *, is_held: bool
) -> None:
    """Ctrl-C in the middle of a call: the client lets go of what it does not know whether it has."""
    ann, bob, second = room.peer("ann"), room.peer("bob"), room.peer("bob")
    if is_held:
        room.ask(ann, "acquire", "a.py")
        room.wait_for(lambda: bool(ann.outcomes))
    go = begun_in_a_thread(bob, monkeypatch)
    standing(room, bob, "b", "a.py#f")
    room.ask(second, "release", "b")
    go.set()
    room.wait_for(lambda: room.desk.is_idle)
    assert [lease.holder for lease in room.store.index.leases()] == (["ann"] if is_held else [])
    assert room.waiting() == []
    assert bob.outcomes == ["denied"]


def test_nobody_lets_go_of_what_another_asks_for(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, bob = room.peer("ann"), room.peer("bob")
    go = begun_in_a_thread(bob, monkeypatch)
    standing(room, bob, "b", "a.py#f")
    room.ask(ann, "release", "b")
    go.set()
    room.wait_for(lambda: room.desk.is_idle)
    assert (bob.outcomes, ann.outcomes) == (["granted"], ["refused"])
    assert [lease.holder for lease in room.store.index.leases()] == ["bob"]


def test_who_dies_while_a_thread_asks_for_it_leaves_no_place_in_line(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = room.peer("ann"), room.peer("bob")
    room.ask(ann, "acquire", "a.py")
    room.wait_for(lambda: bool(ann.outcomes))
    go = begun_in_a_thread(bob, monkeypatch)
    standing(room, bob, "b", "a.py#f")
    bob.is_open = False
    room.desk.forget(bob)  # type: ignore[arg-type]
    go.set()
    room.wait_for(lambda: room.desk.is_idle)
    assert room.waiting() == []


def test_whoever_reads_does_not_wait_behind_those_who_plan(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    planner, reader = room.peer("planner"), room.peer("reader")
    go, settle = threading.Event(), planner.service.finish_proposal
    monkeypatch.setattr(
        planner.service, "finish_proposal", lambda call: settle(call) if go.wait(PATIENCE_SECONDS) else None
    )
    try:
        room.desk.take([room.job(planner, "finish_proposal", f"call-{number}") for number in range(2 * THREADS)])
        room.ask(reader, "read", "a.py#f")
        room.ask(reader, "acquire", "a.py#f")
        room.wait_for(lambda: len(reader.replies) == 2)
        assert not planner.replies
    finally:
        go.set()
    room.wait_for(lambda: len(planner.replies) == 2 * THREADS)
