"""A desk where commands are decided on, with a state that is brought up to date by events alone, as in a store."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from commonhold.kernel.clock import Now
from commonhold.kernel.commands import Acquire, Command, HandOver, Put, Release
from commonhold.kernel.events import Event, Recorded
from commonhold.kernel.keys import Key, canonical
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.lease_table import LeaseTable
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Denied, Done, Granted, NotHeld, NotStored, Outcome, Queued, Stored
from commonhold.kernel.projection import State, apply
from commonhold.leases.decide import decide

T = TypeVar("T", bound=Outcome)
Answer = Granted | Queued | Denied | NotHeld | Done
PATIENCE = 30.0
A, B, C, D, E = (canonical(f"file:{name}.py") for name in "abcde")
SHARED, EXCLUSIVE, UPGRADABLE = Mode.SHARED, Mode.EXCLUSIVE, Mode.UPGRADABLE


@dataclass
class Desk:
    state: State = field(default_factory=State)
    log: list[Recorded] = field(default_factory=list)
    seconds: float = 0.0
    boot: int = 1
    count: int = 0

    @property
    def now(self) -> Now:
        return Now(f"boot-{self.boot}", self.seconds, 1000.0 + self.seconds)

    def table(self, command: Command[Any]) -> LeaseTable:
        lease_id = getattr(command, "lease_id", "")
        state = self.state
        return LeaseTable(
            tuple(sorted(state.leases.values(), key=lambda lease: lease.fence)),
            state.sequence + 1,
            tuple(state.waiters.values()),
            tuple(state.values.values()),
            state.lost.get(lease_id),
            state.works.get(lease_id),
        )

    def run(self, command: Command[T]) -> T:
        decision = decide(self.table(command), command, self.now)
        self.record(decision.events)
        return decision.outcome

    def record(self, events: Iterable[Event]) -> None:
        for event in events:
            self.log.append(Recorded(self.state.sequence + 1, self.now.wall, event))
            self.state = apply(self.state, self.log[-1])

    def ask(
        self,
        holder: str,
        *keys: Key,
        mode: Mode = EXCLUSIVE,
        patience: float | None = None,
        replaces: str | None = None,
        name: str | None = None,
    ) -> Answer:
        """Ask for keys for 60 seconds, by the next lease id or by `name`."""
        self.count += name is None
        lease_id = name or f"l{self.count}"
        command = Acquire(lease_id, f"acq-{lease_id}", holder, f"of {holder}", keys, mode, 60.0, patience, replaces)
        return self.run(command)

    def grant(self, holder: str, *keys: Key, mode: Mode = EXCLUSIVE, replaces: str | None = None) -> Lease:
        answer = self.ask(holder, *keys, mode=mode, replaces=replaces)
        assert isinstance(answer, Granted)
        return answer.lease

    def wait(self, holder: str, *keys: Key, mode: Mode = EXCLUSIVE, replaces: str | None = None) -> Waiter:
        answer = self.ask(holder, *keys, mode=mode, patience=PATIENCE, replaces=replaces)
        assert isinstance(answer, Queued)
        return answer.waiter

    def again(self, known: Waiter | Lease) -> Answer:
        """Ask again for what is waited for."""
        keys = tuple(map(canonical, known.keys))
        replaces = known.replaces if isinstance(known, Waiter) else None
        return self.ask(known.holder, *keys, mode=known.mode, patience=PATIENCE, replaces=replaces, name=known.id)

    def release(self, known: Lease | Waiter) -> None:
        self.run(Release(known.id, known.holder))

    def hand_over(self, lease: Lease, to: str) -> None:
        self.run(HandOver(lease.id, lease.holder, to))

    def put(self, holder: str, key: Key, text: str | None, version: int, **rest: Any) -> Stored | NotStored:
        return self.run(Put(key, holder, text, version, **rest))

    def holders(self) -> list[str]:
        """List who holds leases, by the time of the grant."""
        return [lease.holder for lease in sorted(self.state.leases.values(), key=lambda lease: lease.fence)]

    def line(self) -> list[str]:
        return [waiter.holder for waiter in self.state.waiters.values()]

    def last(self) -> Event:
        return self.log[-1].event

    def events(self) -> list[str]:
        return [type(recorded.event).__name__ for recorded in self.log]
