"""The interface that the suite needs of a store, and an agent that calls it."""
# ruff: noqa: S101 - these are tests, and assert is how pytest speaks

from collections.abc import Iterator
from itertools import count
from typing import Any, Final, Protocol, TypeVar

from commonhold.kernel.commands import (
    Acquire,
    Ask,
    Break,
    Command,
    HandOver,
    Heartbeat,
    Put,
    RecordPartialWork,
    Release,
    Renew,
    Review,
)
from commonhold.kernel.events import Event, Recorded
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import Base, Lease, Waiter
from commonhold.kernel.lease_ports import LeaseView, Once, Registry
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Granted, Outcome, Queued
from commonhold.kernel.partial_work import UnfinishedChange
from commonhold.kernel.values import Version

T = TypeVar("T", bound=Outcome)
E = TypeVar("E")
TTL: Final = 600.0
PATIENCE: Final = 200.0
SHARED: Final = Mode.SHARED
UPGRADABLE: Final = Mode.UPGRADABLE
EXCLUSIVE: Final = Mode.EXCLUSIVE
_numbers: Final = count(1)
_PAGE: Final = 100


class Rig(Protocol):
    """A namespace of leases that is empty when a test begins."""

    def registry(self) -> Registry:
        """Return a fresh client of the namespace, as another process would have."""
        ...

    def advance(self, seconds: float) -> None:
        """Let this time pass on the store's clock. Between two calls it may go on by itself, by a few seconds."""
        ...


def expect(kind: type[E], found: object) -> E:
    """Return `found`, which must be of this kind."""
    assert isinstance(found, kind), f"expected {kind.__name__}, got {found!r}"
    return found


class Caller:
    """An agent with a client of its own. Values that do not matter to a test have defaults."""

    def __init__(self, registry: Registry, name: str) -> None:
        """Make calls for the holder `name`."""
        self.registry = registry
        self.name = name

    def run(self, command: Command[T], request_id: str | None = None, fingerprint: str = "") -> T:
        """Send a command, perhaps with an id to repeat it by; the same command has the same fingerprint."""
        once = None if request_id is None else Once(request_id, fingerprint or repr(command))
        return self.registry.execute(command, once)

    def wish(
        self,
        *keys: str,
        mode: Mode = EXCLUSIVE,
        patience: float | None = None,
        replaces: Lease | None = None,
        lease_id: str = "",
        bases: tuple[Base, ...] = (),
        slots: int = 0,
        is_once: bool = False,
    ) -> Acquire:
        """Return the command to acquire keys."""
        return Acquire(
            lease_id=lease_id or f"lease-{next(_numbers)}",
            acquisition_id="acq-1",
            holder=self.name,
            task=f"the task of {self.name}",
            keys=tuple(map(canonical, keys)),
            mode=mode,
            ttl_seconds=TTL,
            patience_seconds=patience,
            replaces=replaces.id if replaces else None,
            worktree="/worktree",
            bases=bases,
            slots=slots,
            is_once=is_once,
        )

    def acquire(self, *keys: str, **rest: Any) -> Outcome:  # noqa: ANN401 - as `wish` takes it
        """Ask for keys, without waiting."""
        return self.run(self.wish(*keys, **rest))

    def lease(self, *keys: str, **rest: Any) -> Lease:  # noqa: ANN401 - as `wish` takes it
        """Return a lease, at once."""
        return expect(Granted, self.acquire(*keys, **rest)).lease

    def wait(self, *keys: str, **rest: Any) -> Waiter:  # noqa: ANN401 - as `wish` takes it
        """Return a place in line."""
        return expect(Queued, self.acquire(*keys, patience=PATIENCE, **rest)).waiter

    def again(self, known: Waiter | Lease, **rest: Any) -> Outcome:  # noqa: ANN401 - as `wish` takes it
        """Ask again for a lease that is waited for, or held."""
        rest = {"slots": known.slots, "is_once": known.is_once, **rest}
        return self.acquire(*known.keys, mode=known.mode, patience=PATIENCE, lease_id=known.id, **rest)

    def renew(self, lease: Lease, seconds: float) -> Outcome:
        """Let a lease end this many seconds from now."""
        return self.run(Renew(lease.id, self.name, seconds))

    def release(self, known: Waiter | Lease) -> Outcome:
        """Release a lease or a place in line."""
        return self.run(Release(known.id, self.name))

    def finish(self, lease: Lease, result: str) -> Outcome:
        """Release a lease with the result of work that is done once."""
        return self.run(Release(lease.id, self.name, result))

    def break_lease(self, lease: Lease, reason: str = "it hangs") -> Outcome:
        """Take a lease from its holder."""
        return self.run(Break(lease.id, self.name, reason))

    def ask_for(self, lease: Lease, why: str = "a hotfix") -> Outcome:
        """Ask the holder of a lease to release it."""
        return self.run(Ask(lease.id, self.name, why))

    def hand_over(self, lease: Lease, to: str) -> Outcome:
        """Hand a lease over."""
        return self.run(HandOver(lease.id, self.name, to))

    def put(self, key: str, text: str | None, version: int, **rest: Any) -> Outcome:  # noqa: ANN401 - as Put takes it
        """Give a key a value."""
        return self.run(Put(canonical(key), self.name, text, version, **rest))

    def leave(self, lease: Lease, *changes: UnfinishedChange) -> Outcome:
        """Record the changes made under a lost lease, for its holder."""
        return self.run(RecordPartialWork(lease.id, lease.holder, changes))

    def review(self, lease: Lease, note: str = "kept") -> Outcome:
        """Close a partial work."""
        return self.run(Review(lease.id, self.name, note))

    def heartbeat(self) -> None:
        """Show a sign of life."""
        self.run(Heartbeat(self.name))

    def leases(self) -> tuple[Lease, ...]:
        """All leases."""
        with self.registry.read() as view:
            return view.leases()

    def has_expired(self) -> bool:
        """Whether a lease has expired that has not been ended."""
        with self.registry.read() as view:
            return view.has_expired(self.registry.now())

    def holders(self) -> list[str]:
        """Return the holders of leases, oldest first."""
        return [lease.holder for lease in self.leases()]

    def line(self) -> list[str]:
        """Return the holders that wait, the first in line first."""
        with self.registry.read() as view:
            return [waiter.holder for waiter in view.waiters()]

    def version(self, key: str) -> Version:
        """A key and the version that its value has."""
        with self.registry.read() as view:
            value = view.value(str(canonical(key)))
        return Version(str(canonical(key)), value.version if value else 0)

    def log(self) -> list[Recorded]:
        """Return all events of the log."""
        with self.registry.read() as view:
            return list(whole_log(view))

    def events(self, kind: type[E]) -> list[E]:
        """All events of a kind, in order."""
        return [each.event for each in self.log() if isinstance(each.event, kind)]

    def last(self) -> Event:
        """The last event."""
        with self.registry.read() as view:
            (recorded,) = view.latest(1)
        return recorded.event


def whole_log(view: LeaseView) -> Iterator[Recorded]:
    """Yield all events, page by page."""
    after = 0
    while page := view.events(after=after, limit=_PAGE):
        yield from page
        after = page[-1].sequence


class Conformance:
    """A part of the suite."""

    def callers(self, rig: Rig, *names: str) -> list[Caller]:
        """Agents that speak to one namespace, each through a client of its own."""
        return [Caller(rig.registry(), name) for name in names]
