"""What is recorded when a state that has lost events is taken into use again."""

from collections.abc import Iterator
from typing import Final

from commonhold.app.ports import Reader
from commonhold.domain.events import Event, LeaseBroken, Leaving, StateReset, WaiterLeft

REASON: Final = "the state had lost events, so nobody can tell who holds this"


def reset_events(reader: Reader, by: str) -> Iterator[Event]:
    """Yield the events that end each lease and each place in line, on behalf of `by`.

    A lease in an older state may have been released since, and its keys granted to others.
    """
    leases, waiters = reader.leases(), reader.waiters()
    yield StateReset(by)
    for waiter in waiters:
        yield WaiterLeft(waiter.holder, waiter.id, Leaving.CANCELLED)
    for lease in leases:
        yield LeaseBroken(lease.holder, lease.id, by, REASON)
