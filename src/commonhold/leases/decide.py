"""Decisions on leases: `decide(table, command, now)` gives the outcome and the events that make it so."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from commonhold.kernel.clock import Now, deadline
from commonhold.kernel.commands import (
    Acquire,
    Ask,
    Break,
    Command,
    HandOver,
    Heartbeat,
    Put,
    RecordPartialWork,
    Release,
    Renew,
    Review,
)
from commonhold.kernel.events import (
    Event,
    LeaseBroken,
    LeaseClaimed,
    LeaseDenied,
    LeaseHandedOver,
    LeaseReleased,
    LeaseRenewed,
    Leaving,
    ReleaseAsked,
    ValuePut,
    WorkLeft,
    WorkReviewed,
)
from commonhold.kernel.keys import Key, canonical
from commonhold.kernel.lease import Conflict, Lease, Waiter, Wish, conflicts, overlapping_claims, shares_slots
from commonhold.kernel.lease_table import ENDED_BESIDE, LeaseTable, Turn
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import (
    Acknowledged,
    Asked,
    Broken,
    Cancelled,
    Denied,
    Done,
    Granted,
    HandedOver,
    NotHeld,
    NothingLeft,
    NotStored,
    Outcome,
    Queued,
    Released,
    Renewed,
    Stored,
)
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.texts import short_name, short_names
from commonhold.kernel.values import Value, result_key
from commonhold.leases.deadlock import stuck, victim

O_co = TypeVar("O_co", bound=Outcome, covariant=True)
T = TypeVar("T", bound=Outcome)


@dataclass(frozen=True, slots=True)
class Decision(Generic[O_co]):
    """An outcome, and the events that must be recorded with it in one transaction."""

    outcome: O_co
    events: tuple[Event, ...] = ()


def decide(table: LeaseTable, command: Command[T], now: Now) -> Decision[T]:
    """Answer one command. Expired leases end first; waiters are served before and after the command."""
    turn = Turn(table, now)
    turn.clear()
    # Leaving is about the holder, who may be long dead; all else is a sign of life.
    if not isinstance(command, RecordPartialWork):
        turn.hear(command.holder, besides=getattr(command, "lease_id", None))
    _settle(turn)
    outcome: T = _DECISIONS[type(command)](turn, table, command)
    _settle(turn)
    return Decision(outcome, tuple(turn.events))


def _settle(turn: Turn) -> None:
    """Serve the waiters; if leases that ended or changed hands closed a cycle, its youngest waiter gives way."""
    if not turn.waiters:
        return
    turn.serve()
    while loser := stuck(turn):
        turn.leave(loser, Leaving.DEADLOCK)
        turn.serve()


def _acquire(turn: Turn, table: LeaseTable, command: Acquire) -> Granted | Queued | Denied | NotHeld | Done:
    known = turn.leases.get(command.lease_id) or turn.waiters.get(command.lease_id)
    if known:
        return _ask_again(turn, known, command)
    if command.is_once and table.values:
        return Done(table.values[0])
    if command.replaces and isinstance(lost := _held(turn, command.replaces, command.holder), NotHeld):
        return lost
    return _begin(turn, command)


def _ask_again(turn: Turn, known: Lease | Waiter, command: Acquire) -> Granted | Queued | Denied:
    if not _is_same(known, command):
        return Denied((), Refusal.ID_IN_USE)
    return _take(turn, known, command) if isinstance(known, Lease) else _queued(turn, turn.see(known))


def _begin(turn: Turn, command: Acquire) -> Granted | Queued | Denied:
    if not command.slots and turn.is_free_of_others(command.holder):
        return _grant(turn, command)
    waiter = _waiter(turn, command)
    if dividing := turn.dividing_otherwise(waiter):
        return _deny(turn, waiter, Refusal.SLOTS_DIFFER, dividing)
    if not turn.before(waiter):
        return _grant(turn, command)
    return _deny(turn, waiter, Refusal.LOCK_CONFLICT) if command.patience_seconds is None else _wait(turn, command)


def _is_same(known: Lease | Waiter, command: Acquire) -> bool:
    keys = tuple(map(str, command.keys))
    mine = (command.holder, command.mode, keys, command.slots, command.is_once)
    return (known.holder, known.mode, known.keys, known.slots, known.is_once) == mine


def _take(turn: Turn, lease: Lease, command: Acquire) -> Granted:
    """Give a lease to the holder that asks (again) for it."""
    if lease.is_claimed:
        return Granted(lease, turn.wished(lease.holder))
    until = deadline(turn.now, command.ttl_seconds)
    claimed = LeaseClaimed(lease.holder, lease.id, until, command.worktree, command.bases)
    return Granted(turn.change(lease, claimed), turn.wished(lease.holder))


def _waiter(turn: Turn, command: Acquire) -> Waiter:
    patience = command.patience_seconds or 0.0
    return Waiter(
        id=command.lease_id,
        number=turn.next_sequence,
        holder=command.holder,
        task=command.task,
        keys=tuple(map(str, command.keys)),
        mode=command.mode,
        acquisition_id=command.acquisition_id,
        queued_at=turn.now.wall,
        deadline=deadline(turn.now, patience),
        patience_seconds=patience,
        ttl_seconds=command.ttl_seconds,
        replaces=command.replaces,
        slots=command.slots,
        is_once=command.is_once,
    )


def _grant(turn: Turn, command: Acquire) -> Granted:
    lease = Lease(
        id=command.lease_id,
        fence=turn.next_sequence,
        holder=command.holder,
        task=command.task,
        keys=tuple(map(str, command.keys)),
        mode=command.mode,
        acquisition_id=command.acquisition_id,
        granted_at=turn.now.wall,
        deadline=deadline(turn.now, command.ttl_seconds),
        ttl_seconds=command.ttl_seconds,
        worktree=command.worktree,
        bases=command.bases,
        slots=command.slots,
        is_once=command.is_once,
    )
    lease = turn.grant(lease, command.replaces)
    return Granted(lease, turn.wished(lease.holder))


def _deny(turn: Turn, waiter: Waiter, code: Refusal, claims: Sequence[Lease | Waiter] | None = None) -> Denied:
    found = _conflicts(waiter, turn.before(waiter) if claims is None else claims)
    turn.events.append(LeaseDenied(waiter.holder, waiter.task, waiter.keys, waiter.mode, found))
    return Denied(found, code)


def _conflicts(waiter: Waiter, claims: Sequence[Lease | Waiter]) -> tuple[Conflict, ...]:
    return overlapping_claims(map(canonical, waiter.keys), claims)


def _wait(turn: Turn, command: Acquire) -> Granted | Queued | Denied:
    """Stand in line, unless that would close a circle: then its youngest member gives way."""
    losers = _losers(turn, _waiter(turn, command))
    if losers is None:
        return _deny(turn, _waiter(turn, command), Refusal.DEADLOCK)
    for loser in losers:
        turn.leave(loser, Leaving.DEADLOCK)
    waiter = _waiter(turn, command)
    if not turn.before(waiter):
        return _grant(turn, command)
    turn.queue(waiter)
    return _queued(turn, waiter)


def _losers(turn: Turn, waiter: Waiter) -> list[Waiter] | None:
    """Return the waiters that must leave the line so that `waiter` can wait; None if it must not wait itself."""
    waiters = (*turn.waiters.values(), waiter)
    trial = Turn(LeaseTable(tuple(turn.leases.values()), turn.next_sequence, waiters), turn.now)
    losers = []
    while loser := victim(trial, waiter):
        if loser.id == waiter.id:
            return None
        trial.leave(loser, Leaving.DEADLOCK)
        losers.append(loser)
    return losers


def _queued(turn: Turn, waiter: Waiter) -> Queued:
    claims = turn.before(waiter)
    ahead = sum(isinstance(claim, Waiter) for claim in claims)
    return Queued(waiter, ahead + 1, _conflicts(waiter, claims))


def _held(turn: Turn, lease_id: str, holder: str) -> Lease | NotHeld:
    """The live lease with that id, if `holder` holds it."""
    lease = _live(turn, lease_id)
    if isinstance(lease, Lease) and lease.holder != holder:
        why = f"the lease {lease_id} is held by {short_name(lease.holder)}, not by {short_name(holder)}"
        return NotHeld(Refusal.NOT_HOLDER, lease_id, why)
    return lease


def _live(turn: Turn, lease_id: str) -> Lease | NotHeld:
    lease = turn.leases.get(lease_id)
    if lease is not None:
        return lease
    why = f"there is no live lease {lease_id}: it was released, has expired, or never was"
    return NotHeld(Refusal.LEASE_LOST, lease_id, why)


def _renew(turn: Turn, _: LeaseTable, command: Renew) -> Renewed | NotHeld:
    held = _held(turn, command.lease_id, command.holder)
    if isinstance(held, NotHeld):
        return held
    until = deadline(turn.now, command.ttl_seconds)
    return Renewed(turn.change(held, LeaseRenewed(held.holder, held.id, until, command.ttl_seconds)))


def _release(turn: Turn, _: LeaseTable, command: Release) -> Released | Cancelled | NotHeld:
    waiter = turn.waiters.get(command.lease_id)
    if waiter is not None and waiter.holder == command.holder and command.result is None:
        turn.leave(waiter, Leaving.CANCELLED)
        return Cancelled(waiter)
    held = _held(turn, command.lease_id, command.holder)
    if isinstance(held, NotHeld):
        return held
    if command.result is None:
        turn.end(held, LeaseReleased(held.holder, held.id))
    elif held.is_once:
        turn.finish(held, command.result)
    else:
        return NotHeld(Refusal.NOT_ONCE, held.id, f"the lease {held.id} keeps no result: it is not for work done once")
    return Released(held)


def _break(turn: Turn, _: LeaseTable, command: Break) -> Broken | NotHeld:
    lease = _live(turn, command.lease_id)
    if isinstance(lease, NotHeld):
        return lease
    turn.end(lease, LeaseBroken(lease.holder, lease.id, command.holder, command.reason))
    return Broken(lease)


def _ask(turn: Turn, _: LeaseTable, command: Ask) -> Asked | NotHeld:
    lease = _live(turn, command.lease_id)
    if isinstance(lease, NotHeld):
        return lease
    return Asked(turn.change(lease, ReleaseAsked(lease.holder, lease.id, Wish(command.holder, command.why))))


def _hand_over(turn: Turn, _: LeaseTable, command: HandOver) -> HandedOver | NotHeld | Denied:
    """Hand a lease over, unless another lease, of the giver or anybody else, conflicts with the new holder."""
    held = _held(turn, command.lease_id, command.holder)
    if isinstance(held, NotHeld):
        return held
    others = [lease for lease in turn.leases.values() if lease.id != held.id and not shares_slots(lease, held)]
    if found := conflicts(map(canonical, held.keys), held.mode, command.to, others, turn.now):
        return Denied(found)
    return HandedOver(turn.change(held, LeaseHandedOver(held.holder, held.id, command.to)))


def _put(turn: Turn, table: LeaseTable, command: Put) -> Stored | NotStored:
    """Store a value if nothing that it was based on has changed (invariant I3)."""
    values = {value.key: value for value in table.values}
    if refused := _why_not_authorised(turn, command) or _why_stale(values, command):
        return refused
    key = str(command.key)
    value = Value(key, turn.next_sequence, command.text, command.holder, turn.now.wall)
    turn.events.append(ValuePut(command.holder, key, command.text))
    return Stored(value)


def _why_not_authorised(turn: Turn, command: Put) -> NotStored | None:
    mine = [lease for lease in turn.leases.values() if lease.holder == command.holder and lease.covers(command.key)]
    held = [lease for lease in mine if lease.mode is Mode.EXCLUSIVE and lease.slots <= 1]
    if command.fence is not None and command.fence not in {lease.fence for lease in held}:
        by = short_name(command.holder)
        why = f"no live exclusive lease of {by} with the fence {command.fence} covers {command.key}"
        return NotStored(Refusal.LEASE_LOST, why)
    if command.must_hold and not held:
        return NotStored(Refusal.LEASE_REQUIRED, f"{command.key} may be changed under an exclusive lease only")
    found = conflicts((command.key,), Mode.EXCLUSIVE, command.holder, turn.leases.values(), turn.now)
    holders = short_names(sorted(conflict.holder for conflict in found))
    return NotStored(Refusal.LOCK_CONFLICT, f"{holders} holds {command.key}", conflicts=found) if found else None


def _why_stale(values: Mapping[str, Value], command: Put) -> NotStored | None:
    key = str(command.key)
    current = values.get(key, Value(key))
    if current.version != command.expected_version:
        why = f"{key} has version {current.version}, not {command.expected_version}"
        return NotStored(Refusal.VERSION_CHANGED, why, (current,))
    reads = [(read, values.get(read.key, Value(read.key))) for read in command.reads]
    changed = tuple(value for read, value in reads if value.version != read.version)
    if not changed:
        return None
    names = ", ".join(value.key for value in changed)
    return NotStored(Refusal.READ_CHANGED, f"{names} changed since you read it", changed)


def _show(_: Turn, __: LeaseTable, ___: Heartbeat) -> Acknowledged:
    return Acknowledged()


def _leave(turn: Turn, table: LeaseTable, command: RecordPartialWork) -> Acknowledged | NothingLeft:
    if table.lost is None:
        return NothingLeft(command.lease_id)
    turn.events.append(WorkLeft(command.holder, command.lease_id, command.changes))
    return Acknowledged()


def _review(turn: Turn, table: LeaseTable, command: Review) -> Acknowledged | NothingLeft:
    if table.work is None:
        return NothingLeft(command.lease_id)
    turn.events.append(WorkReviewed(command.holder, command.lease_id, command.note))
    return Acknowledged(table.work)


_DECISIONS: Final[Mapping[type[Command[Any]], Callable[[Turn, LeaseTable, Any], Any]]] = {
    Acquire: _acquire,
    Renew: _renew,
    Release: _release,
    Break: _break,
    Ask: _ask,
    HandOver: _hand_over,
    Put: _put,
    Heartbeat: _show,
    RecordPartialWork: _leave,
    Review: _review,
}


def most_ended_beside(command: Command[Any]) -> int:
    """How many expired leases that do not concern a command it ends all the same.

    None for Leave: the work under many leases is left in one transaction.
    """
    return 0 if isinstance(command, RecordPartialWork) else ENDED_BESIDE


def keys_of(command: Command[Any]) -> tuple[Key, ...]:
    """The keys whose leases a command needs to see."""
    match command:
        case Acquire():
            return command.keys
        case Put():
            return (command.key,)
        case _:
            return ()


def value_keys_of(command: Command[Any]) -> tuple[str, ...]:
    """The keys whose values a command needs to see."""
    match command:
        case Put():
            return (str(command.key), *(read.key for read in command.reads))
        case Acquire(is_once=True):
            return (result_key(str(command.keys[0])),)
        case _:
            return ()
