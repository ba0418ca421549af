"""Estimate how long a waiter in line will probably wait."""

from collections.abc import Collection, Container, Iterable
from statistics import median

from commonhold.kernel.clock import Now
from commonhold.kernel.events import LeaseGranted, LeaseReleased, Recorded
from commonhold.kernel.lease import Conflict


def estimated_wait_seconds(recent: Iterable[Recorded], conflicts: Collection[Conflict], ahead: int, now: Now) -> float:
    """Return the typical lease time, once for the holder (at most to the end) and once for each of `ahead`.

    It is an estimate, no promise: a holder may renew, or fail to come back.
    """
    held_until = max((each.expires_at for each in conflicts if not each.is_waiting), default=now.wall)
    remaining = max(0.0, held_until - now.wall)
    typical = _typical_seconds(recent, {each.held for each in conflicts})
    first = remaining if typical is None else min(typical, remaining)
    return first + ahead * (remaining if typical is None else typical)


def _typical_seconds(recent: Iterable[Recorded], keys: Container[str]) -> float | None:
    """Return the median time from grant to release of leases on `keys`."""
    granted: dict[str, float] = {}
    lasted = []
    for recorded in recent:
        match recorded.event:
            case LeaseGranted(lease) if any(key in keys for key in lease.keys):
                granted[lease.id] = recorded.at
            case LeaseReleased(_, lease_id) if lease_id in granted:
                lasted.append(recorded.at - granted[lease_id])
            case _:
                pass
    return median(lasted) if lasted else None
