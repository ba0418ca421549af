"""The ways to the service: what is lost on the way acts once, and no reply is taken for another's."""

import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE_SECONDS
from tests.unit.client.driver import lease

from commonhold.api.wire import calls
from commonhold.client import channel
from commonhold.client import daemon as daemons
from commonhold.client.channel import Daemon, Disconnected, FallbackTransport, repeatable
from commonhold.kernel.answers import LeaseAnswer
from commonhold.kernel.changeset import Changeset
from commonhold.kernel.errors import Code, InputError, StoreError
from commonhold.kernel.events import LeaseBroken, LeaseGranted, LeaseReleased, Recorded
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.values import Value
from commonhold.workspace.repository import Repository

pytestmark = pytest.mark.slow

HELLO = calls.Hello(calls.PROTOCOL, "1", "/repository", "ann", 0o022)
WELCOME = calls.encode_answer(0, calls.Welcome("1", 1))
VALUE = Value("account:1", 3, "text")
OLDER = 'time=1 level=error event="daemon does not serve" message="of another time" hint=none'
NO_ROOM = 'time=2 level=error event="daemon does not serve" message="no room" hint="make some"'
ENDED = 'time=2 level=critical event="process ended" traceback="Traceback:\\n  File\\nKeyError: \\u0027x\\u0027"'
Reply = Callable[[socket.socket, int], None]


def answering(value: object = VALUE) -> Reply:
    return lambda peer, number: peer.sendall(calls.encode_answer(number, value))


def sending(data: bytes) -> Reply:
    return lambda peer, _: peer.sendall(data)


def hanging_up(peer: socket.socket, _: int) -> None:
    peer.shutdown(socket.SHUT_RDWR)


def silent(_: socket.socket, __: int) -> None:
    pass


@dataclass
class FakeDaemon:
    """Welcomes whoever comes; answers the requests that come to it, from whomever, in turn."""

    address: str
    replies: list[Reply]
    peers: list[socket.socket] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)

    def serve(self, listener: socket.socket) -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            self.peers.append(peer)
            self.threads.append(threading.Thread(target=self._attend, args=(peer,)))
            self.threads[-1].start()

    def _attend(self, peer: socket.socket) -> None:
        received(peer)
        peer.sendall(WELCOME)
        while (request := received(peer)) is not None:
            self.replies.pop(0)(peer, request.number)

    def end(self) -> None:
        for peer in self.peers:
            with suppress(OSError):
                peer.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        for peer in self.peers:
            peer.close()


def received(peer: socket.socket) -> calls.Request | None:
    head = peer.recv(4, socket.MSG_WAITALL)
    if len(head) < 4:
        return None
    return calls.decode_request(peer.recv(calls.LENGTH.unpack(head)[0], socket.MSG_WAITALL))


@contextmanager
def serving(address: Path, *replies: Reply) -> Iterator[FakeDaemon]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(address))
        listener.listen()
        fake = FakeDaemon(str(address), list(replies))
        thread = threading.Thread(target=fake.serve, args=(listener,))
        thread.start()
        yield fake
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        fake.end()


@pytest.fixture
def address(tmp_path: Path) -> Path:
    return tmp_path / "daemon.sock"


def daemon(address: Path) -> Daemon:
    return Daemon(lambda: str(address), HELLO)


def test_one_connection_serves_one_call_after_the_other(address: Path) -> None:
    with serving(address, answering(), answering()) as fake:
        way = daemon(address)
        assert [way.call("get", ("account:1",), {}) for _ in range(2)] == [VALUE, VALUE]
        way.close()
    assert len(fake.peers) == 1


@pytest.mark.parametrize(
    "reply",
    [
        hanging_up,
        sending(b"\0\0\0\x03\xff\xff\xff"),
        sending(b"\0\0\0\x04\x93\x01\xa1\xff"),
        sending(calls.encode_answer(77, VALUE)),
    ],
    ids=["nothing", "rubbish", "no UTF-8", "the reply to another call"],
)
def test_what_is_no_reply_to_the_call_ends_the_connection(address: Path, reply: Reply) -> None:
    with serving(address, reply, answering()) as fake:
        way = daemon(address)
        with pytest.raises(Disconnected):
            way.call("get", ("account:1",), {})
        assert way.call("get", ("account:1",), {}) == VALUE
        way.close()
    assert len(fake.peers) == 2


