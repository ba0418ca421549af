"""Which leases have expired, without looking at the others."""

from collections.abc import Collection
from heapq import heapify, heappop, heappush
from typing import Final

from commonhold.kernel.clock import Deadline, Now

_SLACK: Final = 64
"""The number of additional entries that is always allowed, so that a small heap is not rebuilt all the time."""


class Deadlines:
    """The deadlines of leases, in a heap for each epoch. Entries that no longer count stay in it until they come up."""

    def __init__(self) -> None:
        """Begin empty."""
        self._until: dict[str, Deadline] = {}
        self._heaps: dict[str, list[tuple[float, str]]] = {}
        self._over: dict[str, None] = {}

    def set(self, lease_id: str, deadline: Deadline) -> None:
        """Set the deadline of a lease."""
        self._until[lease_id] = deadline
        self._over.pop(lease_id, None)
        heap = self._heaps.setdefault(deadline.epoch, [])
        heappush(heap, (deadline.ticks, lease_id))
        if len(heap) > 2 * len(self._until) + _SLACK:
            self._rebuild(deadline.epoch)

    def drop(self, lease_id: str) -> None:
        """Forget a lease."""
        del self._until[lease_id]
        self._over.pop(lease_id, None)

    def over(self, now: Now) -> Collection[str]:
        """Return the leases that have expired at `now`, the earliest first."""
        for epoch, heap in self._heaps.items():
            while heap and (epoch != now.epoch or heap[0][0] <= now.ticks):
                ticks, lease_id = heappop(heap)
                until = self._until.get(lease_id)
                if until is not None and (until.epoch, until.ticks) == (epoch, ticks):
                    self._over[lease_id] = None
        return self._over

    def _rebuild(self, epoch: str) -> None:
        current = ((until.ticks, lease_id) for lease_id, until in self._until.items() if until.epoch == epoch)
        self._heaps[epoch] = heap = [entry for entry in current if entry[1] not in self._over]
        heapify(heap)
