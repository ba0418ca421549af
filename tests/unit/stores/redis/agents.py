"""Agents that lease one key, again and again."""

import time
from collections.abc import Iterable
from uuid import uuid4

from commonhold.kernel.commands import Acquire, Release
from commonhold.kernel.events import LeaseGranted, Recorded
from commonhold.kernel.keys import Key, canonical
from commonhold.kernel.lease import Lease
from commonhold.kernel.lease_ports import Registry
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Granted, Outcome
from commonhold.kernel.projection import State, apply

KEY = "account:12345"


def wish(holder: str = "one", *keys: Key, lease_id: str = "", ttl: float = 600.0) -> Acquire:
    lease_id = lease_id or f"lease-{uuid4()}"
    return Acquire(lease_id, lease_id, holder, "a task", keys or (canonical(KEY),), Mode.EXCLUSIVE, ttl)


def granted(outcome: Outcome) -> Lease:
    assert isinstance(outcome, Granted), outcome
    return outcome.lease


def grant(registry: Registry, holder: str = "one", *keys: Key) -> Lease:
    return granted(registry.execute(wish(holder, *keys)))


def fence(registry: Registry) -> int:
    """Lease a key for a moment."""
    lease = grant(registry, "one", Key("moment", (str(uuid4()),)))
    registry.execute(Release(lease.id, lease.holder))
    return lease.fence


def compete(registry: Registry, holder: str, seconds: float) -> list[int]:
    """Ask for one key for so long, and until it was granted at least once; the fences of all grants."""
    fences: list[int] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end or not fences:
        outcome = registry.execute(wish(holder))
        if isinstance(outcome, Granted):
            fences.append(outcome.lease.fence)
            registry.execute(Release(outcome.lease.id, holder))
    return fences


def whole_log(registry: Registry) -> tuple[Recorded, ...]:
    with registry.read() as view:
        return view.events(limit=1_000_000)


def granted_alone(log: Iterable[Recorded]) -> list[int]:
    """The fences of all grants, each of which was made when nobody held anything."""
    state, fences = State(), []
    for recorded in log:
        if isinstance(recorded.event, LeaseGranted):
            assert not state.leases
            fences.append(recorded.sequence)
        state = apply(state, recorded)
    return fences
