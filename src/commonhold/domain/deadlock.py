"""Who waits for whom, and who must not wait.

A circle is looked for when somebody begins to wait, and when a lease of somebody who waits ends or changes hands: no
other event can close one, so there never is one. The youngest in it gives way, as in the
wait-die scheme of Rosenkrantz, Stearns and Lewis (1978): the one that has worked longest is never sent away.
"""

from commonhold.domain.lease import Waiter
from commonhold.domain.lease_table import Turn, is_in_the_way


def victim(turn: Turn, waiter: Waiter) -> Waiter | None:
    """Who must leave the line, so that `waiter` (which stands in it already) waits in no circle; None: nobody."""
    circle = _circle(turn, waiter)
    return max(circle, key=lambda each: (_age(turn, each.holder), each.number)) if circle else None


def stuck(turn: Turn) -> Waiter | None:
    """Who must leave the line because of leases that have ended or changed hands in this turn; None: nobody.

    Nobody stands behind a place in line that waits for a lease of its own. When that lease is gone it does, so there
    may be a circle now; and the new holder of a lease is waited for by all who waited for the old one.
    """
    shifted = [waiter for waiter in turn.waiters.values() if waiter.holder in turn.shifted]
    return next((loser for waiter in shifted if (loser := victim(turn, waiter))), None)


def _circle(turn: Turn, start: Waiter) -> list[Waiter]:
    """Waiters of which each waits for the holder of the next, the last for the holder of `start`."""
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
            if holder == start.holder:
                return path
            for waiter in waits_of.get(holder, ()):
                if waiter.id not in seen:
                    seen.add(waiter.id)
                    paths.append([*path, waiter])
    return []


def _is_waited_for(turn: Turn, holder: str) -> bool:
    """Whether anybody may wait for a holder: most who begin to wait have nothing that others want."""
    places = turn.waiters.values()
    leases = [lease for lease in turn.leases.values() if lease.holder == holder]
    mine = [place for place in places if place.holder == holder]
    return any(
        any(is_in_the_way(lease, place) for lease in leases)
        or any(each.number < place.number and is_in_the_way(each, place) for each in mine)
        for place in places
    )


def _age(turn: Turn, holder: str) -> int:
    """The number of the oldest grant that a holder has, or of its place in line: the lower, the older."""
    fences = [lease.fence for lease in turn.leases.values() if lease.holder == holder]
    return min(fences, default=turn.next_sequence)
