"""A store whose owner is alone with it: its leases are in memory too, so a decision needs no query.

The tables stay the truth: whatever is recorded goes there first, in the same transaction, and a transaction that is
taken back takes the mirror with it.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import apsw

from commonhold.adapters.memory.index import LeaseIndex
from commonhold.adapters.memory.indexed import Indexed
from commonhold.adapters.sqlite.faults import translate
from commonhold.adapters.sqlite.gate import Gate
from commonhold.adapters.sqlite.session import SqliteSession
from commonhold.adapters.sqlite.store import GATE, SqliteStore, read_only
from commonhold.adapters.state_folder import StateFolder
from commonhold.domain.events import Recorded


class MirroredStore(SqliteStore):
    """A store that this process owns; `own` must be called before anything else.

    Among its threads the gate has a lock of its own, which is taken before that of the connection: who looks at the
    state waits for a transaction, not for the files that somebody inside the gate flushes.
    """

    def __init__(self, folder: str | StateFolder, *, synchronous: str = "FULL") -> None:
        """As any store."""
        super().__init__(folder, synchronous=synchronous)
        self._index: LeaseIndex | None = None
        self._gate_lock = threading.RLock()

    @contextmanager
    def gate(self) -> Iterator[None]:
        """Be the only one in this process who writes; nobody else does."""
        if self._session is not None and self._is_inside() and not self._session.is_for_writing:
            raise read_only()  # whoever is inside would wait for this thread
        with self._gate_lock:
            self._enter_gate()
            try:
                yield
            finally:
                self._gate.leave()

    def before_fork(self) -> None:
        """Wait until no thread is inside, in the order in which a commit takes the locks."""
        self._gate_lock.acquire()
        super().before_fork()

    def after_fork(self, *, is_child: bool) -> None:
        """Go on."""
        super().after_fork(is_child=is_child)
        self._gate_lock.release()

    def own(self) -> None:
        """Enter the gate for good, after whoever came before: it is this very process that the gate is said to have."""
        self._gate = Gate(os.path.join(os.path.dirname(self.path), GATE), folder=self._state_folder)
        super().own()
        with self.read():  # so that a state that was lost is told before anybody is served
            pass

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
        """One consistent view, without a transaction: nobody else writes, and threads take turns."""
        with self._threads:
            try:
                yield self._begin(self._connection(), is_for_writing=False)
            except apsw.Error as fault:
                raise translate(fault, self.path) from fault
            finally:
                self._end()

    @contextmanager
    def _writing(self) -> Iterator[SqliteSession]:
        """A transaction; one that fails forgets the mirror, which is read again from the tables."""
        try:
            with self._gate_lock, super()._writing() as session:
                yield session
        except BaseException:  # whatever stopped it, the mirror may be ahead of the tables
            self._index = None
            raise

    def _session_on(self, connection: apsw.Connection, *, is_for_writing: bool) -> SqliteSession:
        if self._index is None:
            self._index = _loaded(SqliteSession(connection))
        return MirroredSession(connection, self._index, is_for_writing=is_for_writing)


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

    def __init__(self, connection: apsw.Connection, index: LeaseIndex, *, is_for_writing: bool) -> None:
        """Answer from `index`, which is what the tables behind `connection` hold."""
        SqliteSession.__init__(self, connection, is_for_writing=is_for_writing)
        self._index = index

    @property
    def has_waiters(self) -> bool:
        """Whether anybody stands in line."""
        return self._index.has_waiters

    def follow(self, recorded: Recorded) -> None:
        """Bring the mirror up to an event that was just recorded."""
        self._index.apply(recorded)
