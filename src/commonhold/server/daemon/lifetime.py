"""The life of the daemon: it becomes the only one, serves, and stops when it is no longer needed."""

import gc
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import commonhold
from commonhold.api.service import Service
from commonhold.api.wire import calls
from commonhold.config import LogLevel, load_settings
from commonhold.kernel.errors import Code, CommonholdError, StoreError
from commonhold.kernel.events import Recorded
from commonhold.machine.correlation import correlated
from commonhold.machine.log_output import log_to_standard_error, set_level
from commonhold.machine.logs import Log
from commonhold.machine.system import process_umask
from commonhold.server.call_counts import CallCounts
from commonhold.server.daemon.examining import Examining
from commonhold.server.daemon.http_door import Door
from commonhold.server.daemon.in_process import InProcess
from commonhold.server.daemon.indexing import Indexing
from commonhold.server.daemon.loop import LONGEST_WAIT_SECONDS, Loop
from commonhold.server.daemon.managed_sessions import SessionEngine
from commonhold.server.daemon.request_scheduler import RequestScheduler
from commonhold.server.daemon.retention import AFTER_SECONDS, Retention
from commonhold.server.daemon.services import Services
from commonhold.server.face import OpenFace
from commonhold.server.facts import Facts
from commonhold.server.notify.notifier import Notifier
from commonhold.stores.sqlite.mirror import MirroredStore
from commonhold.workspace import daemon_files
from commonhold.workspace.repository import Repository, find_repository

GARBAGE_THRESHOLD: Final = 50_000
_log: Final = Log(__name__)
SWITCH_SECONDS: Final = 0.0005
IDLE_SECONDS: Final = 300.0
SWEEP_SECONDS: Final = 300.0
INDEX_AFTER_SECONDS: Final = 10.0
"""The delay from the start until all files are read in the background: the calls that started the daemon come first."""
BACKGROUND_PAUSE_SECONDS: Final = 5.0
LOOK_SECONDS: Final = 0.5
LEAVE_SECONDS: Final = 7.0
"""How long the ending daemon still serves hooks and streams: they need it to be answered."""
QUICK_SWEEP_SECONDS: Final = 1.0
"""How often the daemon sweeps while a session waits: the holder of the lease may have gone."""


@dataclass(frozen=True, slots=True)
class Times:
    """The idle time until the daemon stops, the time between sweeps, and the delay until it has all files read."""

    idle_seconds: float = IDLE_SECONDS
    sweep_seconds: float = SWEEP_SECONDS
    index_after_seconds: float = INDEX_AFTER_SECONDS


