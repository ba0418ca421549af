"""The state that a log of events results in, indexed so that a decision needs look-ups alone."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final, Self

from commonhold.kernel.clock import Now
from commonhold.kernel.commands import Command, RecordPartialWork, Review
from commonhold.kernel.events import (
    Event,
    LeaseBroken,
    LeaseClaimed,
    LeaseExpired,
    LeaseGranted,
    LeaseHandedOver,
    LeaseQueued,
    LeaseReleased,
    LeaseRenewed,
    Recorded,
    ReleaseAsked,
    ValuePut,
    WaiterLeft,
    WaiterSeen,
    WorkLeft,
    WorkReviewed,
)
from commonhold.kernel.keys import Key, canonical
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.lease_table import LeaseTable
from commonhold.kernel.partial_work import PartialWork
from commonhold.kernel.projection import Change, changed_lease, leaves_work, partial_work
from commonhold.kernel.values import Value
from commonhold.leases.decide import keys_of, most_ended_beside, value_keys_of
from commonhold.stores.memory.deadlines import Deadlines
from commonhold.stores.memory.places import Places

_NOBODY: Final[dict[str, None]] = {}


class LeaseIndex:
    """The leases, places in line, values, lost leases and partial work of one namespace.

    Means the same as `kernel.projection`, but changes in place. Reads and changes cost the same beside a hundred
    thousand leases as beside none, if those are on other places and of other holders. Not safe for threads.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self.next_sequence = 1
        self._leases: dict[str, Lease] = {}
        self._of_holder: dict[str, dict[str, None]] = {}
        self._places = Places()
        self._deadlines = Deadlines()
        self._waiters: dict[str, Waiter] = {}
        self._values: dict[str, Value] = {}
        self._lost: dict[str, Lease] = {}
        self._lost_places = Places()
        self._works: dict[str, PartialWork] = {}
        self._changes = self._all_changes()

    @classmethod
    def of(
        cls,
        *,
        leases: Iterable[Lease] = (),
        waiters: Iterable[Waiter] = (),
        values: Iterable[Value] = (),
        lost: Iterable[Lease] = (),
        works: Iterable[PartialWork] = (),
        next_sequence: int,
    ) -> Self:
        """The index of a state that is kept elsewhere; `works` oldest first."""
        index = cls()
        for lease in sorted(leases, key=_fence):
            index._add(lease)
        index._waiters = {waiter.id: waiter for waiter in sorted(waiters, key=lambda waiter: waiter.number)}
        index._values = {value.key: value for value in values}
        for lease in lost:
            index._lose(lease)
        index._works = {work.lease_id: work for work in works}
        index.next_sequence = next_sequence
        return index

    def apply(self, recorded: Recorded) -> None:
        """Apply the next event to the index."""
        self.next_sequence = recorded.sequence + 1
        change = self._changes.get(type(recorded.event))
        if change is not None:
            change(recorded.event, recorded)

    def table(self, command: Command[Any], now: Now) -> LeaseTable:
        """All that deciding on `command` needs; see LeaseTable."""
        lease_id: str = getattr(command, "lease_id", "")
        ids = [lease_id, getattr(command, "replaces", None) or ""]
        over = self._deadlines.over(now)
        ids += islice(over, most_ended_beside(command))
        ids += self._live_of(command.holder, over)
        for key in keys_of(command):
            ids += self._places.near(key)
        for waiter in self._waiters.values():
            ids += self._live_of(waiter.holder, over)
            for text in waiter.keys:
                ids += self._places.near(canonical(text))
        return LeaseTable(
            self._of_ids(ids),
            self.next_sequence,
            tuple(self._waiters.values()),
            tuple(self._values[key] for key in dict.fromkeys(value_keys_of(command)) if key in self._values),
            self._lost.get(lease_id) if isinstance(command, RecordPartialWork) else None,
            self._works.get(lease_id) if isinstance(command, Review) else None,
        )

    def _live_of(self, holder: str, over: Collection[str]) -> Iterable[str]:
        """The ids of those leases of a holder that are not `over`."""
        held = self._of_holder.get(holder, _NOBODY)
        return [each for each in held if each not in over] if over else held

    def _of_ids(self, ids: Iterable[str]) -> tuple[Lease, ...]:
        found = [self._leases[each] for each in dict.fromkeys(ids) if each in self._leases]
        found.sort(key=_fence)
        return tuple(found)

    def leases(self) -> tuple[Lease, ...]:
        """All leases, oldest first."""
        return tuple(sorted(self._leases.values(), key=_fence))

    def lease(self, lease_id: str) -> Lease | None:
        """One lease."""
        return self._leases.get(lease_id)

    def held_by(self, holder: str) -> tuple[Lease, ...]:
        """The leases of one holder, oldest first."""
        return self._of_ids(self._of_holder.get(holder, _NOBODY))

    def overlapping(self, keys: Sequence[Key]) -> tuple[Lease, ...]:
        """At least every lease with a key that overlaps one of `keys`, oldest first."""
        return self._of_ids(each for key in keys for each in self._places.near(key))

    def waiters(self) -> tuple[Waiter, ...]:
        """All places in line, the first in line first."""
        return tuple(self._waiters.values())

    @property
    def has_waiters(self) -> bool:
        """Whether any holder waits in line."""
        return bool(self._waiters)

    def waiter(self, lease_id: str) -> Waiter | None:
        """One place in line."""
        return self._waiters.get(lease_id)

    def value(self, key: str) -> Value | None:
        """The value of a key."""
        return self._values.get(key)

    def values(self) -> tuple[Value, ...]:
        """Return the values of all keys that ever had one."""
        return tuple(self._values.values())

    def has_expired(self, now: Now) -> bool:
        """Whether there is a lease that has expired and not been ended."""
        return bool(self._deadlines.over(now))

    def lost(self) -> tuple[Lease, ...]:
        """Return leases whose changes have not been searched for yet."""
        return tuple(self._lost.values())

    def lost_near(self, keys: Sequence[Key]) -> tuple[Lease, ...]:
        """At least those of them with a key that overlaps one of `keys`."""
        near = dict.fromkeys(each for key in keys for each in self._lost_places.near(key))
        return tuple(self._lost[each] for each in near)

    def works(self) -> tuple[PartialWork, ...]:
        """Partial work that waits for review, oldest first."""
        return tuple(self._works.values())

    def _add(self, lease: Lease) -> None:
        self._places.add(lease.id, map(canonical, lease.keys))
        self._deadlines.set(lease.id, lease.deadline)
        self._of_holder.setdefault(lease.holder, {})[lease.id] = None
        self._leases[lease.id] = lease

    def _remove(self, lease_id: str) -> Lease:
        lease = self._leases.pop(lease_id)
        self._places.remove(lease_id)
        self._deadlines.drop(lease_id)
        self._leave_holder(lease)
        return lease

    def _leave_holder(self, lease: Lease) -> None:
        held = self._of_holder[lease.holder]
        del held[lease.id]
        if not held:
            del self._of_holder[lease.holder]

    def _all_changes(self) -> Mapping[type[Event], Callable[[Any, Recorded], None]]:
        """The effect of each kind of event on the index. Other events have none."""
        return {
            LeaseGranted: self._on_granted,
            LeaseReleased: self._on_released,
            LeaseExpired: self._on_lost,
            LeaseBroken: self._on_lost,
            LeaseRenewed: self._on_changed,
            LeaseClaimed: self._on_changed,
            ReleaseAsked: self._on_changed,
            LeaseHandedOver: self._on_changed,
            LeaseQueued: self._on_queued,
            WaiterSeen: self._on_seen,
            WaiterLeft: self._on_left_the_line,
            ValuePut: self._on_put,
            WorkLeft: self._on_work_left,
            WorkReviewed: self._on_reviewed,
        }

    def _on_granted(self, event: LeaseGranted, _: Recorded) -> None:
        self._waiters.pop(event.lease.id, None)
        self._add(event.lease)

    def _on_released(self, event: LeaseReleased, _: Recorded) -> None:
        self._remove(event.lease_id)

    def _on_lost(self, event: LeaseExpired | LeaseBroken, _: Recorded) -> None:
        lease = self._remove(event.lease_id)
        if leaves_work(lease):
            self._lose(lease)

    def _lose(self, lease: Lease) -> None:
        if lease.id in self._lost:  # its id was used again
            self._lost_places.remove(lease.id)
        self._lost[lease.id] = lease
        self._lost_places.add(lease.id, map(canonical, lease.keys))

    def _on_changed(self, event: Change, recorded: Recorded) -> None:
        before = self._leases[event.lease_id]
        lease = self._leases[before.id] = changed_lease(before, event, recorded.sequence)
        if lease.deadline != before.deadline:
            self._deadlines.set(lease.id, lease.deadline)
        if lease.holder != before.holder:
            self._leave_holder(before)
            self._of_holder.setdefault(lease.holder, {})[lease.id] = None

    def _on_queued(self, event: LeaseQueued, _: Recorded) -> None:
        self._waiters[event.waiter.id] = event.waiter

    def _on_seen(self, event: WaiterSeen, _: Recorded) -> None:
        self._waiters[event.lease_id] = replace(self._waiters[event.lease_id], deadline=event.deadline)

    def _on_left_the_line(self, event: WaiterLeft, _: Recorded) -> None:
        del self._waiters[event.lease_id]

    def _on_put(self, event: ValuePut, recorded: Recorded) -> None:
        self._values[event.key] = Value(event.key, recorded.sequence, event.text, event.holder, recorded.at)

    def _on_work_left(self, event: WorkLeft, recorded: Recorded) -> None:
        lease = self._lost.pop(event.lease_id)
        self._lost_places.remove(lease.id)
        if event.changes:
            self._works.pop(lease.id, None)
            self._works[lease.id] = partial_work(lease, event, recorded.at)

    def _on_reviewed(self, event: WorkReviewed, _: Recorded) -> None:
        del self._works[event.lease_id]


def _fence(lease: Lease) -> int:
    return lease.fence
