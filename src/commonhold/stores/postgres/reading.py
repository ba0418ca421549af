"""Reading inside one transaction."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from commonhold.kernel.clock import Now
from commonhold.kernel.commands import Command
from commonhold.kernel.entry import UNLIMITED, EntryRecord, Landings
from commonhold.kernel.events import Recorded
from commonhold.kernel.hash_chain import ChainLink
from commonhold.kernel.keys import Key
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.lease_ports import StoredAnswer
from commonhold.kernel.lease_table import LeaseTable
from commonhold.kernel.managed_session import ALL_SESSIONS, ManagedSessionRecord, SessionChoice
from commonhold.kernel.partial_work import PartialWork
from commonhold.kernel.run import ItemRecord, RunRecord
from commonhold.kernel.task import TaskRecord
from commonhold.kernel.values import Value as KeyValue
from commonhold.stores import codec, kept_answers
from commonhold.stores.postgres.decision_queries import (
    Answers,
    answers,
    leases_in,
    near,
    questions,
    questions_about,
    table,
)
from commonhold.stores.postgres.link import Rows
from commonhold.stores.postgres.literals import Value
from commonhold.stores.postgres.names import Names
from commonhold.stores.postgres.start import Start, start_of
from commonhold.stores.postgres.transaction import Statement, Transaction

B = TypeVar("B", Lease, Waiter, PartialWork, TaskRecord, RunRecord, ItemRecord, EntryRecord, ManagedSessionRecord)


class PostgresReader:
    """A transaction that reads, for the port LeaseReader."""

    def __init__(self, transaction: Transaction, names: Names, skew: Callable[[], float]) -> None:
        """Speak through `transaction`; `skew` is added to the server's clock."""
        self._transaction = transaction
        self._names = names
        self._skew = skew
        self._start: Start | None = None

    def _ask(self, *wanted: Statement) -> list[Rows]:
        return self._transaction.ask(*wanted)

    def _rows(self, name: str, **values: Value) -> Rows:
        (rows,) = self._ask((name, values))
        return rows

    def now(self) -> Now:
        """Return the instant at which this transaction began: its clock stands still."""
        return (self._start or self._begin()).now

    @property
    def next_sequence(self) -> int:
        """The number that the next event will have."""
        return (self._start or self._begin()).next_sequence

    def _begin(self) -> Start:
        (row,) = self._rows("start")
        self._start = start_of(row, self._skew())
        return self._start

    def table(self, command: Command[Any], now: Now) -> LeaseTable:
        """The part of the state that a decision needs."""
        waiters = self.waiters()
        return table(self._found(command, now, waiters), self.next_sequence, waiters)

    def _found(self, command: Command[Any], now: Now, waiters: tuple[Waiter, ...]) -> Answers:
        asked = [*questions(self._names, command, instant=now.ticks, skew=0.0), *questions_about(self._names, waiters)]
        return answers(asked, self._ask(*asked))

    def leases(self) -> tuple[Lease, ...]:
        """All leases that have not ended in the log."""
        return _bodies(self._rows("all_leases"), Lease)

    def lease(self, lease_id: str) -> Lease | None:
        """One lease by its id."""
        return next(iter(_bodies(self._rows("lease_by_id", lease=self._names.name(lease_id)), Lease)), None)

    def held_by(self, holder: str) -> tuple[Lease, ...]:
        """The leases of one holder."""
        return _bodies(self._rows("leases_of_holder", holder=self._names.name(holder)), Lease)

    def overlapping(self, keys: Sequence[Key]) -> tuple[Lease, ...]:
        """Leases at the keys' places, above them, and (for folders and free keys) below them."""
        (rows,) = self._ask(near(self._names, keys))
        return leases_in(rows)

    def waiters(self) -> tuple[Waiter, ...]:
        """The line."""
        return _bodies(self._rows("all_waiters"), Waiter)

    def value(self, key: str) -> KeyValue | None:
        """The value of a key."""
        return next((KeyValue(*row) for row in self._rows("values", keys=[key])), None)

    def has_expired(self, now: Now) -> bool:
        """Whether there is a lease that has expired and not been ended."""
        return any(not lease.is_live(now) for lease in self.leases())

    def lost(self) -> tuple[Lease, ...]:
        """Return leases whose changes have not been searched for yet."""
        return _bodies(self._rows("all_lost"), Lease)

    def lost_near(self, keys: Sequence[Key]) -> tuple[Lease, ...]:
        """Those of them near the keys."""
        return tuple(lease for lease in self.lost() if any(map(lease.covering, keys)))

    def works(self) -> tuple[PartialWork, ...]:
        """Partial work that waits for review."""
        return _bodies(self._rows("all_works"), PartialWork)

    def tasks(self) -> tuple[TaskRecord, ...]:
        """All tasks."""
        return _bodies(self._rows("all_tasks"), TaskRecord)

    def tasks_in_question(self, ids: Sequence[str]) -> tuple[TaskRecord, ...]:
        """The tasks that are not final, those that they need, and those with these ids."""
        return _bodies(self._rows("tasks_in_question", ids=list(ids)), TaskRecord)

    def runs(self) -> tuple[RunRecord, ...]:
        """All runs."""
        return _bodies(self._rows("all_runs"), RunRecord)

    def run(self, run_id: str) -> RunRecord | None:
        """One run by its id."""
        return next(iter(_bodies(self._rows("run_by_id", id=run_id), RunRecord)), None)

    def run_items(self, run_id: str) -> tuple[ItemRecord, ...]:
        """The items of a run."""
        return _bodies(self._rows("run_items", run=run_id), ItemRecord)

    def entries(self, onto: str = "", *, before: int = UNLIMITED, limit: int = UNLIMITED) -> tuple[EntryRecord, ...]:
        """The newest entries of the merge queue before an event, oldest first."""
        return _bodies(self._rows("entries_before", onto=onto, before=before, limit=limit), EntryRecord)[::-1]

    def landings(self, onto: str = "") -> tuple[Landings, ...]:
        """The number and the last of the landings on each branch."""
        return tuple(Landings(str(name), int(count), at) for name, count, at in self._rows("landings", onto=onto))

    def entries_in_question(self, names: Sequence[str]) -> tuple[EntryRecord, ...]:
        """The entries that are not final, and those with these ids or commits."""
        return _bodies(self._rows("entries_in_question", names=list(names)), EntryRecord)

    def managed_sessions(self, choice: SessionChoice = ALL_SESSIONS) -> tuple[ManagedSessionRecord, ...]:
        """The managed sessions that are chosen, oldest first."""
        filters = {each: getattr(choice, each) for each in ("task_id", "tenant", "since", "before", "limit")}
        state = choice.state.value if choice.state else ""
        found = self._rows("managed_sessions_before", is_open=int(choice.is_open), state=state, **filters)
        return _bodies(found, ManagedSessionRecord)[::-1]

    def managed_sessions_in_question(self, ids: Sequence[str]) -> tuple[ManagedSessionRecord, ...]:
        """The managed sessions that are not final, and those with these ids."""
        return _bodies(self._rows("managed_sessions_in_question", ids=list(ids)), ManagedSessionRecord)

    def tenants_served(self) -> dict[str, int]:
        """The sequence of the last claim by tenant."""
        return {str(tenant): int(claimed) for tenant, claimed in self._rows("tenants_served")}

    def events(self, *, after: int = 0, limit: int = 1000, lease_id: str | None = None) -> tuple[Recorded, ...]:
        """Events above a sequence, of all leases or of one."""
        if lease_id is None:
            return tuple(map(_recorded, self._rows("events_after", after=after, limit=limit)))
        return tuple(map(_recorded, self._rows("events_of_lease", lease_id=lease_id, after=after, limit=limit)))

    def links(self, *, after: int = 0, limit: int = 1000) -> tuple[ChainLink, ...]:
        """Events above a sequence, with their hashes."""
        rows = self._rows("links", after=after, limit=limit)
        return tuple(
            ChainLink(sequence, at, kind, body, bytes.fromhex(digits) if digits else None)
            for sequence, at, kind, body, digits in rows
        )

    def latest(self, limit: int) -> tuple[Recorded, ...]:
        """The newest events, in order."""
        return tuple(map(_recorded, reversed(self._rows("latest_events", limit=limit))))

    def compaction(self) -> Recorded | None:
        """The event that says up to which event a snapshot stands for the log."""
        return next(map(_recorded, self._rows("compaction")), None)

    def snapshot(self) -> bytes:
        """The snapshot in place of the oldest events."""
        return next((str(body).encode() for (body,) in self._rows("snapshot")), b"")

    def answer(self, holder: str, request_id: str) -> StoredAnswer | None:
        """The first answer to a request."""
        rows = self._rows("answer", holder=holder, request_id=request_id)
        return next((StoredAnswer(print_, kept_answers.decode_answer(kind, body)) for print_, kind, body in rows), None)


def _bodies(rows: Rows, kind: type[B]) -> tuple[B, ...]:
    return tuple(codec.decode(body, kind) for (body,) in rows)


def _recorded(row: tuple[Any, ...]) -> Recorded:
    sequence, at, kind, body = row
    return Recorded(sequence, at, codec.decode_event(kind, body))
