"""Deadlock prevention: the wait-for graph, and the waiter that must give way.

A cycle is searched for when a holder begins to wait, and when a lease of a waiting holder ends or changes hands: no
other event can close one, so none ever persists. The youngest waiter in it gives way, as in the
wait-die scheme of Rosenkrantz, Stearns and Lewis (1978): the holder that has worked longest never does.
"""

from collections.abc import Collection

from commonhold.kernel.lease import Lease, Waiter, shares_slots
from commonhold.kernel.lease_table import Turn, is_in_the_way


def victim(turn: Turn, waiter: Waiter) -> Waiter | None:
    """Return the waiter that must leave so that `waiter`, already in line, is in no cycle; None if it is in none."""
    blocked = _blocked(turn)
    circle = _circle(turn, waiter, blocked) if waiter.holder in blocked else []
    return max(circle, key=lambda each: (_age(turn, each.holder), each.number)) if circle else None


def stuck(turn: Turn) -> Waiter | None:
    """Return the waiter that must leave because leases ended or changed hands in this turn; None if there is no cycle.

    No holder queues behind a place in line that waits for that holder's own lease. Once that lease has ended it does,
    which may close a cycle; and all waiters of a lease that changes hands now wait for its new holder.
    """
    shifted = [waiter for waiter in turn.waiters.values() if waiter.holder in turn.shifted]
    return next((loser for waiter in shifted if (loser := victim(turn, waiter))), None)


def _blocked(turn: Turn) -> set[str]:
    """Return the holders that may wait forever: all that wait, unless some of them wait for slots.

    Who waits for one of several slots needs only some of those ahead to finish. A holder is not blocked if each of its
    waits ends once all holders that are not blocked have finished.
    """
    blocked = {waiter.holder for waiter in turn.waiters.values()}
    if not any(waiter.slots for waiter in turn.waiters.values()):
        return blocked
    waits = [(waiter, turn.before(waiter)) for waiter in turn.waiters.values()]
    while True:
        staying = {waiter.holder for waiter, ahead in waits if _is_barred(waiter, ahead, blocked)}
        if staying == blocked:
            return blocked
        blocked = staying


def _is_barred(waiter: Waiter, ahead: Collection[Lease | Waiter], blocked: Collection[str]) -> bool:
    """Whether a waiter is still not served when all those ahead have finished but the `blocked` holders.

    A holder that waits for a slot beside its own ones is not barred by itself: another of its processes may release.
    """
    staying = [claim for claim in ahead if claim.holder in blocked and claim.holder != waiter.holder]
    sharing = sum(shares_slots(claim, waiter) for claim in staying)
    return sharing < len(staying) or sharing >= waiter.slots > 0


def _circle(turn: Turn, start: Waiter, blocked: Collection[str]) -> list[Waiter]:
    """Return a cycle of waiters: each waits for the holder of the next, and the last for the holder of `start`.

    All of them are waiters of `blocked` holders.
    """
    if not _is_waited_for(turn, start.holder):
        return []
    waits_of: dict[str, list[Waiter]] = {}
    for waiter in turn.waiters.values():
        waits_of.setdefault(waiter.holder, []).append(waiter)
    paths = [[start]]
    seen = {start.id}
    while paths:
        path = paths.pop()
        for holder in dict.fromkeys(claim.holder for claim in turn.before(path[-1])):
            if holder not in blocked or holder == path[-1].holder:
                continue
            if holder == start.holder:
                return path
            for waiter in waits_of.get(holder, ()):
                if waiter.id not in seen:
                    seen.add(waiter.id)
                    paths.append([*path, waiter])
    return []


def _is_waited_for(turn: Turn, holder: str) -> bool:
    """Whether any waiter may wait for `holder`: most holders that begin to wait have nothing that others want."""
    places = turn.waiters.values()
    leases = [lease for lease in turn.leases.values() if lease.holder == holder]
    mine = [place for place in places if place.holder == holder]
    return any(
        any(_may_delay(lease, place) for lease in leases)
        or any(each.number < place.number and _may_delay(each, place) for each in mine)
        for place in places
    )


def _may_delay(claim: Lease | Waiter, waiter: Waiter) -> bool:
    return is_in_the_way(claim, waiter) or shares_slots(claim, waiter)


def _age(turn: Turn, holder: str) -> int:
    """Return the number of the holder's oldest grant, or of its place in line: the lower, the older."""
    fences = [lease.fence for lease in turn.leases.values() if lease.holder == holder]
    return min(fences, default=turn.next_sequence)
