"""The store: one database, one gate, one connection a process."""

import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import count
from operator import attrgetter
from typing import Final

import apsw

from commonhold.kernel.errors import Code, InternalError, StoreError
from commonhold.kernel.events import StateReset
from commonhold.kernel.resource_exhaustion import exhausted
from commonhold.machine.file_systems import check_ground
from commonhold.stores.reset_events import ITSELF
from commonhold.stores.sqlite.checked_opening import GATE as GATE  # noqa: PLC0414 - they are of the store, too
from commonhold.stores.sqlite.connect import DATABASE as DATABASE  # noqa: PLC0414
from commonhold.stores.sqlite.connect import MIGRATIONS, connect, connect_if_ready
from commonhold.stores.sqlite.event_numbering import go_on_above
from commonhold.stores.sqlite.faults import translate
from commonhold.stores.sqlite.gate import Gate
from commonhold.stores.sqlite.last_event_mark import Mark, SecondMark, fallen_back, gone, missing
from commonhold.stores.sqlite.open_files import OpenFiles
from commonhold.stores.sqlite.session import SqliteSession
from commonhold.workspace import daemon_files
from commonhold.workspace.state_folder import StateFolder, replaced, unusable

COMMIT: Final = "COMMIT"
_UNUSED: Final = 8
"""One page in so many must be unused before all are rewritten: bytes that are kept may be far larger than the log."""


