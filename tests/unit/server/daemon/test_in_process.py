"""Calls from the daemon's own threads: the answers of a connected client, without a connection."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.cli_driver import make_repository
from tests.patience import PATIENCE_SECONDS

from commonhold.api.service import Service
from commonhold.client.session import Commonhold
from commonhold.kernel.errors import Code, CommonholdError, InputError, InternalError, StoreError
from commonhold.kernel.write_slots import slot_of
from commonhold.server.daemon.in_process import InProcess, _InLine
from commonhold.server.daemon.request_scheduler import RequestScheduler
from commonhold.server.daemon.services import Services
from commonhold.stores.sqlite.group_commit import GroupCommit
from commonhold.stores.sqlite.mirror import MirroredStore
from commonhold.workspace.repository import find_repository

KEY = "account:1"


@dataclass
class Room:
    """The parts of a daemon behind its sockets, with a thread in the place of the loop."""

    folder: Path
    is_over: threading.Event = field(default_factory=threading.Event)
    woken: threading.Event = field(default_factory=threading.Event)
    threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(8))

    def __post_init__(self) -> None:
        self.root = make_repository(self.folder / "work")
        self.store = MirroredStore(find_repository(str(self.root)).state_folder, synchronous="OFF")
        self.store.own()
        self.services = Services(find_repository(str(self.root)), self.store)
        self.desk = RequestScheduler(self.store, time.monotonic, self.woken.set)
        self.calls = InProcess(self.services, self.desk)
        self.loop = threading.Thread(target=self._turn)
        self.loop.start()

    def _turn(self) -> None:
        while not self.is_over.is_set():
            self.woken.wait(0.05)
            self.woken.clear()
            self.desk.take(())
            self.desk.deliver()

    def session(self, agent: str | None) -> Commonhold:
        root, channel = self.calls.find_channel(str(self.root), agent)
        return Commonhold(channel, root=root, agent=agent)

    def beside(self, work: Callable[..., Any], *arguments: Any, **named: Any) -> Future[Any]:
        return self.threads.submit(work, *arguments, **named)

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while not is_so():
            assert time.monotonic() < until
            time.sleep(0.005)

    def stop_loop(self) -> None:
        self.is_over.set()
        self.loop.join()

    def close(self) -> None:
        self.stop_loop()
        self.calls.close()
        self.desk.close()
        self.services.close()
        self.store.close()
        self.threads.shutdown()


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    made = Room(tmp_path)
    yield made
    made.close()


def waits_in_line(room: Room, agent: str, ticket: str) -> Future[Any]:
    """Let a session wait for the key in a thread of its own, until it is in line at the desk."""
    waiting = room.beside(room.session(agent).acquire, KEY, task="t", ticket=ticket, wait_seconds=PATIENCE_SECONDS)
    room.wait_until(lambda: not room.desk.is_idle)
    return waiting


def test_a_call_runs_in_its_own_thread_and_is_in_the_shared_state(room: Room) -> None:
    room.stop_loop()
    granted = room.session("ann").acquire(KEY, task="t")
    assert granted.lease is not None
    [lease] = room.session("bob").leases()
    assert lease == granted.lease
    assert room.session("bob").acquire(KEY, task="t").outcome == "denied"


def test_a_write_slot_becomes_durable_with_the_next_write(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[int] = []

    def wait(_group: GroupCommit, number: int) -> None:
        flushed.append(number)

    monkeypatch.setattr(GroupCommit, "wait", wait)
    ann = room.session("ann")
    assert ann.acquire(str(slot_of(str(room.root), "a.py")), task="t").lease is not None
    assert flushed == []
    assert ann.acquire(KEY, task="t").lease is not None
    assert len(flushed) == 1


def test_a_wait_in_line_ends_with_the_release_by_another_thread(room: Room) -> None:
    ann = room.session("ann")
    held = ann.acquire(KEY, task="t").lease
    assert held is not None
    waiting = waits_in_line(room, "bob", "bobs")
    ann.release(held.id)
    assert waiting.result(PATIENCE_SECONDS).lease.id == "bobs"
    assert room.desk.is_idle


def test_a_release_of_the_ticket_takes_its_wait_out_of_the_line(room: Room) -> None:
    held = room.session("ann").acquire(KEY, task="t").lease
    assert held is not None
    _, channel = room.calls.find_channel(str(room.root), "bob")
    options = {"task": "t", "ticket": "bobs", "patience_seconds": 60.0, "hold_seconds": PATIENCE_SECONDS}
    waiting = room.beside(channel.call, "acquire", (KEY,), options)
    room.wait_until(lambda: not room.desk.is_idle)
    assert channel.call("release", ("bobs",), {}).outcome == "cancelled"
    assert waiting.result(PATIENCE_SECONDS).outcome == "queued"
    room.wait_until(lambda: room.desk.is_idle)
    assert room.store.index.waiters() == ()
    room.session("ann").release(held.id)
    assert room.session("ann").leases() == ()


def test_who_releases_a_ticket_is_told_so_however_soon_its_wait_ends(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that waits lets go of the ticket, too: were it the first, there would be nothing left to release."""
    room.session("ann").acquire(KEY, task="t")
    _, channel = room.calls.find_channel(str(room.root), "bob")
    options = {"task": "t", "ticket": "bobs", "patience_seconds": 60.0, "hold_seconds": PATIENCE_SECONDS}
    waiting = room.beside(channel.call, "acquire", (KEY,), options)
    room.wait_until(lambda: not room.desk.is_idle)
    give_up = _InLine.give_up

    def and_wait(in_line: _InLine) -> None:
        give_up(in_line)
        assert waiting.result(PATIENCE_SECONDS).outcome == "queued"

    monkeypatch.setattr(_InLine, "give_up", and_wait)
    assert channel.call("release", ("bobs",), {}).outcome == "cancelled"
    assert waiting.done()