def test_a_reply_that_comes_too_late_is_not_taken_for_another_calls(
    address: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(address, answering(), silent, answering()) as fake:
        way = daemon(address)
        way.call("get", ("account:1",), {})
        monkeypatch.setattr(channel, "PATIENCE_SECONDS", 0.05)
        with pytest.raises(StoreError) as caught:
            way.call("release", ("lease-1",), {})
        assert caught.value.code is Code.STORE_BUSY
        monkeypatch.setattr(channel, "PATIENCE_SECONDS", PATIENCE_SECONDS)
        assert way.call("get", ("account:1",), {}) == VALUE
        way.close()
    assert len(fake.peers) == 2


def test_a_daemon_that_does_not_even_welcome_is_said_to_be_silent(
    address: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is suspended, say. To try it again and again would take minutes."""
    monkeypatch.setattr(channel, "PATIENCE_SECONDS", 0.05)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(address))
        listener.listen()
        with pytest.raises(StoreError) as caught:
            daemon(address).call("get", ("account:1",), {})
    assert caught.value.code is Code.STORE_BUSY


def test_an_error_leaves_the_connection_as_it_is(address: Path) -> None:
    fault = InputError(Code.KEY_INVALID, "no such key", hint="try another", fields={"key": "x"})
    with serving(address, lambda peer, number: peer.sendall(calls.encode_fault(number, fault)), answering()) as fake:
        way = daemon(address)
        with pytest.raises(InputError) as caught:
            way.call("get", ("x",), {})
        assert way.call("get", ("account:1",), {}) == VALUE
        way.close()
    assert (caught.value.message, caught.value.hint, caught.value.fields) == (fault.message, fault.hint, fault.fields)
    assert len(fake.peers) == 1


def test_a_text_that_cannot_be_sent_is_refused_and_the_connection_stays(address: Path) -> None:
    with serving(address, answering(), answering()) as fake:
        way = daemon(address)
        way.call("get", ("account:1",), {})
        with pytest.raises(InputError) as caught:
            way.call("get", ("account:\ud800",), {})
        assert way.call("get", ("account:1",), {}) == VALUE
        way.close()
    assert caught.value.code is Code.TEXT_INVALID
    assert len(fake.peers) == 1


def test_connections_to_a_daemon_that_is_gone_are_all_dropped_at_once(address: Path) -> None:
    """Each would be tried, and each in vain, before the new daemon is asked."""
    barrier = threading.Barrier(3)

    def together(peer: socket.socket, number: int) -> None:
        barrier.wait(PATIENCE_SECONDS)
        answering()(peer, number)

    with serving(address, *[together] * 3, hanging_up, answering()) as fake:
        way = daemon(address)
        threads = [threading.Thread(target=way.call, args=("get", ("account:1",), {})) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with pytest.raises(Disconnected):
            way.call("get", ("account:1",), {})
        assert way.call("get", ("account:1",), {}) == VALUE
        way.close()
    assert len(fake.peers) == 4


def test_an_answer_of_many_parts_is_put_together(address: Path) -> None:
    value = Value("account:1", 3, "x" * 3_000_000)
    frame = calls.encode_answer(1, value)

    def in_pieces(peer: socket.socket, _: int) -> None:
        for start in (0, 2, 5):
            peer.sendall(frame[start : {0: 2, 2: 5, 5: None}[start]])

    with serving(address, in_pieces):
        way = daemon(address)
        assert way.call("get", ("account:1",), {}) == value
        way.close()


def test_a_forked_child_speaks_over_a_connection_of_its_own(address: Path) -> None:
    with serving(address, answering(), answering(), answering()) as fake:
        way = daemon(address)
        way.call("get", ("account:1",), {})
        pid = os.fork()
        if pid == 0:
            is_right = way.call("get", ("account:1",), {}) == VALUE
            os._exit(0 if is_right else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert way.call("get", ("account:1",), {}) == VALUE
        way.close()
    assert len(fake.peers) == 2


GONE = Disconnected()
OWNED = StoreError(Code.STORE_OWNED, "a daemon has it", hint="")
BROKEN = StoreError(Code.STORE_CORRUPT, "broken", hint="")


@dataclass
class FakeWay:
    """The daemon, or the service in this process: gives or raises one thing after the other, the last ever after."""

    outcomes: list[Any]
    is_there_: bool = True
    asked: list[tuple[str, Any, Any]] = field(default_factory=list)

    def is_there(self) -> bool:
        return self.is_there_

    def call(self, name: str, arguments: Any, named: Any) -> Any:
        self.asked.append((name, arguments, named))
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **named: self.call(name, arguments, named)


@dataclass
class Scene:
    far: FakeWay
    near: FakeWay
    started: list[None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.way = FallbackTransport(self.far, lambda: self.near, lambda: self.started.append(None))  # type: ignore[arg-type, return-value]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "PAUSE_SECONDS", 0.0)


def test_the_daemon_is_asked_where_it_is_there() -> None:
    scene = Scene(FakeWay(["far"]), FakeWay(["near"]))
    assert scene.way.call("renew", ("x",), {}) == "far"
    assert (scene.near.asked, scene.started) == ([], [])


def test_else_it_is_done_here_and_a_daemon_started() -> None:
    scene = Scene(FakeWay(["far"], is_there_=False), FakeWay(["near"]))
    assert [scene.way.call("renew", ("x",), {}) for _ in range(5)] == ["near"] * 5
    assert (scene.far.asked, len(scene.started)) == ([], 1)


def test_threads_that_are_the_first_to_call_share_one_service() -> None:
    near, both = FakeWay(["near"]), threading.Barrier(2)
    opened: list[None] = []

    def open_slowly() -> FakeWay:
        opened.append(None)
        time.sleep(0.05)  # so long, another thread can come to open one, too
        return near

    way = FallbackTransport(FakeWay(["far"], is_there_=False), open_slowly, None)  # type: ignore[arg-type]

    def act() -> object:
        both.wait()
        return way.call("renew", ("x",), {})

    with ThreadPoolExecutor(2) as pool:
        answers = [each.result() for each in [pool.submit(act) for _ in range(2)]]
    assert (answers, len(opened)) == (["near"] * 2, 1)


@pytest.mark.parametrize("name", ["regions", "leases", "status", "who", "log", "content", "get"])
def test_who_only_looks_starts_no_daemon(name: str) -> None:
    scene = Scene(FakeWay(["far"], is_there_=False), FakeWay(["near"]))
    assert scene.way.call(name, (), {}) == "near"
    assert scene.started == []


def test_what_needs_no_state_is_done_here_though_there_is_a_daemon() -> None:
    scene = Scene(FakeWay(["far"]), FakeWay(["near"]))
    assert scene.way.call("regions", ("a.py",), {}) == "near"


def test_a_daemon_that_came_meanwhile_is_gone_over_to() -> None:
    scene = Scene(FakeWay(["far"], is_there_=False), FakeWay([OWNED]))
    assert scene.way.call("renew", ("x",), {}) == "far"


@pytest.mark.parametrize("attempts", [1, 3, 50])
def test_a_daemon_that_is_about_to_come_or_to_go_is_waited_for(attempts: int) -> None:
    """It has the state already, or still, and does not listen yet, or any more."""
    scene = Scene(FakeWay([GONE] * attempts + ["far"], is_there_=False), FakeWay([OWNED]))
    assert scene.way.call("renew", ("x",), {}) == "far"
    scene = Scene(FakeWay([GONE]), FakeWay([OWNED] * attempts + ["near"]))
    assert scene.way.call("renew", ("x",), {}) == "near"


def test_a_daemon_of_another_version_makes_room() -> None:
    scene = Scene(FakeWay([OWNED]), FakeWay([OWNED, OWNED, "near"]))
    assert scene.way.call("renew", ("x",), {}) == "near"
    assert len(scene.started) == 1


def test_one_that_neither_serves_nor_goes_is_told_of_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "HANDOVER_SECONDS", 0.05)
    scene = Scene(FakeWay([GONE]), FakeWay([OWNED]))
    with pytest.raises(StoreError) as caught:
        scene.way.call("renew", ("x",), {})
    assert caught.value.code is Code.STORE_BUSY


def test_other_errors_are_not_waited_on() -> None:
    for scene in (Scene(FakeWay([BROKEN]), FakeWay(["near"])), Scene(FakeWay([GONE]), FakeWay([BROKEN]))):
        with pytest.raises(StoreError) as caught:
            scene.way.call("renew", ("x",), {})
        assert caught.value.code is Code.STORE_CORRUPT


@pytest.mark.parametrize("name", ["put", "hand_over", "break_lease", "ask"])
def test_a_call_that_is_made_again_is_known_again(name: str) -> None:
    scene = Scene(FakeWay([GONE, GONE, LeaseAnswer("asked")]), FakeWay([OWNED]))
    scene.way.call(name, ("x",), {})
    ids = {named["request_id"] for _, _, named in (*scene.far.asked, *scene.near.asked)}
    assert len(ids) == 1
    assert ids.pop().startswith("request-")


def test_what_is_none_stays_none() -> None:
    """A value of None is what a key carries when it carries nothing."""
    _, named = repeatable("put", ("account:1",), {"text": None, "expected_version": 3})
    assert (named["text"], named["expected_version"]) == (None, 3)


def test_an_id_that_was_given_stays() -> None:
    assert repeatable("put", (), {"request_id": "mine"})[1] == {"request_id": "mine"}
    changeset = Changeset((), request_id="mine")
    assert repeatable("commit", (changeset,), {}) == ((changeset,), {})


@pytest.mark.parametrize("is_named", [False, True])
def test_a_commit_is_known_again_however_its_changeset_was_given(*, is_named: bool) -> None:
    changeset = Changeset((), "intent")
    given: tuple[Any, Any] = ((), {"changeset": changeset}) if is_named else ((changeset,), {"dry_run": True})
    arguments, named = repeatable("commit", *given)
    sent = named["changeset"] if is_named else arguments[0]
    assert sent.intent == "intent"
    assert sent.request_id.startswith("request-")


@pytest.mark.parametrize(("arguments", "named"), [(("lease-1",), {}), ((), {"lease_id": "lease-1"})])
def test_a_release_that_was_done_before_the_daemon_died_is_not_told_as_lost(arguments: Any, named: Any) -> None:
    mine = lease("lease-1")
    log = (Recorded(7, 0.0, LeaseGranted(mine)), Recorded(8, 0.0, LeaseReleased("ann", "lease-1")))
    scene = Scene(FakeWay([GONE, log]), FakeWay([LeaseAnswer("refused", code=Refusal.LEASE_LOST)]))
    assert scene.way.call("release", arguments, named) == LeaseAnswer("released", mine)


def test_one_that_somebody_else_ended_is_told_as_lost() -> None:
    log = (
        Recorded(7, 0.0, LeaseGranted(lease("lease-1"))),
        Recorded(8, 0.0, LeaseBroken("ann", "lease-1", "bob", "x")),
    )
    refused = LeaseAnswer("refused", code=Refusal.LEASE_LOST)
    scene = Scene(FakeWay([GONE, log]), FakeWay([refused]))
    assert scene.way.call("release", ("lease-1",), {}) == refused


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exit 0", ""),
        ("kill -9 $$", ""),
        ("exit 3", "its daemon ends as it begins: it says nothing, with exit status 3"),
        (f"echo noise; echo '{NO_ROOM}'; echo later; exit 4", "its daemon ends as it begins: no room; next: make some"),
        (f"echo noise; printf %s '{ENDED}'; exit 1", "its daemon ends as it begins: KeyError: 'x'"),
        ("echo noise; echo a word; exit 1", "its daemon ends as it begins: a word"),
    ],
)
def test_a_daemon_that_ends_in_trouble_says_why(script: str, why: str, tmp_path: Path) -> None:
    """One that leaves it to another has none, nor one that somebody ends."""
    log = tmp_path / "daemon.log"
    log.write_text(f"{OLDER}\n", encoding="utf-8")
    with log.open("ab") as output:
        process = subprocess.Popen(["/bin/sh", "-c", script], stdout=output)
    process.wait()
    assert daemons.Begun(process, log, len(f"{OLDER}\n")).trouble == why


def test_the_log_of_a_daemon_is_not_written_through_a_link(tmp_path: Path) -> None:
    state = tmp_path / ".commonhold"
    state.mkdir()
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    state.joinpath("daemon.log").symlink_to(victim)
    with pytest.raises(OSError, match="symbolic links"):
        daemons.start(Repository(str(tmp_path), str(state)))
    assert victim.read_text() == "mine\n"