class SqliteStore:
    """Durable state in a folder. Threads of one process take turns; a forked child opens its own connection.

    SQLite remembers its file locks by process, in memory that fork copies: a child would believe that it holds its
    parent's locks, and its commits would vanish. So fork closes the connection first; both sides reopen.
    """

    def __init__(
        self, folder: str | StateFolder, *, synchronous: str = "FULL", migrations: tuple[str, ...] = MIGRATIONS
    ) -> None:
        """Use the folder at `folder`; it and the database are made on first use.

        A session that has used them before does not make them again. `synchronous` is SQLite's pragma. FULL survives
        power loss; NORMAL may roll back the last grants, and with them their fences, so it is for measuring only.
        """
        self._state_folder = folder if isinstance(folder, StateFolder) else StateFolder(folder)
        self._folder = folder = self._state_folder.path
        self._path = os.path.join(folder, DATABASE)
        self._synchronous = synchronous
        self._migrations = migrations
        self._gate = Gate(
            os.path.join(folder, GATE), is_owned=lambda: daemon_files.is_running(folder), folder=self._state_folder
        )
        self._second_mark = SecondMark(folder)
        self._threads = threading.RLock()
        self._opened: tuple[int, apsw.Connection] | None = None
        self._files: OpenFiles | None = None
        self._session: SqliteSession | None = None
        self._inside = 0
        self.number = next(_numbers)
        """How many stores of this process are older."""
        _stores.add(self)

    @property
    def path(self) -> str:
        """The path of the database."""
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

    def read(self) -> AbstractContextManager[SqliteSession]:
        """Read one consistent view. If there is no state yet, reading makes none."""
        return nullcontext(self._session) if self._session is not None and self._is_inside() else self._reading()

    def write(self) -> AbstractContextManager[SqliteSession]:
        """A transaction, durable at its end. One that is begun inside another is part of it."""
        if self._session is None or not self._is_inside():
            return self._writing()
        if not self._session.is_for_writing:
            raise read_only()
        return nullcontext(self._session)

    def write_unawaited(self) -> AbstractContextManager[SqliteSession]:
        """The same."""
        return self.write()

    def _is_inside(self) -> bool:
        """Whether this very thread of this very process is inside the open transaction."""
        return self._inside == threading.get_ident()

    @contextmanager
    def _reading(self) -> Iterator[SqliteSession]:
        with self._threads:
            try:
                connection = self._connection() if self._has_state() else connect(":memory:")
                with self._transaction(connection, "BEGIN", "ROLLBACK") as session:
                    yield session
            except apsw.Error as fault:
                raise translate(fault, self._path) from fault

    @contextmanager
    def _writing(self) -> Iterator[SqliteSession]:
        with self._threads:
            self._enter_gate()
            try:
                with self._transaction(self._opened_here(), "BEGIN IMMEDIATE", COMMIT) as session:
                    yield session
                self._check_files()  # writes into files that are gone must not be acknowledged
                self._ended(session)
            except apsw.Error as fault:
                raise translate(fault, self._path) from fault
            finally:
                self._gate.leave()

    def _ended(self, session: SqliteSession) -> None:
        """A transaction is durable, and its files are in place."""
        if session.newest:
            self._leave_mark(session.newest)

    def _leave_mark(self, newest: tuple[int, float]) -> None:
        if self._files:
            mark = Mark(*newest, self._files.database)
            self._gate.write_mark(mark)
            self._second_mark.write(mark)

    @contextmanager
    def _transaction(self, connection: apsw.Connection, begin: str, end: str) -> Iterator[SqliteSession]:
        connection.execute(begin)
        try:
            yield self._begin(connection, is_for_writing=end == COMMIT)
            connection.execute(end)
        finally:
            self._end()
            # An unfinished transaction is rolled back; a forked child leaves it to its parent.
            if self._opened is not None and self._opened[0] == os.getpid() and connection.in_transaction:
                connection.execute("ROLLBACK")

    def _begin(self, connection: apsw.Connection, *, is_for_writing: bool) -> SqliteSession:
        """A session that this thread's reads and writes join until `_end`."""
        self._inside = threading.get_ident()  # first: any reader of the session must see its thread
        self._session = self._session_on(connection, is_for_writing=is_for_writing)
        return self._session

    def _end(self) -> None:
        self._session, self._inside = None, 0

    def _session_on(self, connection: apsw.Connection, *, is_for_writing: bool) -> SqliteSession:
        return SqliteSession(connection, is_for_writing=is_for_writing)

    def _enter_gate(self) -> None:
        check_ground(self._folder)
        try:
            self._gate.enter(self.is_in_place)
        except OSError as fault:
            raise exhausted(fault) or unusable(self._folder, fault) from fault

    def own(self) -> None:
        """Hold the gate permanently, as the only user of the state: reads stay true until this process writes.

        All other processes are kept out until `close`, or until this process dies.
        """
        with self._threads:
            self._enter_gate()

    def shrink(self) -> int:
        """Rewrite the database without its unused pages, if these are an eighth of it; return how many bytes they had.

        Its log is emptied as far as no reader needs it: the file shrinks at the latest when those have ended.
        """
        with self.gate(), self._threads:
            try:
                connection = self._connection()
                unused, pages, size = (
                    _number_of(connection, each) for each in ("freelist_count", "page_count", "page_size")
                )
                if unused * _UNUSED < pages:
                    return 0
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                return (pages - _number_of(connection, "page_count")) * size
            except apsw.Error as fault:
                raise translate(fault, self._path) from fault

    def is_in_place(self) -> bool:
        """Whether the gate and the database that this process has opened are still at their places."""
        files = self._files
        if files is None:
            return self._gate.is_in_place()
        return files.are_in_place() and (files.gate == self._gate.identity or self._gate.is_in_place())

    def close(self) -> None:
        """Close the connection, if this process has one."""
        with self._threads:
            if self._opened and self._opened[0] == os.getpid():
                if self._files and not self._files.are_in_place():
                    # SQLite would delete the log by its path, which others use by now.
                    self._opened[1].config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
                self._opened[1].close()
                self._opened = self._files = None
            self._gate.close()
            self._second_mark.close()

    def before_fork(self) -> None:
        """Wait until no thread is inside, and leave nothing open through the fork. `after_fork` must follow."""
        self._threads.acquire()
        if not self._gate.is_held and not (self._opened and self._opened[1].in_transaction):
            self.close()

    def after_fork(self, *, is_child: bool) -> None:
        """Go on, in the parent and in the child, which is inside no transaction."""
        if is_child:
            self._inside = 0
        self._threads.release()

    def _has_state(self) -> bool:
        """Whether there is a state, or might be one that this user cannot see. Raises `STORE_UNSAFE` for a lost one."""
        if self._opened is not None:
            return True
        try:
            os.lstat(self._path)
        except FileNotFoundError:
            self._check_never_used()
            return False
        except OSError:
            return True
        return True

    def _check_never_used(self) -> None:
        """Refuse to treat a missing database as one that was never made."""
        self._state_folder.use()
        if self._gate.read_mark() is not None:
            raise gone(self._path)

    def _connection(self) -> apsw.Connection:
        """The one connection of this process. Raises `STORE_UNSAFE` if its files are not in place any more."""
        self._check_files()
        return self._opened_here()

    def _opened_here(self) -> apsw.Connection:
        """Return the same for a caller that has just checked the files, as every caller that enters the gate does."""
        pid = os.getpid()
        if self._opened and self._opened[0] == pid:
            return self._opened[1]
        if self._opened:
            raise _forked(self._folder)
        connection = self._connected()
        connection.execute("SELECT 1 FROM events LIMIT 1").fetchall()  # the first read opens the log and its index
        try:
            self._files = OpenFiles(self._path, self._gate.path)
        except OSError as fault:
            connection.close()
            raise replaced() from fault
        self._opened = pid, connection
        return connection

    def _connected(self) -> apsw.Connection:
        self._state_folder.use()
        mark = self._gate.read_mark()
        if mark and mark.has_log_of_another(self._path):
            raise fallen_back(self._path, mark)
        connection = connect_if_ready(self._path, synchronous=self._synchronous, migrations=self._migrations)
        if connection is None:
            with self.gate():
                if not os.path.lexists(self._path):
                    self._check_never_used()
                connection = connect(self._path, synchronous=self._synchronous, migrations=self._migrations)
        if mark := missing(connection, self._gate.read_mark) or self._missing_beside(connection):
            connection.close()
            raise fallen_back(self._path, mark)
        return connection

    def _missing_beside(self, connection: apsw.Connection) -> Mark | None:
        """Return the second mark if this state is older; numbers of a new state continue above it."""
        mark = missing(connection, self._second_mark.read)
        if mark is None:
            return None
        with self.gate():
            return None if go_on_above(connection, mark, (StateReset(ITSELF),), time.time()) else mark

    def _check_files(self) -> None:
        if self._files and not self._files.are_in_place():
            raise replaced()


