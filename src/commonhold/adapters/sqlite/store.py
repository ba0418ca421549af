"""The store: one database, one gate, one connection a process."""

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

import apsw

from commonhold.adapters.sqlite.connect import MIGRATIONS, connect
from commonhold.adapters.sqlite.faults import translated
from commonhold.adapters.sqlite.gate import Gate
from commonhold.adapters.sqlite.session import SqliteSession
from commonhold.domain.errors import Code, StoreError

DATABASE: Final = "state.db"


class SqliteStore:
    """Durable state in a folder. Threads of one process take turns; a forked child opens its own connection."""

    def __init__(
        self, folder: str, *, synchronous: str = "FULL", migrations: tuple[str, ...] = MIGRATIONS
    ) -> None:
        """Use the folder at `folder`; it and the database are made on first use.

        `synchronous` is SQLite's pragma. FULL survives power loss; NORMAL may roll back the last grants, and with
        them their fences, so it is for measuring only.
        """
        self._folder = folder
        self._path = os.path.join(folder, DATABASE)
        self._synchronous = synchronous
        self._migrations = migrations
        self._gate = Gate(os.path.join(folder, "gate"))
        self._threads = threading.RLock()
        self._opened: tuple[int, apsw.Connection] | None = None
        self._abandoned: list[apsw.Connection] = []

    @property
    def path(self) -> str:
        """Where the database is."""
        return self._path

    @contextmanager
    def gate(self) -> Iterator[None]:
        """Be the only writer among all processes."""
        with self._threads, ExitStack() as held:
            with _os_faults(self._folder):
                os.makedirs(self._folder, mode=0o700, exist_ok=True)
                held.enter_context(self._gate())
            yield

    @contextmanager
    def read(self) -> Iterator[SqliteSession]:
        """Look at one consistent view."""
        with self._threads, translated(self._path):
            connection = self._connection()
            connection.execute("BEGIN")
            try:
                yield SqliteSession(connection)
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[SqliteSession]:
        """A transaction, durable at its end."""
        with self.gate(), translated(self._path):
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield SqliteSession(connection)
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection, if this process has one."""
        with self._threads:
            if self._opened and self._opened[0] == os.getpid():
                self._opened[1].close()
            self._opened = None

    def _connection(self) -> apsw.Connection:
        pid = os.getpid()
        if self._opened and self._opened[0] == pid:
            return self._opened[1]
        if self._opened:
            # A connection that came through fork is never used, nor closed: that would drop the parent's locks.
            self._abandoned.append(self._opened[1])
        with self.gate():
            self._opened = pid, connect(self._path, synchronous=self._synchronous, migrations=self._migrations)
        return self._opened[1]


@contextmanager
def _os_faults(folder: str) -> Iterator[None]:
    try:
        yield
    except (PermissionError, FileExistsError, NotADirectoryError) as fault:
        raise StoreError(
            Code.STORE_READ_ONLY,
            f"the state folder cannot be used: {fault.strerror}",
            hint="make it a folder that this user can write, or run as the user who owns the repository",
            fields={"folder": folder},
        ) from fault
