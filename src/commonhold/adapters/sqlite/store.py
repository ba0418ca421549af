"""The store: one database, one gate, one connection a process."""

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import apsw

from commonhold.adapters.faults import code_of
from commonhold.adapters.sqlite.connect import MIGRATIONS, connect, connect_if_ready
from commonhold.adapters.sqlite.faults import translate
from commonhold.adapters.sqlite.gate import Gate
from commonhold.adapters.sqlite.session import SqliteSession
from commonhold.domain.errors import Code, StoreError

DATABASE: Final = "state.db"
GATE: Final = "gate"


class SqliteStore:
    """Durable state in a folder. Threads of one process take turns; a forked child opens its own connection.

    SQLite remembers its file locks by process, in memory that fork copies: a child would believe that it holds what
    only its parent does, and its commits would vanish. So fork closes the connection first; both sides reopen.
    """

    def __init__(self, folder: str, *, synchronous: str = "FULL", migrations: tuple[str, ...] = MIGRATIONS) -> None:
        """Use the folder at `folder`; it and the database are made on first use.

        `synchronous` is SQLite's pragma. FULL survives power loss; NORMAL may roll back the last grants, and with
        them their fences, so it is for measuring only.
        """
        self._folder = folder
        self._path = os.path.join(folder, DATABASE)
        self._synchronous = synchronous
        self._migrations = migrations
        self._gate = Gate(os.path.join(folder, GATE))
        self._threads = threading.RLock()
        self._opened: tuple[int, apsw.Connection] | None = None
        _stores.add(self)

    @property
    def path(self) -> str:
        """Where the database is."""
        return self._path

    @contextmanager
    def gate(self) -> Iterator[None]:
        """Be the only writer among all processes."""
        with self._threads:
            self._enter_gate()
            try:
                yield
            finally:
                self._gate.leave()

    @contextmanager
    def read(self) -> Iterator[SqliteSession]:
        """Look at one consistent view. Where there is no state yet, looking makes none."""
        with self._threads:
            try:
                connection = self._connection() if self._has_state() else connect(":memory:")
                connection.execute("BEGIN")
                try:
                    yield SqliteSession(connection)
                finally:
                    self._roll_back(connection)
            except apsw.Error as fault:
                raise translate(fault, self._path) from fault

    @contextmanager
    def write(self) -> Iterator[SqliteSession]:
        """A transaction, durable at its end."""
        with self._threads:
            self._enter_gate()
            try:
                connection = self._connection()
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield SqliteSession(connection)
                    connection.execute("COMMIT")
                finally:
                    self._roll_back(connection)
            except apsw.Error as fault:
                raise translate(fault, self._path) from fault
            finally:
                self._gate.leave()

    def _roll_back(self, connection: apsw.Connection) -> None:
        """End what has not ended; a forked child leaves the transaction to its parent."""
        if self._opened and self._opened[0] == os.getpid() and connection.in_transaction:
            connection.execute("ROLLBACK")

    def _enter_gate(self) -> None:
        try:
            self._gate.enter()
        except OSError as fault:
            raise _unusable(self._folder, fault) from fault

    def close(self) -> None:
        """Close the connection, if this process has one."""
        with self._threads:
            if self._opened and self._opened[0] == os.getpid():
                self._opened[1].close()
                self._opened = None
            self._gate.close()

    def before_fork(self) -> None:
        """Wait until no thread is inside, and let nothing open through the fork. `after_fork` must follow."""
        self._threads.acquire()
        if not self._gate.is_held and not (self._opened and self._opened[1].in_transaction):
            self.close()

    def after_fork(self) -> None:
        """Go on, in the parent and in the child."""
        self._threads.release()

    def _has_state(self) -> bool:
        """Whether there is a state, or might be one that this user cannot see."""
        if self._opened is not None:
            return True
        try:
            os.lstat(self._path)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return True

    def _connection(self) -> apsw.Connection:
        pid = os.getpid()
        if self._opened and self._opened[0] == pid:
            return self._opened[1]
        if self._opened:
            raise _forked(self._folder)
        connection = connect_if_ready(self._path, synchronous=self._synchronous, migrations=self._migrations)
        if connection is None:
            with self.gate():
                connection = connect(self._path, synchronous=self._synchronous, migrations=self._migrations)
        self._opened = pid, connection
        return connection


_stores: weakref.WeakSet[SqliteStore] = weakref.WeakSet()
_forking: list[SqliteStore] = []


def _before_fork() -> None:
    _forking.extend(_stores)
    for store in _forking:
        store.before_fork()


def _after_fork() -> None:
    while _forking:
        _forking.pop().after_fork()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


def _forked(folder: str) -> StoreError:
    return StoreError(
        Code.STORE_UNSAFE,
        "this process was forked in the middle of a transaction, so it cannot use the state",
        hint="fork outside of transactions, or open the repository anew in a process of its own",
        fields={"folder": folder},
    )


def _unusable(folder: str, fault: OSError) -> StoreError:
    code = Code.DISK_FULL if code_of(fault) is Code.DISK_FULL else Code.STORE_READ_ONLY
    return StoreError(
        code,
        f"the state folder cannot be used: {fault.strerror}",
        hint="make it a folder that this user can write, with space left, or run as the user who owns the repository",
        fields={"folder": folder},
    )
