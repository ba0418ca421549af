"""The ports of the use cases to storage of leases. Each docstring is the contract of its adapter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from commonhold.kernel.clock import Now
    from commonhold.kernel.commands import Command
    from commonhold.kernel.events import Event, Recorded
    from commonhold.kernel.keys import Key
    from commonhold.kernel.lease import Lease, Waiter
    from commonhold.kernel.lease_table import LeaseTable
    from commonhold.kernel.outcomes import Outcome
    from commonhold.kernel.partial_work import PartialWork
    from commonhold.kernel.values import Value


T = TypeVar("T", bound="Outcome")


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The first answer to a request, and the fingerprint of the request."""

    fingerprint: str
    answer: object


@dataclass(frozen=True, slots=True)
class Once:
    """The identity of a request: its id, and the fingerprint of its content."""

    request_id: str
    fingerprint: str


class LeaseView(Protocol):
    """One consistent view of leases, places in line and values."""

    def leases(self) -> tuple[Lease, ...]:
        """Return all leases that have not ended in the log (expired ones may be among them), oldest first."""
        ...

    def lease(self, lease_id: str) -> Lease | None:
        """Return one lease that has not ended in the log."""
        ...

    def held_by(self, holder: str) -> tuple[Lease, ...]:
        """Return the leases of one holder that have not ended in the log, oldest first."""
        ...

    def waiters(self) -> tuple[Waiter, ...]:
        """Return all places in line that were not given up in the log, in order."""
        ...

    def value(self, key: str) -> Value | None:
        """Return the value of a key; None if it never had one."""
        ...

    def has_expired(self, now: Now) -> bool:
        """Whether there is a lease that has expired at `now` and has not ended in the log."""
        ...

    def lost(self) -> tuple[Lease, ...]:
        """Return leases that were taken from their holders and not yet searched for partial work."""
        ...

    def lost_near(self, keys: Sequence[Key]) -> tuple[Lease, ...]:
        """Return at least those of them with a key that overlaps one of `keys`."""
        ...

    def works(self) -> tuple[PartialWork, ...]:
        """Return the partial work that has not been reviewed yet, oldest first."""
        ...

    def overlapping(self, keys: Sequence[Key]) -> tuple[Lease, ...]:
        """Return at least every lease with a key that overlaps one of `keys`, oldest first."""
        ...

    def events(self, *, after: int = 0, limit: int = 1000, lease_id: str | None = None) -> tuple[Recorded, ...]:
        """Return events with a sequence above `after`, in order."""
        ...

    def latest(self, limit: int) -> tuple[Recorded, ...]:
        """Return the last `limit` events, in order."""
        ...

    def compaction(self) -> Recorded | None:
        """Return the event `LogCompacted` that says up to which event a snapshot stands for the log; None without."""
        ...


class LeaseReader(LeaseView, Protocol):
    """A view with all that decisions need."""

    def table(self, command: Command[Any], now: Now) -> LeaseTable:
        """Return all that deciding on `command` needs; see LeaseTable."""
        ...

    def answer(self, holder: str, request_id: str) -> StoredAnswer | None:
        """Return the first answer given to this holder's request."""
        ...

    @property
    def next_sequence(self) -> int:
        """Return the sequence that the next event will have."""
        ...


class LeaseWriter(LeaseReader, Protocol):
    """A transaction on leases, places in line and values: all of it is durable when it ends, or nothing happened."""

    def record(self, events: Iterable[Event], at: float) -> None:
        """Append events, and apply them to the state."""
        ...

    def remember(self, holder: str, request_id: str, answer: StoredAnswer, at: float) -> None:
        """Keep the first answer to a request."""
        ...


class LeaseTables(Protocol):
    """Storage of leases that many processes share: a store, or the lease part of one."""

    def read(self) -> AbstractContextManager[LeaseReader]:
        """Return one consistent view."""
        ...

    def write(self) -> AbstractContextManager[LeaseWriter]:
        """Begin a transaction that excludes all others on the same leases. An exception rolls it back."""
        ...

    def close(self) -> None:
        """Release all resources; idempotent."""
        ...


class Registry(Protocol):
    """The leases of one namespace, in any kind of storage: each call is one atomic step, on the store's clock."""

    def execute(self, command: Command[T], once: Once | None = None) -> T:
        """Decide on a command, and apply the decision durably. With `once`, a repeated request gets its first outcome.

        Raises UsageError `REQUEST_ID_REUSED` if the id was used for another request.
        """
        ...

    def together(self) -> AbstractContextManager[object]:
        """Run the block as one atomic step, together with writes to the repository's store if possible."""
        ...

    def first_outcome(self, holder: str, once: Once) -> Outcome | None:
        """Return the first outcome of this request. Raises like `execute`."""
        ...

    def read(self) -> AbstractContextManager[LeaseView]:
        """Return one consistent view."""
        ...

    def now(self) -> Now:
        """Return the present instant on the store's clock."""
        ...

    def close(self) -> None:
        """Release all resources; idempotent."""
        ...
