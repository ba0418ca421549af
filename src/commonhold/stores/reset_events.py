"""The events for a restored state that has lost events."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from commonhold.kernel.events import Event, LeaseBroken, Leaving, StateReset, WaiterLeft
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.lease_ports import LeaseView

REASON: Final = "the state had lost events, so nobody can tell who holds this"
_LOOKED_AT: Final = 1000
ITSELF: Final = "commonhold"
"""The holder in whose name leases end if no person ended them."""


class Holdings(Protocol):
    """The queries to a state."""

    def leases(self) -> tuple[Lease, ...]:
        """Return all leases that have not ended in the log."""
        ...

    def waiters(self) -> tuple[Waiter, ...]:
        """Return the places in line."""
        ...


def reset_events(reader: Holdings, by: str) -> Iterator[Event]:
    """Yield the events that end each lease and each place in line, on behalf of `by`.

    A lease in an older state may have been released since, and its keys granted to others.
    """
    leases, waiters = reader.leases(), reader.waiters()
    yield StateReset(by)
    for waiter in waiters:
        yield WaiterLeft(waiter.holder, waiter.id, Leaving.CANCELLED)
    for lease in leases:
        yield LeaseBroken(lease.holder, lease.id, by, REASON)


@dataclass(frozen=True, slots=True)
class Reset:
    """When leases of an older state were ended (wall time), and their holders, each once."""

    at: float
    leases: int
    holders: tuple[str, ...]


def last_reset(view: LeaseView) -> Reset | None:
    """Return the newest reset among the last events."""
    found: Reset | None = None
    for each in view.latest(_LOOKED_AT):
        if isinstance(each.event, StateReset):
            found = Reset(each.at, 0, ())
        elif found is not None and isinstance(each.event, LeaseBroken) and each.event.reason == REASON:
            holders = tuple(dict.fromkeys((*found.holders, each.event.holder)))
            found = Reset(found.at, found.leases + 1, holders)
    return found