_stores: weakref.WeakSet[SqliteStore] = weakref.WeakSet()
_forking: list[SqliteStore] = []
_one_fork = threading.Lock()
_numbers = count()


def _number_of(connection: apsw.Connection, pragma: str) -> int:
    return int(str(connection.pragma(pragma)))


def _before_fork() -> None:
    """Lock all stores, in the order in which a commit does: that of the repository, then one that keeps its leases."""
    _one_fork.acquire()
    _forking.extend(sorted(_stores, key=attrgetter("number")))
    for store in _forking:
        store.before_fork()


def _after_fork(*, is_child: bool) -> None:
    while _forking:
        _forking.pop().after_fork(is_child=is_child)
    _one_fork.release()


os.register_at_fork(
    before=_before_fork,
    after_in_parent=partial(_after_fork, is_child=False),
    after_in_child=partial(_after_fork, is_child=True),
)


def read_only() -> InternalError:
    """The error of a write inside a transaction that only reads."""
    return InternalError(
        Code.INTERNAL,
        "something was to be written inside a transaction that only reads",
        hint="please report it, with what this prints under COMMONHOLD_DEBUG=1",
    )


def _forked(folder: str) -> StoreError:
    return StoreError(
        Code.STORE_UNSAFE,
        "this process was forked in the middle of a transaction, so it cannot use the state",
        hint="fork outside of transactions, or open the repository again in a process of its own",
        fields={"folder": folder},
    )