def test_a_release_by_another_agent_leaves_a_wait_in_the_line(room: Room) -> None:
    held = room.session("ann").acquire(KEY, task="t").lease
    assert held is not None
    _, channel = room.calls.find_channel(str(room.root), "bob")
    options = {"task": "t", "ticket": "bobs", "patience_seconds": 60.0, "hold_seconds": PATIENCE_SECONDS}
    waiting = room.beside(channel.call, "acquire", (KEY,), options)
    room.wait_until(lambda: not room.desk.is_idle)
    assert room.session("cid").release("bobs").outcome == "refused"
    room.session("ann").release(held.id)
    assert waiting.result(PATIENCE_SECONDS).outcome == "granted"


def test_a_wait_in_line_ends_with_an_error_when_the_daemon_ends(room: Room) -> None:
    room.session("ann").acquire(KEY, task="t")
    waiting = waits_in_line(room, "bob", "bobs")
    room.stop_loop()
    room.calls.close()
    for call in (lambda: waiting.result(PATIENCE_SECONDS), room.session("ann").leases):
        with pytest.raises(StoreError) as caught:
            call()
        assert (caught.value.code, caught.value.retryable) == (Code.STORE_BUSY, True)


def test_closing_waits_for_calls_that_run(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def slow(_service: Service) -> str:
        begun.set()
        assert may_end.wait(PATIENCE_SECONDS)
        return "done"

    monkeypatch.setattr(Service, "worktree_id", slow)
    running = room.beside(room.session("ann").worktree_id)
    assert begun.wait(PATIENCE_SECONDS)
    closing = room.beside(room.calls.close)
    room.wait_until(lambda: is_refused(room))
    assert not closing.done()
    may_end.set()
    closing.result(PATIENCE_SECONDS)
    assert running.result(PATIENCE_SECONDS) == "done"


def is_refused(room: Room) -> bool:
    """Whether new calls are refused."""
    try:
        room.session("bob").leases()
    except StoreError:
        return True
    return False


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (StoreError(Code.DISK_FULL, "full", hint="make room"), StoreError),
        (KeyError("a defect"), InternalError),
    ],
)
def test_any_exception_becomes_an_error_with_a_code(
    room: Room, monkeypatch: pytest.MonkeyPatch, fault: Exception, kind: type[CommonholdError]
) -> None:
    def failing(_service: Service) -> str:
        raise fault

    monkeypatch.setattr(Service, "worktree_id", failing)
    with pytest.raises(kind):
        room.session("ann").worktree_id()


def test_settings_that_cannot_be_used_stop_new_channels_only(room: Room) -> None:
    ann = room.session("ann")
    ann.worktree_id()
    (room.root / "commonhold.toml").write_text("retention_days =", encoding="utf-8")
    assert ann.worktree_id() == str(room.root)
    with pytest.raises(InputError):
        room.session("bob").worktree_id()


def test_a_service_counts_as_used_until_its_channel_is_closed(room: Room) -> None:
    ann = room.session("ann")
    ann.worktree_id()
    with room.services.lock:
        [used] = room.calls.services
        room.services.let_go(room.calls.services)
    ann.worktree_id()
    assert room.calls.services == {used}
    ann.close()
    assert room.calls.services == set()
    assert ann.worktree_id() == str(room.root)


def test_a_holder_must_have_a_name_that_can_be_shown(room: Room) -> None:
    with pytest.raises(CommonholdError):
        room.calls.find_channel(str(room.root), " ")