class Lifetime:
    """One daemon, from the moment in which it is the only one."""

    def __init__(
        self, repository: Repository, times: Times, knocked: Callable[[], object], network: OpenFace | None = None
    ) -> None:
        """Take the lock, the socket, and the state of `repository`, in this order.

        A client that finds the socket waits there; processes that came before are waited for at the gate. `knocked` is
        called at the first hook. With a `network` face it serves other machines too, and does not end when it is idle.
        Raises StoreError `STORE_OWNED` if another daemon lives.
        """
        self._serves_network = network is not None
        self._began_at = time.monotonic()
        self._repository = repository
        self._settings = load_settings(repository.root)
        set_level(self._settings.log)
        self._times = times
        self._is_ending = False
        self._look_again_at = 0.0
        self._background_at = 0.0
        repository.state.make()
        self._lock = daemon_files.claim(repository.state_folder, network.url if network else "")
        self._lock_place = daemon_files.identity(daemon_files.lock_path(repository.state_folder))
        self._address = daemon_files.address(repository.state_folder)
        listener = daemon_files.listen(self._address)
        self._place = daemon_files.identity(self._address)
        self._store = MirroredStore(repository.state, synchronous=self._settings.durability)
        self._store.own()
        self._services = Services(repository, self._store)
        self._loop = Loop(listener, self._introduce, self._services.one_look)
        counts = CallCounts()
        self._desk = RequestScheduler(self._store, time.monotonic, self._loop.wake, counts)
        self._in_process = InProcess(self._services, self._desk, counts)
        begins_at = time.monotonic() + times.index_after_seconds if self._settings.index == "on" else None
        self._indexing = Indexing(repository.root, self._settings.max_file_bytes, begins_at)
        self._examining = Examining(self._services.deferred_changes, self._indexing, self._service_at)
        name = os.path.basename(repository.root)  # noqa: PTH119 - a text
        self._notifier = Notifier(repository.state_folder, name, self._read_log, lambda: self._store.newest_durable)
        self._sessions = SessionEngine(repository, lambda: self._service_at(repository.root))
        self._retention = Retention(self._apply_retention, time.monotonic() + AFTER_SECONDS)
        facts = Facts(lambda: self._store.newest_durable, self._why_not_ready, self._gauges, counts)
        self._door = Door(repository, self._loop.wake, knocked, self._in_process.find_channel, facts, network)

    def end(self) -> None:
        """Stop after the present turn."""
        self._is_ending = True
        self._loop.wake()

    def live(self) -> None:
        """Serve until the daemon is no longer needed."""
        own = _own_hello(self._repository.root)
        _log.info("daemon begins", root=self._repository.root, version=commonhold.__version__)
        try:
            with correlated():
                self._services.service(own).recover()
            why = self._serve_until_over(own)
        except StoreError as fault:
            if fault.code is not Code.STORE_UNSAFE:
                raise
            why = fault.message  # somebody removed or exchanged the state between two looks
        _log.info("daemon ends", why=why)
        self._close_door()

    def _serve_until_over(self, own: calls.Hello) -> str:
        """Return why it is over. Raises StoreError."""
        swept_at, has_more_to_sweep = 0.0, False
        while not self._is_ending:
            if over := self._why_over():
                return over
            now = time.monotonic()
            longest = QUICK_SWEEP_SECONDS if self._store.index.has_waiters else SWEEP_SECONDS
            if has_more_to_sweep or now - swept_at >= min(self._times.sweep_seconds, longest):
                has_more_to_sweep = self._sweep_some()
                with self._services.lock:
                    self._services.keep(self._used(own))
                swept_at = now
            elif self._services.has_too_many:
                with self._services.lock:
                    self._services.let_go(self._used(own))
            self._look_at_background(now)
            self._loop.turn(self._desk, 0.0 if has_more_to_sweep else LONGEST_WAIT_SECONDS)
        return "asked to"

    def _look_at_background(self, now: float) -> None:
        """Start what is due beside the requests. What the system refuses, for want of descriptors, say, waits."""
        if now < self._background_at:
            return
        try:
            self._examining.look(now)
            self._indexing.look(now)
            self._notifier.look(now)
            self._sessions.look(now, self._store.newest_durable)
            self._retention.look(now)
        except (OSError, RuntimeError) as fault:  # a thread that cannot be started is a RuntimeError
            self._background_at = now + BACKGROUND_PAUSE_SECONDS
            _log.warning("background work waits", why=str(fault), seconds=BACKGROUND_PAUSE_SECONDS)

    def _service_at(self, root: str) -> Service:
        """Return the holderless service of a working tree. Raises CommonholdError, OSError."""
        return self._services.service(_own_hello(root))

    def _read_log(self, after: int, limit: int) -> Sequence[Recorded]:
        """Return events after a sequence, in any thread. Raises CommonholdError."""
        found: Sequence[Recorded] = self._call("log", after=after, limit=limit)
        return found

    def _apply_retention(self) -> None:
        """Compact the log, if the settings say when, in any thread. Raises CommonholdError."""
        if load_settings(self._repository.root).event_days:
            self._call("apply_retention")

    def _call(self, name: str, **named: object) -> Any:  # noqa: ANN401 - each method has its own answer
        _, channel = self._in_process.find_channel(self._repository.root, None)
        try:
            return channel.call(name, (), named)
        finally:
            channel.close()

    def _used(self, own: calls.Hello) -> set[Service]:
        users = (self._loop, self._desk, self._in_process, self._examining)
        return {self._services.present(own)}.union(*(each.services for each in users))

    def _sweep_some(self) -> bool:
        """Sweep for as long as other requests can well wait. Return whether there is more to sweep."""
        has_more = False
        for each in self._services.of_trees():
            with correlated():
                try:
                    has_more = each.sweep_some() or has_more
                except CommonholdError as fault:  # a full disk, say: a client's own request reports it
                    _log.debug("sweep failed", root=each.root, code=fault.code, message=fault.message)
        return has_more

    def _close_door(self) -> None:
        """Accept no more HTTP connections, and serve the open ones: their requests come through this loop."""
        self._door.begin_closing()
        until = time.monotonic() + LEAVE_SECONDS
        while self._door.is_open and time.monotonic() < until:
            self._loop.turn(self._desk)

    def _why_over(self) -> str:
        """Return why it is no longer needed: idle, with no lease and no waiter; or clients can no longer find it.

        Empty if it is needed.
        """
        now = time.monotonic()
        if now < self._look_again_at:
            return ""
        self._look_again_at = now + LOOK_SECONDS
        if not (self._store.is_sound and self._store.is_in_place()):
            return "its database was removed or exchanged"
        is_found = daemon_files.identity(self._address) == self._place
        lock = daemon_files.lock_path(self._repository.state_folder)
        if not (is_found and self._door.is_in_place and daemon_files.identity(lock) == self._lock_place):
            return "its socket or lock was removed or exchanged"
        called_at = max(self._loop.last_request_at, self._in_process.last_call_at)
        if self._serves_network:
            return ""
        is_idle = now - called_at > self._times.idle_seconds and self._desk.is_idle
        is_idle = is_idle and not self._door.is_busy and self._examining.is_idle
        is_idle = is_idle and not self._sessions.has_work
        index = self._store.index
        return "idle" if is_idle and not index.leases() and not index.waiters() else ""

    def _why_not_ready(self) -> str:
        """Return why no requests can be served; empty if they can."""
        if self._is_ending:
            return "the server is stopping"
        if not (self._store.is_sound and self._store.is_in_place()):
            return "the database was removed or exchanged"
        try:
            self._held()
        except CommonholdError as fault:  # the store of the leases, on another machine, does not answer
            return fault.message
        return ""

    def _gauges(self) -> dict[str, float]:
        held: dict[str, float] = {}
        with suppress(CommonholdError):  # numbers that are not known now are left out
            held = dict(zip(("leases", "waiters", "partial_works"), self._held(), strict=True))
        up_seconds = round(time.monotonic() - self._began_at, 3)
        return {**held, "newest_event": self._store.newest_durable, "up_seconds": up_seconds}

    def _held(self) -> tuple[int, int, int]:
        """Return the numbers of leases, waiters and partial works, wherever they are kept. Raises CommonholdError."""
        settings = load_settings(self._repository.root)
        if settings.store:
            hello = _own_hello(self._repository.root, settings.store, settings.namespace)
            status = self._services.service(hello).status()
            return len(status.leases), len(status.waiters), len(status.works)
        with self._store.read():  # no other thread changes the index meanwhile
            index = self._store.index
            return len(index.leases()), len(index.waiters()), len(index.works())

    def _introduce(self, hello: calls.Hello) -> Service:
        if (hello.protocol, hello.version) != (calls.PROTOCOL, commonhold.__version__):
            self._is_ending = True  # an older daemon makes room for a newer one, which the client starts
            raise StoreError(
                Code.STORE_OWNED,
                f"the daemon runs Commonhold {commonhold.__version__}, the client {hello.version}; it is stopping",
                hint="repeat the call",
                retry_after_seconds=1.0,
            )
        return self._services.service(hello)

    def close(self) -> None:
        """Finish the jobs that have begun, then release everything: the address first, the lock last."""
        daemon_files.withdraw(self._address, self._place)
        self._indexing.end()
        self._notifier.close()
        self._in_process.close()
        self._desk.close()
        self._services.close()
        self._door.close()
        self._loop.close()
        self._store.close()
        os.close(self._lock)


