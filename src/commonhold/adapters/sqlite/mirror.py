"""A store whose owner is alone with it: its leases are in memory too, so a decision needs no query.

The tables stay the truth: whatever is recorded goes there first, in the same transaction, and a transaction that is
taken back takes the mirror with it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import apsw

from commonhold.adapters.memory.index import LeaseIndex
from commonhold.adapters.memory.indexed import Indexed
from commonhold.adapters.sqlite.faults import translate
from commonhold.adapters.sqlite.gate import Gate
from commonhold.adapters.sqlite.session import SqliteSession
from commonhold.adapters.sqlite.store import GATE, SqliteStore
from commonhold.domain.events import Recorded


class MirroredStore(SqliteStore):
    """A store that this process owns; `own` must be called before anything else."""

    _index: LeaseIndex | None = None

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
            with super()._writing() as session:
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
