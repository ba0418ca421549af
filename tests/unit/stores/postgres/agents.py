"""What tests let agents do with one key, and what the log must then look like."""

from collections.abc import Iterable
from typing import Any

from commonhold.kernel.commands import Acquire, Release
from commonhold.kernel.events import LeaseBroken, LeaseExpired, LeaseGranted, LeaseReleased, Recorded
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import Lease
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Granted
from commonhold.leases.registry import TableRegistry
from commonhold.stores.postgres.tables import PostgresTables


def registry(tables: PostgresTables) -> TableRegistry:
    return TableRegistry(tables, tables)


def wish(name: str, holder: str = "one", key: str = "account:12345", ttl: float = 600.0, **rest: Any) -> Acquire:
    return Acquire(name, "acq", holder, "", (canonical(key),), Mode.EXCLUSIVE, ttl, **rest)


def grant(tables: PostgresTables, name: str, **rest: Any) -> Lease:
    outcome = registry(tables).execute(wish(name, **rest))
    assert isinstance(outcome, Granted)
    return outcome.lease


def release(tables: PostgresTables, lease: Lease) -> None:
    registry(tables).execute(Release(lease.id, lease.holder))


def fences_of(tables: PostgresTables, holder: str, rounds: int) -> list[int]:
    """Try to get the key so many times, and give it back each time: the fences."""
    wishes = (wish(f"{holder}-{number}", holder) for number in range(rounds))
    fences = []
    for each in wishes:
        outcome = registry(tables).execute(each)
        if isinstance(outcome, Granted):
            fences.append(outcome.lease.fence)
            release(tables, outcome.lease)
    return fences


def log_of(tables: PostgresTables) -> list[Recorded]:
    log: list[Recorded] = []
    with tables.read() as view:
        while more := view.events(after=log[-1].sequence if log else 0):
            log += more
    return log


def granted_alone(log: Iterable[Recorded]) -> list[int]:
    """The fences of all grants, in order. Nobody was ever granted anything while another held it."""
    fences: list[int] = []
    live: set[str] = set()
    for recorded in log:
        match recorded.event:
            case LeaseGranted(lease):
                assert not live
                live.add(lease.id)
                fences.append(lease.fence)
            case LeaseReleased() | LeaseExpired() | LeaseBroken() as event:
                live.remove(event.lease_id)
            case _:
                pass
    return fences
