"""Decisions on leases: `decide(table, command, now)` gives the answer and the events that make it so."""

from dataclasses import dataclass, replace
from typing import Generic, TypeVar, overload

from commonhold.domain.clock import Now, deadline
from commonhold.domain.commands import Acquire, Release, Renew
from commonhold.domain.events import Event, LeaseDenied, LeaseExpired, LeaseGranted, LeaseReleased, LeaseRenewed
from commonhold.domain.lease import Denied, Granted, Lease, NotHeld, Released, Renewed, conflicts
from commonhold.domain.refusal import Refusal

A_co = TypeVar("A_co", bound=Granted | Denied | Renewed | Released | NotHeld, covariant=True)


@dataclass(frozen=True, slots=True)
class LeaseTable:
    """The part of the state that a decision looks at.

    `leases` must hold every lease that overlaps the keys asked for, or the one lease that is named. Those that have
    run out stand in nobody's way. `next_fence` is greater than every fence granted so far.
    """

    leases: tuple[Lease, ...]
    next_fence: int


@dataclass(frozen=True, slots=True)
class Decision(Generic[A_co]):
    """An answer, and the events that must be recorded with it in one transaction."""

    answer: A_co
    events: tuple[Event, ...] = ()


@overload
def decide(table: LeaseTable, command: Acquire, now: Now) -> Decision[Granted | Denied]: ...
@overload
def decide(table: LeaseTable, command: Renew, now: Now) -> Decision[Renewed | NotHeld]: ...
@overload
def decide(table: LeaseTable, command: Release, now: Now) -> Decision[Released | NotHeld]: ...
def decide(
    table: LeaseTable, command: Acquire | Renew | Release, now: Now
) -> Decision[Granted | Denied | Renewed | Released | NotHeld]:
    """Answer one command."""
    if isinstance(command, Acquire):
        return _acquire(table, command, now)
    if isinstance(command, Renew):
        return _renew(table, command, now)
    return _release(table, command, now)


def expire(leases: tuple[Lease, ...], now: Now) -> tuple[LeaseExpired, ...]:
    """The events for those of `leases` that have run out."""
    return tuple(LeaseExpired(lease.holder, lease.id, lease.deadline) for lease in leases if not lease.is_live(now))


def _acquire(table: LeaseTable, command: Acquire, now: Now) -> Decision[Granted | Denied]:
    keys = tuple(map(str, command.keys))
    found = conflicts(command.keys, command.mode, command.holder, table.leases, now)
    if found:
        return Decision(Denied(found), (LeaseDenied(command.holder, command.task, keys, command.mode, found),))
    lease = Lease(
        id=command.lease_id,
        fence=table.next_fence,
        holder=command.holder,
        task=command.task,
        keys=keys,
        mode=command.mode,
        acquisition_id=command.acquisition_id,
        granted_at=now.wall,
        deadline=deadline(now, command.ttl_seconds),
    )
    return Decision(Granted(lease), (LeaseGranted(lease),))


def _renew(table: LeaseTable, command: Renew, now: Now) -> Decision[Renewed | NotHeld]:
    held = _held(table, command.lease_id, command.holder, now)
    if isinstance(held, NotHeld):
        return Decision(held)
    until = deadline(now, command.ttl_seconds)
    return Decision(Renewed(replace(held, deadline=until)), (LeaseRenewed(held.holder, held.id, until),))


def _release(table: LeaseTable, command: Release, now: Now) -> Decision[Released | NotHeld]:
    held = _held(table, command.lease_id, command.holder, now)
    if isinstance(held, NotHeld):
        return Decision(held)
    return Decision(Released(held), (LeaseReleased(held.holder, held.id),))


def _held(table: LeaseTable, lease_id: str, holder: str, now: Now) -> Lease | NotHeld:
    """The live lease with that id, if `holder` holds it."""
    lease = next((lease for lease in table.leases if lease.id == lease_id and lease.is_live(now)), None)
    if lease is None:
        why = f"there is no live lease {lease_id}: it was released, has expired, or never was"
        return NotHeld(Refusal.LEASE_LOST, lease_id, why)
    if lease.holder != holder:
        why = f"the lease {lease_id} is held by {lease.holder}, not by {holder}"
        return NotHeld(Refusal.NOT_HOLDER, lease_id, why)
    return lease
