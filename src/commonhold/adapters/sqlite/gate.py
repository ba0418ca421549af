"""The gate: at most one process writes at a time, and each waits its turn.

`flock` queues waiters fairly, where SQLite's busy timeout lets some starve. The kernel frees the gate when its
holder dies.
"""

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from commonhold.domain.errors import Code, StoreError

PATIENCE_SECONDS: Final = 60.0


class Gate:
    """An exclusive lock of one file, re-entrant within a thread, safe to inherit by fork."""

    def __init__(self, path: str, patience_seconds: float = PATIENCE_SECONDS) -> None:
        """Name the lock file; it is made on first use."""
        self._path = path
        self._patience = patience_seconds
        self._threads = threading.RLock()
        self._depth = 0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Hold the gate. Raises StoreError `STORE_BUSY` when patience runs out, OSError if the file cannot be made."""
        with self._threads:
            if self._depth:
                yield
                return
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                self._lock(descriptor)
                self._depth += 1
                try:
                    yield
                finally:
                    self._depth -= 1
            finally:
                os.close(descriptor)

    def _lock(self, descriptor: int) -> None:
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        # A thread waits in the kernel's queue, so that the wait is fair and yet has an end.
        waiter = threading.Thread(target=_wait, args=(os.dup(descriptor), done := threading.Event()), daemon=True)
        waiter.start()
        if not done.wait(self._patience):
            raise StoreError(
                Code.STORE_BUSY,
                f"another process has held the state for over {self._patience:.0f} seconds",
                hint="see whether a commonhold process is suspended (`commonhold doctor`), then repeat the same call",
                retry_after_seconds=5.0,
            )


def _wait(descriptor: int, done: threading.Event) -> None:
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        done.set()
    os.close(descriptor)
