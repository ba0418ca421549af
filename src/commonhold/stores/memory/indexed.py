"""Answers about leases from memory, for stores that keep an index of them."""

from collections.abc import Sequence
from typing import Any

from commonhold.kernel.clock import Now
from commonhold.kernel.commands import Command
from commonhold.kernel.keys import Key
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.lease_table import LeaseTable
from commonhold.kernel.partial_work import PartialWork
from commonhold.kernel.values import Value
from commonhold.stores.memory.index import LeaseIndex


class Indexed:
    """The part of a Reader that is about leases, answered by `_index`."""

    _index: LeaseIndex

    @property
    def next_sequence(self) -> int:
        """The number that the next event will have."""
        return self._index.next_sequence

    def table(self, command: Command[Any], now: Now) -> LeaseTable:
        """The part of the state that a decision needs."""
        return self._index.table(command, now)

    def leases(self) -> tuple[Lease, ...]:
        """All leases that have not ended in the log."""
        return self._index.leases()

    def lease(self, lease_id: str) -> Lease | None:
        """One lease by its id."""
        return self._index.lease(lease_id)

    def held_by(self, holder: str) -> tuple[Lease, ...]:
        """The leases of one holder."""
        return self._index.held_by(holder)

    def overlapping(self, keys: Sequence[Key]) -> tuple[Lease, ...]:
        """Leases near the keys."""
        return self._index.overlapping(keys)

    def waiters(self) -> tuple[Waiter, ...]:
        """The line."""
        return self._index.waiters()

    def value(self, key: str) -> Value | None:
        """The value of a key."""
        return self._index.value(key)

    def has_expired(self, now: Now) -> bool:
        """Whether there is a lease that has expired and not been ended."""
        return self._index.has_expired(now)

    def lost(self) -> tuple[Lease, ...]:
        """Return leases whose changes have not been searched for yet."""
        return self._index.lost()

    def lost_near(self, keys: Sequence[Key]) -> tuple[Lease, ...]:
        """Those of them near the keys."""
        return self._index.lost_near(keys)

    def works(self) -> tuple[PartialWork, ...]:
        """Partial work that waits for review."""
        return self._index.works()
