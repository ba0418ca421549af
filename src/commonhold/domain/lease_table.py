"""Decisions on leases: `decide(table, command, now)` gives the answer and the events that make it so."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar, assert_never

from commonhold.domain.changeset import Refusal
from commonhold.domain.clock import Now, deadline
from commonhold.domain.commands import Acquire, Release, Renew
from commonhold.domain.events import Event, LeaseDenied, LeaseExpired, LeaseGranted, LeaseReleased, LeaseRenewed
from commonhold.domain.lease import (
    Conflict,
    Denied,
    Granted,
    Lease,
    NotHeld,
    Released,
    Renewed,
    conflicts_between,
)

Command = Acquire | Renew | Release
Changed = Renewed | Released | NotHeld
Answer = Granted | Denied | Changed
A_co = TypeVar("A_co", bound=Answer, covariant=True)


@dataclass(frozen=True, slots=True)
class LeaseTable:
    """The part of the state that a decision looks at.

    `leases` must hold every lease that overlaps the keys asked for, or the one lease that is named, expired ones
    too. `next_fence` is greater than every fence granted so far.
    """

    leases: tuple[Lease, ...]
    next_fence: int


@dataclass(frozen=True, slots=True)
class Decision(Generic[A_co]):
    """An answer, and the events that must be recorded with it in one transaction."""

    answer: A_co
    events: tuple[Event, ...]


def decide(table: LeaseTable, command: Command, now: Now) -> Decision[Answer]:
    """Answer one command. Leases that have run out are recorded as expired first and stand in nobody's way."""
    match command:
        case Acquire():
            return acquire(table, command, now)
        case Renew() | Release():
            return change(table, command, now)
        case _:
            assert_never(command)


def expire(leases: Iterable[Lease], now: Now) -> tuple[LeaseExpired, ...]:
    """The events for those of `leases` that have run out."""
    return tuple(LeaseExpired(lease.holder, lease.id, lease.deadline) for lease in leases if not lease.is_live(now))


def acquire(table: LeaseTable, command: Acquire, now: Now) -> Decision[Granted | Denied]:
    """Grant all the keys, or name every conflict."""
    expired = expire(table.leases, now)
    conflicts = _conflicts(table.leases, command, now)
    keys = tuple(map(str, command.keys))
    if conflicts:
        denial = LeaseDenied(command.holder, command.task, keys, command.mode, conflicts)
        return Decision(Denied(conflicts), (*expired, denial))
    lease = Lease(
        id=command.lease_id,
        fence=table.next_fence + len(expired),
        holder=command.holder,
        task=command.task,
        keys=keys,
        mode=command.mode,
        acquisition_id=command.acquisition_id,
        granted_at=now.wall,
        deadline=deadline(now, command.ttl_seconds),
    )
    return Decision(Granted(lease), (*expired, LeaseGranted(lease)))


def _conflicts(leases: Iterable[Lease], command: Acquire, now: Now) -> tuple[Conflict, ...]:
    live = [lease for lease in leases if lease.is_live(now)]
    found = (conflicts_between(key, command.mode, command.holder, lease) for key in command.keys for lease in live)
    return tuple(conflict for conflict in found if conflict is not None)


def change(table: LeaseTable, command: Renew | Release, now: Now) -> Decision[Changed]:
    """Renew or end the one lease that the command names, if it is live and the caller's."""
    lease = next((lease for lease in table.leases if lease.id == command.lease_id), None)
    if lease is None:
        why = f"there is no live lease {command.lease_id}: it was released, has expired, or never was"
        return Decision(NotHeld(Refusal.LEASE_LOST, command.lease_id, why), ())
    if lease.holder != command.holder:
        why = f"the lease {lease.id} is held by {lease.holder}, not by {command.holder}"
        return Decision(NotHeld(Refusal.NOT_HOLDER, lease.id, why), ())
    if not lease.is_live(now):
        why = f"the lease {lease.id} has expired"
        return Decision(NotHeld(Refusal.LEASE_LOST, lease.id, why), expire([lease], now))
    if isinstance(command, Release):
        return Decision(Released(lease), (LeaseReleased(lease.holder, lease.id),))
    until = deadline(now, command.ttl_seconds)
    return Decision(Renewed(replace(lease, deadline=until)), (LeaseRenewed(lease.holder, lease.id, until),))
