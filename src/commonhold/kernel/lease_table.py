"""The leases, places in line and values that a decision looks at, and how one decision changes them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final

from commonhold.kernel.clock import Now, deadline
from commonhold.kernel.events import (
    Event,
    LeaseExpired,
    LeaseGranted,
    LeaseQueued,
    LeaseReleased,
    LeaseRenewed,
    Leaving,
    Recorded,
    ValuePut,
    WaiterLeft,
    WaiterSeen,
)
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import Claims, Lease, Waiter, divides_otherwise, shares_slots, stands_against
from commonhold.kernel.partial_work import PartialWork
from commonhold.kernel.projection import Change, State, apply, changed_lease
from commonhold.kernel.values import Value, result_key
from commonhold.kernel.write_slots import is_for_slots

ENDED_BESIDE: Final = 16
"""How many unrelated expired leases a decision ends at most: few, to keep each decision short."""
SIGN_OF_LIFE: Final = 0.5
"""A deadline is moved when less than this part of its time is left: signs of life need not all be written down."""


@dataclass(frozen=True, slots=True)
class LeaseTable:
    """The part of the state that a decision looks at.

    `leases` contains at least: all leases that overlap the requested keys, the named ones (including one to be
    replaced), the live ones of the holder; and if there are waiters, all that overlap their keys, and the live ones of
    every waiting holder. The decision ends those of them that have expired, and so that none stays forever
    also some unrelated ones, the first to expire first (`decide.most_ended_beside`). `waiters` are all places
    in line, `values` those that exist of the keys in question; `lost` and `work` belong to the lease that is named.
    `next_sequence` is the number of the next event; every fence granted so far is below it.
    """

    leases: tuple[Lease, ...]
    next_sequence: int
    waiters: tuple[Waiter, ...] = ()
    values: tuple[Value, ...] = ()
    lost: Lease | None = None
    work: PartialWork | None = None


def advanced(table: LeaseTable, events: Iterable[Event], at: float) -> LeaseTable:
    """Return the leases and places in line after `events`, which a decision on `table` made at the Unix time `at`."""
    state = State(table.next_sequence - 1, {each.id: each for each in table.leases}, {e.id: e for e in table.waiters})
    for event in events:
        state = apply(state, Recorded(state.sequence + 1, at, event))
    waiters = tuple(state.waiters.values())
    return replace(table, leases=tuple(state.leases.values()), waiters=waiters, next_sequence=state.sequence + 1)


class Turn:
    """A decision in progress: the table as changed so far, and the events that changed it."""

    def __init__(self, table: LeaseTable, now: Now) -> None:
        """Begin with `table` as it is at `now`."""
        self.now = now
        self.events: list[Event] = []
        self.leases = {lease.id: lease for lease in table.leases}
        self.waiters = {waiter.id: waiter for waiter in sorted(table.waiters, key=attrgetter("number"))}
        self.shifted: dict[str, None] = {}
        """Holders of which a lease has ended or changed hands: their places in line may be behind others now."""
        self._first_sequence = table.next_sequence
        self._has_room = False

    @property
    def next_sequence(self) -> int:
        """The number that the next event will have."""
        return self._first_sequence + len(self.events)

    def is_free_of_others(self, holder: str) -> bool:
        """Whether no other holder has a lease and no one waits, so that no conflict is possible."""
        return not self.waiters and all(lease.holder == holder for lease in self.leases.values())

    def clear(self) -> None:
        """End the leases and places in line that have expired."""
        for lease in [lease for lease in self.leases.values() if not lease.is_live(self.now)]:
            self.end(lease, LeaseExpired(lease.holder, lease.id, lease.deadline))
        for waiter in [waiter for waiter in self.waiters.values() if not waiter.is_live(self.now)]:
            self.leave(waiter, Leaving.TIMED_OUT)

    def hear(self, holder: str, besides: str | None = None) -> None:
        """Let the leases of a holder that showed a sign of life last on; `besides` is one to leave alone."""
        for lease in list(self.leases.values()):
            if lease.holder == holder and lease.id != besides and is_short(lease, self.now):
                self.change(lease, LeaseRenewed(holder, lease.id, deadline(self.now, lease.ttl_seconds)))

    def end(self, lease: Lease, event: Event) -> None:
        """End a lease; its keys become free."""
        del self.leases[lease.id]
        self.events.append(event)
        self._shift(lease.holder)

    def change(self, lease: Lease, event: Change) -> Lease:
        """Change a lease that stays live; the lease as it is then."""
        changed = self.leases[lease.id] = changed_lease(lease, event, self.next_sequence)
        self.events.append(event)
        if changed.holder != lease.holder:
            self._shift(lease.holder, changed.holder)
        return changed

    def _shift(self, *holders: str) -> None:
        self.shifted |= dict.fromkeys(holders)
        self._has_room = True

    def grant(self, lease: Lease, replaces: str | None = None) -> Lease:
        """Begin a lease, which has the next event's number as its fence; it takes the place of `replaces`.

        Return it, with the lowest free slot if it counts among slots.
        """
        if lease.slots:
            lease = replace(lease, slot=self._free_slot(lease))
        self.leases[lease.id] = lease
        self.waiters.pop(lease.id, None)
        self.events.append(LeaseGranted(lease))
        replaced = self.leases.get(replaces) if replaces else None
        if replaced is not None and replaced.holder == lease.holder:
            self.end(replaced, LeaseReleased(lease.holder, replaced.id))
        return lease

    def _free_slot(self, wanted: Lease) -> int:
        taken = {lease.slot for lease in self.leases.values() if shares_slots(lease, wanted)}
        return next(slot for slot in range(1, wanted.slots + 1) if slot not in taken)

    def finish(self, lease: Lease, result: str) -> None:
        """Keep the result of work that is done once for all; end its lease, and the wait of all that want to do it."""
        self.events.append(ValuePut(lease.holder, result_key(lease.keys[0]), result))
        for waiter in [each for each in self.waiters.values() if each.is_once and each.keys == lease.keys]:
            self.leave(waiter, Leaving.DONE)
        self.end(lease, LeaseReleased(lease.holder, lease.id))

    def queue(self, waiter: Waiter) -> None:
        """Give somebody a place in line."""
        self.waiters[waiter.id] = waiter
        self.events.append(LeaseQueued(waiter))

    def see(self, waiter: Waiter) -> Waiter:
        """Let a waiter that showed a sign of life keep its place."""
        if waiter.deadline.ticks - self.now.ticks >= SIGN_OF_LIFE * waiter.patience_seconds:
            return waiter
        until = deadline(self.now, waiter.patience_seconds)
        self.events.append(WaiterSeen(waiter.holder, waiter.id, until))
        seen = self.waiters[waiter.id] = replace(waiter, deadline=until)
        return seen

    def leave(self, waiter: Waiter, why: Leaving) -> None:
        """Take somebody out of the line."""
        del self.waiters[waiter.id]
        self.events.append(WaiterLeft(waiter.holder, waiter.id, why))
        self._has_room = True

    def wished(self, holder: str) -> tuple[Lease, ...]:
        """The leases of a holder that somebody asks it to release."""
        return tuple(lease for lease in self.leases.values() if lease.holder == holder and lease.wish)

    def before(self, waiter: Waiter) -> list[Lease | Waiter]:
        """Return the claims that a waiter waits for: leases of others, and waiters ahead of it in line."""
        ahead = (each for each in self.waiters.values() if each.number < waiter.number)
        claims: tuple[Lease | Waiter, ...] = (*self.leases.values(), *self._not_waiting_for(waiter.holder, ahead))
        in_the_way = [claim for claim in claims if is_in_the_way(claim, waiter)]
        if not waiter.slots:
            return in_the_way
        sharing = [claim for claim in claims if shares_slots(claim, waiter)]
        return in_the_way + (sharing if len(sharing) >= waiter.slots else [])

    def dividing_otherwise(self, waiter: Waiter) -> list[Lease | Waiter]:
        """Return the claims that count the slots of the same key, but another number of them."""
        claims: tuple[Lease | Waiter, ...] = (*self.leases.values(), *self.waiters.values())
        return [claim for claim in claims if divides_otherwise(claim, waiter)]

    def _not_waiting_for(self, holder: str, waiters: Iterable[Waiter]) -> Iterator[Waiter]:
        """Those waiters that wait for no lease of `holder`: to stand behind one that does would be a deadlock."""
        mine = [lease for lease in self.leases.values() if lease.holder == holder]
        return (waiter for waiter in waiters if not any(is_in_the_way(lease, waiter) for lease in mine))

    def serve(self) -> None:
        """Grant the keys that have become free, to the longest waiter first."""
        while self._has_room:
            self._has_room = False
            claims = Claims(self.leases.values())
            for waiter in list(self.waiters.values()):
                claims.add(self._grant(waiter) if self._is_free(waiter, claims) else waiter)

    def _is_free(self, waiter: Waiter, claims: Claims) -> bool:
        mine = [lease for lease in self.leases.values() if lease.holder == waiter.holder]
        slots_left = waiter.slots
        for key in waiter.keys:
            for _, claim in claims.overlapping(canonical(key)):
                is_sharing = shares_slots(claim, waiter)
                if not is_sharing and not stands_against(claim, waiter.mode, waiter.holder):
                    continue
                if isinstance(claim, Waiter) and any(is_in_the_way(lease, claim) for lease in mine):
                    continue
                slots_left -= 1
                if not is_sharing or not slots_left:
                    return False
        return True

    def _grant(self, waiter: Waiter) -> Lease:
        lease = _unclaimed(waiter, self.next_sequence, self.now)
        replaced = self.leases.get(waiter.replaces or "")
        if replaced is not None and _is_upgrade(waiter, replaced):
            lease = _upgraded(lease, replaced, self.now)
        return self.grant(lease, waiter.replaces)


def _unclaimed(waiter: Waiter, fence: int, now: Now) -> Lease:
    """The lease that was waited for. It lasts as the place in line did, until the waiter shows that it is there."""
    return Lease(
        id=waiter.id,
        fence=fence,
        holder=waiter.holder,
        task=waiter.task,
        keys=waiter.keys,
        mode=waiter.mode,
        acquisition_id=waiter.acquisition_id,
        granted_at=now.wall,
        deadline=deadline(now, waiter.patience_seconds),
        ttl_seconds=waiter.ttl_seconds,
        is_claimed=False,
        slots=waiter.slots,
        is_once=waiter.is_once,
    )


def _is_upgrade(waiter: Waiter, replaced: Lease) -> bool:
    """Whether a waiter wants exactly the keys of this lease, in another mode."""
    return replaced.is_claimed and (waiter.holder, waiter.keys) == (replaced.holder, replaced.keys)


def _upgraded(lease: Lease, replaced: Lease, now: Now) -> Lease:
    """The lease that takes the place of one that its holder has: it need not come for it, and goes on from the same."""
    return replace(
        lease,
        deadline=deadline(now, lease.ttl_seconds),
        is_claimed=True,
        worktree=replaced.worktree,
        bases=replaced.bases,
    )


def is_short(lease: Lease, now: Now) -> bool:
    """Whether a sign of life of its holder extends a lease: it does not extend a write slot, which is for one write."""
    if not lease.is_claimed or is_for_slots(lease.keys):
        return False
    return lease.deadline.ticks - now.ticks < SIGN_OF_LIFE * lease.ttl_seconds


def is_in_the_way(claim: Lease | Waiter, waiter: Waiter) -> bool:
    """Whether a waiter cannot have its keys while the other has its own."""
    if shares_slots(claim, waiter):
        return False
    return stands_against(claim, waiter.mode, waiter.holder) and any(
        claim.covering(canonical(key)) for key in waiter.keys
    )
