"""A store with a single owner: its leases are in memory too, so a decision needs no query.

So are the answers to some other queries. The tables stay the truth: every event is recorded there first, in the same
transaction, and a transaction that is rolled back takes the mirror with it.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import cast

import apsw

from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.events import Recorded
from commonhold.kernel.resource_exhaustion import exhausted
from commonhold.stores.memory.index import LeaseIndex
from commonhold.stores.memory.indexed import Indexed
from commonhold.stores.sqlite.faults import translate
from commonhold.stores.sqlite.gate import Gate
from commonhold.stores.sqlite.group_commit import GroupCommit, flush_data
from commonhold.stores.sqlite.kept_rows import CHANGES, KeptRows, Rows
from commonhold.stores.sqlite.last_event_mark import LOG
from commonhold.stores.sqlite.reader import SQL, Value
from commonhold.stores.sqlite.session import SqliteSession
from commonhold.stores.sqlite.store import GATE, SqliteStore, read_only
from commonhold.workspace.state_folder import StateFolder, replaced


class MirroredStore(SqliteStore):
    """A store that this process owns; `own` must be called before anything else.

    Among its threads the gate has a lock of its own, which is taken before that of the connection: a reader waits for a
    transaction, not for the work of another thread inside the gate.

    A thread's writes are durable when it has left the gate: all that leave at about the same time share a flush, which
    keeps no thread out of the gate. So others may see, and build on, writes that are not durable yet; their own writes
    become durable with them or after them.
    """

    def __init__(self, folder: str | StateFolder, *, synchronous: str = "FULL") -> None:
        """As any store; but the flushes that FULL asks of SQLite are made by the threads that wait for them."""
        self._is_flushed = synchronous.upper() == "FULL"
        super().__init__(folder, synchronous="NORMAL" if self._is_flushed else synchronous)
        self._index: LeaseIndex | None = None
        self._kept = KeptRows()
        self._gate_lock = threading.RLock()
        self._depth = 0
        self._log: int | None = None
        self._changes = 0
        self._group = GroupCommit(self._flush)
        self._newest: tuple[int, float] | None = None
        self._newest_durable = 0

    @contextmanager
    def gate(self) -> Iterator[None]:
        """Become the only writer of this process; no other process writes."""
        if self._session is not None and self._is_inside() and not self._session.is_for_writing:
            raise read_only()  # a thread that is inside would wait for this one
        with self._alone():
            self._enter_gate()
            try:
                yield
            finally:
                self._gate.leave()

    def write_unawaited(self) -> AbstractContextManager[SqliteSession]:
        """A transaction that becomes durable with the next one that is waited for."""
        is_part = self._session is not None and self._is_inside()
        return self.write() if is_part else self._writing(is_awaited=False)

    @contextmanager
    def _alone(self, *, is_awaited: bool = True) -> Iterator[None]:
        """Be the only thread inside; its writes are durable when the outermost block has ended."""
        written = 0
        try:
            with self._gate_lock:
                self._depth += 1
                before = self._group.written
                try:
                    yield
                finally:
                    self._depth -= 1
                    if self._depth == 0 and self._group.written > before:
                        written = self._group.written
        finally:
            if written and is_awaited:
                with self._flushing():
                    self._group.wait(written)

    @contextmanager
    def _flushing(self) -> Iterator[None]:
        try:
            yield
        except OSError as fault:
            raise StoreError(
                Code.IO_FAILED,
                f"the state could not be flushed to the disk, so the newest records may be lost: {fault.strerror}",
                hint="see to the disk; the daemon ends, and the next one says what there is: look before you repeat it",
                fields={"database": self.path},
            ) from fault

    def _flush(self) -> None:
        """Make the log durable, then write the mark of its last event."""
        newest = self._newest
        if self._is_flushed and self._log is not None:
            flush_data(self._log)
        if newest is not None:
            self._leave_mark(newest)
            self._newest_durable = newest[0]

    def _ended(self, session: SqliteSession) -> None:
        """A transaction is in the log."""
        changes = session.changes
        if changes != self._changes:
            self._changes = changes
            self._newest = session.newest or self._newest
            self._group.add()

    def _connection(self) -> apsw.Connection:
        """The connection, whose log is open beside it."""
        connection = super()._connection()
        if self._log is None:
            try:
                self._log = os.open(self.path + LOG, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            except OSError as fault:
                raise exhausted(fault) or replaced() from fault
        return connection

    @property
    def is_sound(self) -> bool:
        """Whether no flush has failed: after a failure the disk must be read again."""
        return self._group.is_sound

    def close(self) -> None:
        """Flush, and close."""
        with suppress(OSError):
            self._group.wait(self._group.written)
        super().close()
        if self._log is not None:
            os.close(self._log)
            self._log, self._changes = None, 0

    def before_fork(self) -> None:
        """Wait until no thread is inside, in the order in which a commit takes the locks."""
        self._gate_lock.acquire()
        super().before_fork()

    def after_fork(self, *, is_child: bool) -> None:
        """Go on."""
        super().after_fork(is_child=is_child)
        self._gate_lock.release()

    def own(self) -> None:
        """Hold the gate permanently, after all earlier waiters: the gate names this very process as its owner."""
        self._gate = Gate(os.path.join(os.path.dirname(self.path), GATE), folder=self._state_folder)
        super().own()
        with self.read():  # so that a lost state is reported before anyone is served
            self._newest_durable = self.index.next_sequence - 1

    @property
    def newest_durable(self) -> int:
        """The sequence of the newest event that a loss of power would not take back; 0 if there is none."""
        return self._newest_durable

    @property
    def index(self) -> LeaseIndex:
        """The leases as they are."""
        index = self._index
        if index is None:
            with self.read():
                index = self._index
        return cast("LeaseIndex", index)

    @contextmanager
    def _reading(self) -> Iterator[SqliteSession]:
        """One consistent view, without a transaction: there are no other writers, and threads take turns."""
        with self._threads:
            try:
                yield self._begin(self._connection(), is_for_writing=False)
            except apsw.Error as fault:
                raise translate(fault, self.path) from fault
            finally:
                self._end()

    @contextmanager
    def _writing(self, *, is_awaited: bool = True) -> Iterator[SqliteSession]:
        """A transaction; one that fails forgets the mirror, which is read again from the tables.

        No other thread is inside until that has happened, so none sees what was rolled back.
        """
        with self._alone(is_awaited=is_awaited), self._threads:
            try:
                with super()._writing() as session:
                    with self._flushing():
                        self._group.check()
                    yield session
            except BaseException:  # whatever the exception, the mirror may be ahead of the tables
                self._index, self._kept = None, KeptRows()
                raise

    def _session_on(self, connection: apsw.Connection, *, is_for_writing: bool) -> SqliteSession:
        if self._index is None:
            self._index = _loaded(SqliteSession(connection))
        return MirroredSession(connection, self._index, self._kept, is_for_writing=is_for_writing)


def _loaded(session: SqliteSession) -> LeaseIndex:
    return LeaseIndex.of(
        leases=session.leases(),
        waiters=session.waiters(),
        values=session.values(),
        lost=session.lost(),
        works=session.works(),
        next_sequence=session.next_sequence,
    )


class MirroredSession(Indexed, SqliteSession):
    """A transaction that answers about leases from memory."""

    def __init__(self, connection: apsw.Connection, index: LeaseIndex, kept: KeptRows, *, is_for_writing: bool) -> None:
        """Answer from `index` and from `kept`, which mirror the tables behind `connection`."""
        SqliteSession.__init__(self, connection, is_for_writing=is_for_writing)
        self._index = index
        self._kept = kept

    def _rows(self, name: str, *values: Value) -> Rows:
        answers = self._kept.of(name)
        rows = None if answers is None else answers.get(values)
        if rows is None:
            rows = super()._rows(name, *values)
            self._kept.forget_after(name)  # some statements both change and return rows
            if answers is not None:
                answers[values] = rows
        return rows

    def _run(self, name: str, *values: Value) -> None:
        self._execute(SQL[name], values)
        if name in CHANGES:
            self._kept.forget_after(name)

    @property
    def has_waiters(self) -> bool:
        """Whether any holder waits in line."""
        return self._index.has_waiters

    def _may_hold(self, table: str) -> bool:  # noqa: ARG002 - the rows are cached, so no sign is needed
        return True

    def follow(self, recorded: Recorded) -> None:
        """Apply an event that was just recorded to the mirror."""
        self._index.apply(recorded)
        self._kept.newest_hash = self._hash

    def _hash_before(self) -> bytes:
        self._hash = self._hash or self._kept.newest_hash
        return super()._hash_before()
