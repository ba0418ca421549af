"""Writing inside one transaction, which excludes all others of its namespace."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from commonhold.kernel.clock import Now
from commonhold.kernel.commands import Command
from commonhold.kernel.events import Event, LogCompacted, Recorded, StateReset
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.lease_ports import StoredAnswer
from commonhold.kernel.lease_table import LeaseTable
from commonhold.kernel.options import ANSWER_RETENTION_SECONDS, ANSWERS_DROPPED_AT_ONCE
from commonhold.stores import kept_answers
from commonhold.stores.postgres.decision_queries import Answers, answers, questions, questions_about, together
from commonhold.stores.postgres.link import Rows
from commonhold.stores.postgres.literals import Value
from commonhold.stores.postgres.names import Names
from commonhold.stores.postgres.projection import Projection
from commonhold.stores.postgres.reading import PostgresReader
from commonhold.stores.postgres.start import Start, start_of
from commonhold.stores.postgres.transaction import Statement, Transaction
from commonhold.stores.reset_events import ITSELF, reset_events


class PostgresWriter(PostgresReader):
    """A transaction that reads and writes, for the port LeaseWriter."""

    def __init__(self, transaction: Transaction, names: Names, skew: Callable[[], float], newest: int) -> None:
        """Speak through `transaction`, which holds the lock of the namespace; the newest seen event is `newest`."""
        super().__init__(transaction, names, skew)
        self._told = newest
        self._projection = Projection(transaction, names)
        self._recorded = 0
        self._expected: Command[Any] | None = None
        self._early: list[Statement] = []
        self._foreseen: Answers = {}

    def expect(self, command: Command[Any]) -> None:
        """Read the rows that a decision on `command` needs together with the next query, whatever that is."""
        self._expected = command
        self._early = [*questions(self._names, command, instant=None, skew=self._skew())]

    def _ask(self, *wanted: Statement) -> list[Rows]:
        opening: list[Statement] = [] if self._start else [("start", {})]
        early, self._early = self._early, []
        rows = iter(super()._ask(*opening, *early, *wanted))
        if opening:
            (row,) = next(rows)
            self._start = start_of(row, self._skew(), self._told)
            self._projection.see(waiters=self._start.line)
            if self._start.reserve:
                self._transaction.tell(self._start.reserve)
        if early:
            self._foreseen = answers(early, islice(rows, len(early)))
        if opening and self._start and self._start.has_lost_events:
            # The leases that an older state contains may have ended since.
            _, *ended = reset_events(self, ITSELF)
            if ended:
                self.record([StateReset(ITSELF), *ended], self._start.now.wall)
            return self._ask(*wanted)
        return list(rows)

    def _begin(self) -> Start:
        self._ask()
        return self._start or self._begin()

    @property
    def next_sequence(self) -> int:
        """The number that the next event will have."""
        return super().next_sequence + self._recorded

    @property
    def newest(self) -> int:
        """Return the number of the newest event that this transaction has seen."""
        return self.next_sequence - 1 if self._start else 0

    def waiters(self) -> tuple[Waiter, ...]:
        """The line."""
        self.now()
        return self._projection.waiters()

    def lease(self, lease_id: str) -> Lease | None:
        """One lease by its id."""
        return self._projection.lease(lease_id)

    def table(self, command: Command[Any], now: Now) -> LeaseTable:
        """The part of the state that a decision needs."""
        found = super().table(command, now)
        self._projection.see(leases=found.leases)
        return found

    def _found(self, command: Command[Any], now: Now, waiters: tuple[Waiter, ...]) -> Answers:
        """Rows fetched early are valid at present, and until the first write."""
        if self._expected is not command or now != self.now():
            return super()._found(command, now, waiters)
        about = [*questions_about(self._names, waiters)]
        rows = self._ask(*about) if about or self._early else []
        return together(self._foreseen, answers(about, rows))

    def record(self, events: Iterable[Event], at: float) -> None:
        """Append events, and apply them to the tables."""
        for event in events:
            self._projection.apply(Recorded(self.next_sequence, at, event))
            self._recorded += 1
            self._expected = None

    def compact(self, compacted: LogCompacted, snapshot: bytes, at: float) -> None:
        """Keep a snapshot in place of events."""
        number = self.next_sequence
        self.record([compacted], at)
        kept: dict[str, Value] = {"last": compacted.last, "event": number, "body": snapshot.decode()}
        self._transaction.tell(("set_snapshot", kept))
        self._transaction.tell(("drop_events", {"last": compacted.last}))

    def remember(self, holder: str, request_id: str, answer: StoredAnswer, at: float) -> None:
        """Store the first answer to a request, and drop a few that are so old that no client asks for them."""
        kind, body = kept_answers.encode_answer(answer.answer)
        who: dict[str, str] = {"holder": holder, "request_id": request_id}
        what = {"fingerprint": answer.fingerprint, "kind": kind, "answer": body.decode()}
        self._transaction.tell(("add_answer", {"at": at, **who, **what}))
        old = {"before": at - ANSWER_RETENTION_SECONDS, "most": ANSWERS_DROPPED_AT_ONCE}
        self._transaction.tell(("drop_old_answers", old))
