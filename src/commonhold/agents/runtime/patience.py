"""Decide whether a lease of another session is likely to end while a hook may still wait for it. Pure."""

from collections.abc import Collection, Iterable

from commonhold.kernel.lease import Conflict, Lease
from commonhold.kernel.purposes import OURS


def is_worth_waiting(conflicts: Iterable[Conflict], leases: Collection[Lease], seconds: float, now: float) -> bool:
    """Return whether all `conflicts` may end within `seconds`.

    `leases` are those of the holders; `now` is wall time.

    A lease ends in time if it expires by then. A lease for a session's edits ends with its turn, whose length cannot be
    known. A turn that has already lasted longer than `seconds` is assumed to continue. So every turn of at most
    `seconds` is waited for, and a session that has waited in vain does not wait again. A session that is ahead in line
    is no reason not to wait.
    """
    return all(each.is_waiting or _may_end(each, leases, now + seconds, now - seconds) for each in conflicts)


def _may_end(conflict: Conflict, leases: Collection[Lease], by: float, since: float) -> bool:
    if conflict.expires_at <= by:
        return True
    of_turn = [each for each in leases if each.holder == conflict.holder and each.acquisition_id in OURS]
    is_of_turn = any(conflict.held in each.keys for each in of_turn)
    return is_of_turn and min(each.granted_at for each in of_turn) >= since
