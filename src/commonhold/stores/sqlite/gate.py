"""The gate: at most one process writes at a time, and each waits its turn.

`flock` queues waiters fairly, while SQLite's busy timeout lets some starve. The kernel frees the gate when its holder
dies. Its file also holds the mark: which event was the last, so that a database that lost events is recognised.
"""

import fcntl
import os
import threading
import time
from collections.abc import Callable
from typing import Final

from commonhold.kernel.errors import Code, StoreError
from commonhold.stores.sqlite.last_event_mark import Mark, read_mark
from commonhold.workspace.state_folder import Identity, StateFolder, identity_at, identity_of, replaced

PATIENCE_SECONDS: Final = 60.0
LOOK_SECONDS: Final = 0.1
"""How often a waiter checks whether the gate is held permanently."""
_FLAGS: Final = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW


def _never() -> bool:
    return False


class Gate:
    """An exclusive lock of one file, re-entrant within a thread. Not shared by forked children: each opens its own."""

    def __init__(
        self,
        path: str,
        patience_seconds: float = PATIENCE_SECONDS,
        *,
        is_owned: Callable[[], bool] = _never,
        folder: StateFolder | None = None,
    ) -> None:
        """Name the lock file; it and its `folder` are made on first use.

        `is_owned` says whether a process holds the gate permanently: then no caller waits for it.
        """
        self.path: Final = path
        self._folder = folder or StateFolder(os.path.dirname(path))
        self._is_owned = is_owned
        self._patience = patience_seconds
        self._depth = 0
        self._opened: tuple[int, int] = (0, -1)
        self._identity: Identity | None = None
        self._is_marked = False

    def enter(self, is_in_place: Callable[[], bool] | None = None) -> None:
        """Hold the gate. Raises StoreError `STORE_BUSY` when patience runs out, OSError if the file cannot be made.

        Raises StoreError `STORE_UNSAFE` if the lock file that was entered before is not in its place any more: a gate
        that was moved away or deleted excludes no process. `is_in_place` replaces this check by the caller's own, which
        covers more files.

        Threads must take turns: the caller holds a lock of its own around this.
        """
        # A lock belongs to the open file, which a forked child shares: a child needs an open file of its own.
        if self._opened[0] != os.getpid():
            self._depth, self._opened = 0, (os.getpid(), self._open())
        if self._depth == 0:
            self._lock()
        if not (is_in_place or self.is_in_place)():
            if self._depth == 0:
                fcntl.flock(self._opened[1], fcntl.LOCK_UN)
            raise replaced()
        self._depth += 1

    @property
    def is_held(self) -> bool:
        """Whether this process is inside."""
        return self._depth > 0 and self._opened[0] == os.getpid()

    def leave(self) -> None:
        """Let the next waiter in. A child that was forked inside has nothing to leave: the lock is its parent's."""
        if not self.is_held:
            return
        self._depth -= 1
        if self._depth == 0:
            fcntl.flock(self._opened[1], fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the lock file, if this process opened it."""
        pid, descriptor = self._opened
        if pid == os.getpid():
            os.close(descriptor)
        self._opened = (0, -1)

    def _open(self) -> int:
        """Open the lock file. It is created only once: later processes would lock another one beside ours."""
        self._folder.make()
        try:
            descriptor = os.open(self.path, _FLAGS if self._identity else _FLAGS | os.O_CREAT, 0o600)
        except FileNotFoundError as fault:
            raise replaced() from fault
        found = identity_of(os.fstat(descriptor))
        if self._identity not in (None, found):
            os.close(descriptor)
            raise replaced()
        self._identity = found
        return descriptor

    def is_in_place(self) -> bool:
        """Whether the lock file that was opened is still the one at its place."""
        return self._identity is not None and identity_at(self.path) == self._identity

    @property
    def identity(self) -> Identity | None:
        """Return the identity of the opened lock file, to recognize another one at its place."""
        return self._identity

    def read_mark(self) -> Mark | None:
        """Return the mark of the last event; None if there is none. Needs no lock: it is written in one step."""
        return read_mark(self.path)

    def write_mark(self, mark: Mark) -> None:
        """Write the mark of the last event that is durable. The caller is inside.

        The first one is flushed: it says that there is a state to lose. The others outlive a process that is killed;
        after a loss of power, or if the disk is full, an older mark recognises less.
        """
        descriptor = self._opened[1]
        try:
            is_first = not self._is_marked and os.fstat(descriptor).st_size == 0
            mark.write(descriptor, self._identity[1] if self._identity else 0)
            if is_first:
                os.fsync(descriptor)
            self._is_marked = True
        except OSError:  # a full disk, say
            pass

    def _lock(self) -> None:
        pid, descriptor = self._opened
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._opened = pid, self._wait_in_line()
            os.close(descriptor)

    def _wait_in_line(self) -> int:
        if self._is_owned():
            raise _owned()
        waiter = _Waiter(self._open())
        if waiter.has_lock_within(self._patience, unless=self._is_owned):
            return waiter.descriptor
        if self._is_owned():
            raise _owned()
        raise StoreError(
            Code.STORE_BUSY,
            f"another process has held the state for over {self._patience:.0f} seconds",
            hint="see whether a commonhold process is suspended (`commonhold doctor`), then repeat the same call",
            retry_after_seconds=5.0,
        )


def _owned() -> StoreError:
    return StoreError(
        Code.STORE_OWNED,
        "a daemon serves this repository, and holds its state for as long as it lives",
        hint="let it be used (COMMONHOLD_DAEMON=on), or stop it: commonhold daemon stop",
        retry_after_seconds=1.0,
    )


class _Waiter:
    """A thread in the kernel's queue: the wait is fair, and still has a timeout."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._turn = threading.Lock()
        self._locked = threading.Event()
        self._has_left = False
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        fcntl.flock(self.descriptor, fcntl.LOCK_EX)
        with self._turn:
            if self._has_left:
                os.close(self.descriptor)
            self._locked.set()

    def has_lock_within(self, seconds: float, unless: Callable[[], bool]) -> bool:
        has_lock, until = False, time.monotonic() + seconds
        try:
            while not has_lock and time.monotonic() < until and not unless():
                has_lock = self._locked.wait(min(LOOK_SECONDS, seconds))
        finally:
            if not has_lock:
                self._leave()
        return has_lock

    def _leave(self) -> None:
        with self._turn:
            self._has_left = True
            if self._locked.is_set():
                os.close(self.descriptor)