def _own_hello(root: str, store: str = "", namespace: str = "") -> calls.Hello:
    """Return the daemon's own hello, without an agent: without a store it maintains the state beside the repository."""
    return calls.Hello(calls.PROTOCOL, commonhold.__version__, root, None, process_umask(), store, namespace)


def serve(root: str, times: Times, knocked: Callable[[], object] = lambda: None) -> int:
    """Run the daemon of the repository around `root` until it is no longer needed; return an exit status.

    `knocked` is called at the first HTTP connection, which hooks make.
    """
    begin_logging(root)
    try:
        life = Lifetime(find_repository(root), times, knocked)
    except CommonholdError as fault:
        is_served = fault.code is Code.STORE_OWNED
        record = _log.warning if is_served else _log.error
        record(daemon_files.DOES_NOT_SERVE, code=fault.code, message=fault.message, hint=fault.hint)
        return 0 if is_served else 4
    run(life)
    return 0


def run(life: Lifetime) -> None:
    """Serve until the daemon is no longer needed, or asked to end by a signal; then release everything."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: life.end())
    _allow_many_connections()
    # A thread that returns from the disk inside the gate waits this long for a computing thread, while all others wait.
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.freeze()  # these objects stay: the collector need not scan them again and again
    gc.set_threshold(GARBAGE_THRESHOLD)
    try:
        life.live()
    finally:
        life.close()


def begin_logging(root: str) -> None:
    """Log to standard error, which is the log file of the repository around `root` unless a user runs this by hand."""
    word = os.environ.get("COMMONHOLD_LOG", "")
    level = word if word in list(LogLevel) else LogLevel.INFO  # the settings complain of any other word
    path = ""
    with suppress(CommonholdError, OSError):
        path = daemon_files.log_path(find_repository(root).state_folder)
    log_to_standard_error(level, path, with_libraries=True)


def _allow_many_connections() -> None:
    """Let this process open as many files as the system permits: each client takes one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):  # macOS names a limit that it does not accept
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
