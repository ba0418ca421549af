"""A store that lives as long as its object: the fast fake of tests that need no durability."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.in_memory.session import MemorySession


class MemoryStore:
    """The whole state in memory. Threads take turns; nothing is durable."""

    def __init__(self) -> None:
        """Begin empty."""
        self._threads = threading.RLock()
        self._session = MemorySession()
        self._is_writing = False

    @contextmanager
    def read(self) -> Iterator[MemorySession]:
        """Yield one consistent view."""
        with self._threads:
            yield self._session

    @contextmanager
    def gate(self) -> Iterator[None]:
        """Be the only thread that writes."""
        with self._threads:
            yield

    @contextmanager
    def write(self) -> Iterator[MemorySession]:
        """A transaction; one that is begun inside another is part of it."""
        with self._threads:
            if self._is_writing:
                yield self._session
                return
            self._is_writing = True
            try:
                yield self._session
                self._session.settle()
            finally:
                self._is_writing = False
                self._session.undo()

    write_unawaited = write

    def shrink(self) -> int:
        """Do nothing: the interpreter frees what is not used."""
        return 0

    def close(self) -> None:
        """Do nothing: there is nothing to close."""
