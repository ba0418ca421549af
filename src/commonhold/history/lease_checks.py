"""PURE: decide again on the commands behind the events about leases and values, and compare the results.

An event does not contain its command, but enough of it: the command is derived from the event and the state before it.
`leases.decide` then gets that command, the state, and the instant at which the first decision was made. Leases whose
end is not recorded count as live: the end of a lease that concerns a decision is always recorded before it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from commonhold.kernel import commands
from commonhold.kernel.clock import Deadline, Now
from commonhold.kernel.events import (
    Event,
    LeaseBroken,
    LeaseClaimed,
    LeaseDenied,
    LeaseExpired,
    LeaseGranted,
    LeaseHandedOver,
    LeaseQueued,
    LeaseReleased,
    LeaseRenewed,
    Leaving,
    Recorded,
    ReleaseAsked,
    ValuePut,
    WaiterLeft,
    WaiterSeen,
    WorkLeft,
    WorkReviewed,
)
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.lease_table import LeaseTable
from commonhold.kernel.projection import State
from commonhold.kernel.values import RESULTS, Value, result_key
from commonhold.leases.decide import decide

FOREVER: Final = 1e12
_NOT_NAMED: Final = "replay"
_ELSEWHERE: Final = "replay:ended"
CLOCK_SKEW_SECONDS: Final = 60.0
"""By how much the wall clock may have been set back between the start of a lease and the record of its end."""


def decided_again(state: State, recorded: Recorded) -> tuple[Event, ...] | None:
    """Return the events that the decision behind this one has again, the first in its place; None if not derivable.

    Raises KeyError if the event names a lease or a place in line that the state does not have.
    """
    derive = _DERIVED.get(type(recorded.event))
    return derive(state, recorded, recorded.event) if derive else None


def end_is_due(state: State, events: Sequence[Recorded]) -> bool | None:
    """Whether the lease or place in line whose end by time is recorded had come to it; None for other events.

    `events` are those from the one in question on.
    """
    recorded = events[0]
    match recorded.event:
        case LeaseExpired(lease_id=lease_id, deadline=deadline):
            return state.leases[lease_id].deadline == deadline and is_due(deadline, recorded, epoch_of(events))
        case WaiterLeft(lease_id=lease_id, why=Leaving.TIMED_OUT):
            return is_due(state.waiters[lease_id].deadline, recorded, epoch_of(events))
        case _:
            return None


def is_due(deadline: Deadline, recorded: Recorded, epoch: str) -> bool:
    """Whether a deadline had passed when the event was recorded, in `epoch`: after a reboot all earlier ones have."""
    return deadline.wall <= recorded.at + CLOCK_SKEW_SECONDS or epoch not in ("", deadline.epoch)


def epoch_of(events: Iterable[Recorded]) -> str:
    """Return the epoch of the first deadline that one of these events sets; empty if none does."""
    for each in events:
        match each.event:
            case LeaseGranted(lease=claim) | LeaseQueued(waiter=claim):
                return claim.deadline.epoch
            case LeaseRenewed(deadline=deadline) | LeaseClaimed(deadline=deadline) | WaiterSeen(deadline=deadline):
                return deadline.epoch
            case _:
                pass
    return ""


def instant_of(state: State, recorded: Recorded, event: LeaseGranted | LeaseRenewed) -> Now:
    """Return the instant of the decision that gave a lease its deadline."""
    if isinstance(event, LeaseRenewed):
        return _instant(event.deadline, event.ttl_seconds or state.leases[event.lease_id].ttl_seconds, recorded)
    lease, waiter = event.lease, state.waiters.get(event.lease.id)
    return _instant(
        lease.deadline, lease.ttl_seconds if lease.is_claimed or not waiter else waiter.patience_seconds, recorded
    )


def table_of(state: State, epoch: str, sequence: int, *, but: Collection[str] = ()) -> LeaseTable:
    """Return all leases and places in line, which do not end; those whose ids are in `but` keep their deadlines."""

    def lasting(claim: Lease | Waiter) -> Deadline:
        return claim.deadline if claim.id in but else Deadline(epoch, FOREVER, claim.deadline.wall)

    return LeaseTable(
        tuple(replace(each, deadline=lasting(each)) for each in state.leases.values()),
        sequence,
        tuple(replace(each, deadline=lasting(each)) for each in state.waiters.values()),
    )


def _again(
    state: State,
    recorded: Recorded,
    command: commands.Command[Any],
    now: Now | None = None,
    *,
    but: Collection[str] = (),
    values: tuple[Value, ...] = (),
) -> tuple[Event, ...]:
    """Decide on a command in that state; the leases and places in line `but` keep their deadlines."""
    now = now or Now(_NOT_NAMED, 0.0, recorded.at)
    named = getattr(command, "lease_id", "")
    table = table_of(state, now.epoch, recorded.sequence, but=but)
    table = replace(table, values=values, lost=state.lost.get(named), work=state.works.get(named))
    return decide(table, command, now).events


def _instant(deadline: Deadline, seconds: float, recorded: Recorded) -> Now:
    """Return the instant at which `deadline` was `seconds` away."""
    return Now(deadline.epoch, deadline.ticks - seconds, recorded.at)


def _acquire(claim: Lease | Waiter) -> commands.Acquire:
    """Return the command that asked for a lease, or for a place in line."""
    command = commands.Acquire(
        lease_id=claim.id,
        acquisition_id=claim.acquisition_id,
        holder=claim.holder,
        task=claim.task,
        keys=tuple(map(canonical, claim.keys)),
        mode=claim.mode,
        ttl_seconds=claim.ttl_seconds,
        slots=claim.slots,
        is_once=claim.is_once,
    )
    if isinstance(claim, Lease):
        return replace(command, worktree=claim.worktree, bases=claim.bases)
    return replace(command, patience_seconds=claim.patience_seconds, replaces=claim.replaces)


def _granted(state: State, recorded: Recorded, event: LeaseGranted) -> tuple[Event, ...]:
    lease, waiter = event.lease, state.waiters.get(event.lease.id)
    now = instant_of(state, recorded, event)
    if waiter is None:
        return _again(state, recorded, _acquire(lease), now)[:1]
    # Waiters are served when a lease ends: so one that concerns no key ends just before.
    ended = replace(lease, id="", holder=_NOT_NAMED, keys=(_ELSEWHERE,), deadline=Deadline("", 0.0, 0.0))
    table = table_of(state, now.epoch, recorded.sequence - 1)
    table = replace(table, leases=(*table.leases, ended))
    return decide(table, commands.Heartbeat(_NOT_NAMED), now).events[1:2]


def _denied(state: State, recorded: Recorded, event: LeaseDenied) -> tuple[Event, ...] | None:
    if any(each.slots for each in state.leases.values()) or any(each.slots for each in state.waiters.values()):
        return None  # the event does not say into how many slots the key was to be divided
    keys = tuple(map(canonical, event.keys))
    return _again(
        state, recorded, commands.Acquire(_NOT_NAMED, _NOT_NAMED, event.holder, event.task, keys, event.mode, 1.0)
    )


def _queued(state: State, recorded: Recorded, event: LeaseQueued) -> tuple[Event, ...]:
    waiter = event.waiter
    return _again(state, recorded, _acquire(waiter), _instant(waiter.deadline, waiter.patience_seconds, recorded))


def _renewed(state: State, recorded: Recorded, event: LeaseRenewed) -> tuple[Event, ...]:
    now = instant_of(state, recorded, event)
    if event.ttl_seconds is not None:
        return _again(state, recorded, commands.Renew(event.lease_id, event.holder, event.ttl_seconds), now)
    return _again(state, recorded, commands.Heartbeat(event.holder), now, but=(event.lease_id,))


def _seen(state: State, recorded: Recorded, event: WaiterSeen) -> tuple[Event, ...]:
    waiter = state.waiters[event.lease_id]
    now = _instant(event.deadline, waiter.patience_seconds, recorded)
    return _again(state, recorded, _acquire(waiter), now, but=(waiter.id,))


def _claimed(state: State, recorded: Recorded, event: LeaseClaimed) -> tuple[Event, ...]:
    lease = state.leases[event.lease_id]
    command = replace(_acquire(lease), worktree=event.worktree, bases=event.bases)
    return _again(state, recorded, command, _instant(event.deadline, lease.ttl_seconds, recorded))


def _released(state: State, recorded: Recorded, event: LeaseReleased) -> tuple[Event, ...]:
    return _again(state, recorded, commands.Release(event.lease_id, event.holder))[:1]


def _left(state: State, recorded: Recorded, event: WaiterLeft) -> tuple[Event, ...] | None:
    match event.why:
        case Leaving.CANCELLED:
            return _again(state, recorded, commands.Release(event.lease_id, event.holder))[:1]
        case Leaving.DEADLOCK:
            # It may have given way to a waiter whose command is not recorded: then there is no circle without that one.
            events = _again(state, recorded, commands.Heartbeat(_NOT_NAMED))[:1]
            return events if events == (event,) else None
        case _:
            return None


def _broken(state: State, recorded: Recorded, event: LeaseBroken) -> tuple[Event, ...]:
    return _again(state, recorded, commands.Break(event.lease_id, event.by, event.reason))[:1]


def _asked(state: State, recorded: Recorded, event: ReleaseAsked) -> tuple[Event, ...]:
    return _again(state, recorded, commands.Ask(event.lease_id, event.wish.by, event.wish.why))


def _handed_over(state: State, recorded: Recorded, event: LeaseHandedOver) -> tuple[Event, ...]:
    return _again(state, recorded, commands.HandOver(event.lease_id, event.holder, event.to))[:1]


def _put(state: State, recorded: Recorded, event: ValuePut) -> tuple[Event, ...] | None:
    if event.key.startswith(f"{RESULTS}:"):
        done = [each for each in state.leases.values() if each.is_once and result_key(each.keys[0]) == event.key]
        mine = next((each for each in done if each.holder == event.holder), None)
        if mine is None:
            return ()
        events = _again(state, recorded, commands.Release(mine.id, event.holder, event.text))
        last = next((index for index, each in enumerate(events) if isinstance(each, LeaseReleased)), -1)
        return events[: last + 1]
    current = state.values.get(event.key, Value(event.key))
    command = commands.Put(canonical(event.key), event.holder, event.text, current.version)
    return _again(state, recorded, command, values=(current,) if current.version else ())


def _work_left(state: State, recorded: Recorded, event: WorkLeft) -> tuple[Event, ...]:
    command = commands.RecordPartialWork(event.lease_id, event.holder, event.changes)
    return _again(state, recorded, command)


def _reviewed(state: State, recorded: Recorded, event: WorkReviewed) -> tuple[Event, ...]:
    command = commands.Review(event.lease_id, event.holder, event.note)
    return _again(state, recorded, command)


_DERIVED: Final[Mapping[type[Event], Callable[[State, Recorded, Any], tuple[Event, ...] | None]]] = {
    LeaseGranted: _granted,
    LeaseDenied: _denied,
    LeaseQueued: _queued,
    LeaseRenewed: _renewed,
    WaiterSeen: _seen,
    WaiterLeft: _left,
    LeaseClaimed: _claimed,
    LeaseReleased: _released,
    LeaseBroken: _broken,
    ReleaseAsked: _asked,
    LeaseHandedOver: _handed_over,
    ValuePut: _put,
    WorkLeft: _work_left,
    WorkReviewed: _reviewed,
}
