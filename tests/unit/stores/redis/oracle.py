"""What a registry should do: `decide` over the whole state, which is nothing but the fold of the log."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from commonhold.kernel.clock import Now
from commonhold.kernel.commands import Command
from commonhold.kernel.events import Event, Recorded
from commonhold.kernel.lease_ports import StoredAnswer
from commonhold.kernel.lease_table import LeaseTable
from commonhold.kernel.projection import State, apply


@dataclass
class FoldedTables:
    """The tables of one namespace: a state and the log that made it. The first event is number `first_sequence`."""

    first_sequence: int
    state: State = field(default_factory=State)
    log: list[Recorded] = field(default_factory=list)
    answers: dict[tuple[str, str], StoredAnswer] = field(default_factory=dict)

    @property
    def next_sequence(self) -> int:
        return self.log[-1].sequence + 1 if self.log else self.first_sequence

    def table(self, command: Command[Any], now: Now) -> LeaseTable:
        del now
        lease_id = getattr(command, "lease_id", "")
        return LeaseTable(
            tuple(sorted(self.state.leases.values(), key=lambda lease: lease.fence)),
            self.next_sequence,
            tuple(self.state.waiters.values()),
            tuple(self.state.values.values()),
            self.state.lost.get(lease_id),
            self.state.works.get(lease_id),
        )

    def record(self, events: Iterable[Event], at: float) -> None:
        for event in events:
            recorded = Recorded(self.next_sequence, at, event)
            self.state = apply(self.state, recorded)
            self.log.append(recorded)

    def remember(self, holder: str, request_id: str, answer: StoredAnswer, at: float) -> None:
        del at
        self.answers[holder, request_id] = answer

    def answer(self, holder: str, request_id: str) -> StoredAnswer | None:
        return self.answers.get((holder, request_id))

    @contextmanager
    def write(self) -> Iterator["FoldedTables"]:
        yield self

    read = write

    def close(self) -> None:
        pass
