"""Whether what others hold is likely to be free while a hook may still wait for it. Pure."""

from collections.abc import Collection, Iterable

from commonhold.app.held_for import OURS
from commonhold.domain.lease import Conflict, Lease


def is_worth_waiting(conflicts: Iterable[Conflict], leases: Collection[Lease], seconds: float, now: float) -> bool:
    """Whether all `conflicts` may be over within so many `seconds`.

    `leases` are those of the holders, `now` is wall time.

    A lease ends in time if it expires by then. One that was taken for a session's edits ends with its turn, and of that
    nobody knows how long it takes: one that has lasted longer than we could wait is taken to go on. So a turn that is
    short enough to be waited for always is, and whoever has waited in vain does not wait again. Who stands before in
    line is no reason not to stand there as well.
    """
    return all(each.is_waiting or _may_end(each, leases, now + seconds, now - seconds) for each in conflicts)


def _may_end(conflict: Conflict, leases: Collection[Lease], by: float, since: float) -> bool:
    if conflict.expires_at <= by:
        return True
    of_turn = [each for each in leases if each.holder == conflict.holder and each.acquisition_id in OURS]
    is_of_turn = any(conflict.held in each.keys for each in of_turn)
    return is_of_turn and min(each.granted_at for each in of_turn) >= since
