"""PURE: the reasons for an event, as far as the log tells them, and how it went on."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from commonhold.history.ledger import Ledger, changes
from commonhold.history.wording import for_, named
from commonhold.kernel.entry import EntryMoved
from commonhold.kernel.events import (
    CommitRefused,
    Committed,
    CommitUndone,
    DebtWaived,
    Event,
    LeaseBroken,
    LeaseDenied,
    LeaseExpired,
    LeaseGranted,
    LeaseQueued,
    Leaving,
    Recorded,
    ReleaseAsked,
    WaiterLeft,
    WorkReviewed,
)
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import Conflict
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.run import ItemMoved, RunMove, RunMoved, RunStarted
from commonhold.kernel.task import Move, TaskMoved
from commonhold.kernel.texts import duration, listed, quoted, short_name
from commonhold.kernel.write_slots import path_of_slot, shown_key

_MOST: Final = 3


def reasons(recorded: Recorded, ledger: Ledger) -> tuple[str, ...]:
    """Return why it happened, a sentence each; empty if the event says all of it."""
    found = _REASONS.get(type(recorded.event))
    return tuple(found(recorded, recorded.event, ledger)) if found else ()


def code_of(event: Event) -> str:
    """Return the code of a refusal; empty for other events."""
    match event:
        case CommitRefused(code=code):
            return code.value
        case LeaseDenied():
            return Refusal.LOCK_CONFLICT.value
        case WaiterLeft(why=Leaving.DEADLOCK):
            return Refusal.DEADLOCK.value
        case _:
            return ""


def _granted(recorded: Recorded, event: LeaseGranted, ledger: Ledger) -> Iterator[str]:
    queued = next((each for each in ledger.of_lease(event.lease.id) if isinstance(each.event, LeaseQueued)), None)
    if queued is None:
        yield "No other session had a lease on these keys, or on a part of them, that excludes this one."
        return
    yield f"It had waited since event {queued.sequence}, for {duration(recorded.at - queued.at)}."
    freed = [
        each
        for each in (ledger.end_of(_lease_id(grant)) for grant in _in_the_way(queued, ledger))
        if each is not None and each.sequence < recorded.sequence
    ]
    yield from (f"{_ended(each)} (event {each.sequence})." for each in freed[-_MOST:])


def _lease_id(grant: Recorded) -> str:
    assert isinstance(grant.event, LeaseGranted)  # noqa: S101 - `Ledger.held_at` returns grants
    return grant.event.lease.id


def _in_the_way(recorded: Recorded, ledger: Ledger) -> tuple[Recorded, ...]:
    event = recorded.event
    if isinstance(event, LeaseQueued):
        return ledger.held_at(recorded, map(canonical, event.waiter.keys), event.waiter.holder)
    return ()


def _ended(end: Recorded) -> str:
    lease_id, holder = getattr(end.event, "lease_id", ""), short_name(getattr(end.event, "holder", ""))
    return f"The lease {lease_id} of {holder} ended"


def _denied(recorded: Recorded, event: LeaseDenied, ledger: Ledger) -> Iterator[str]:
    yield from (f"{_conflict(each, recorded)}." for each in event.conflicts[:_MOST])
    if len(event.conflicts) > _MOST:
        yield f"{len(event.conflicts) - _MOST} more conflicts stood in the way."
    for each in ledger.after(recorded):
        later = each.event
        if isinstance(later, LeaseGranted) and (later.lease.holder, later.lease.keys) == (event.holder, event.keys):
            yield f"It got the keys {duration(each.at - recorded.at)} later, by event {each.sequence}."
            return


def _conflict(conflict: Conflict, recorded: Recorded) -> str:
    holder = short_name(conflict.holder)
    if (path := path_of_slot(conflict.held)) is not None:
        return f"{holder} was writing {path}"
    if conflict.is_waiting:
        return f"{holder} was before it in line for {shown_key(conflict.held)}{for_(conflict.task)}"
    left = duration(max(0.0, conflict.expires_at - recorded.at))
    return (
        f"{holder} held {shown_key(conflict.held)} ({conflict.mode}){for_(conflict.task)}, for another {left} at least"
    )


def _queued(recorded: Recorded, _: LeaseQueued, ledger: Ledger) -> Iterator[str]:
    grants = _in_the_way(recorded, ledger)
    for each in grants[:_MOST]:
        lease = each.event.lease if isinstance(each.event, LeaseGranted) else None
        if lease is not None:
            by = short_name(ledger.holder_at(each, recorded))
            yield f"{by} held {named(lease.keys)}{for_(lease.task)} by the lease {lease.id} (event {each.sequence})."
    if not grants:
        yield "Others were before it in line."


def _left(recorded: Recorded, event: WaiterLeft, ledger: Ledger) -> Iterator[str]:
    match event.why:
        case Leaving.TIMED_OUT:
            yield "It gave no sign of life in the time for which a place in line is kept."
        case Leaving.DEADLOCK:
            yield "Each session of a circle waited for a lease of the next: the youngest place in line gives way."
        case Leaving.DONE:
            yield "It had asked for work that is done once for all, and another session has done it."
        case Leaving.CANCELLED:
            pass
    queued = next((each for each in ledger.of_lease(event.lease_id) if isinstance(each.event, LeaseQueued)), None)
    if queued is not None:
        yield f"It had waited since event {queued.sequence}, for {duration(recorded.at - queued.at)}."


def _expired(recorded: Recorded, event: LeaseExpired, _: Ledger) -> Iterator[str]:
    late = max(0.0, recorded.at - event.deadline.wall)
    yield f"Its holder gave no sign of life in time; the end was noticed {duration(late)} after the deadline."


def _broken(_: Recorded, event: LeaseBroken, __: Ledger) -> Iterator[str]:
    yield f"{short_name(event.by)} gave the reason {quoted(event.reason)}."


def _asked(_: Recorded, event: ReleaseAsked, __: Ledger) -> Iterator[str]:
    yield f"The reason given was {quoted(event.wish.why)}."


def _noted(_: Recorded, event: WorkReviewed | DebtWaived, __: Ledger) -> Iterator[str]:
    if event.note:
        yield f"The note says {quoted(event.note)}."


def _committed(recorded: Recorded, event: Committed, ledger: Ledger) -> Iterator[str]:
    for merge in event.merged[:_MOST]:
        others = list(islice(ledger.commits_on([merge.key], recorded, event.holder), 1))
        by = f" by {_commit(others[0])}" if others else ", outside Commonhold"
        yield f"{merge.key} was changed{by} after the text that the edit was based on; both changes were merged."
    if event.unadmitted:
        yield f"A tool or a command had made the change already; a commit would have been refused: {event.unadmitted}."
    yield from (f"It changed the contract of {each.key}: {each.what}." for each in event.contracts[:_MOST])
    yield from (f"It left a debt at {debt.key}: {debt.why}." for debt in event.debts[:_MOST])
    if event.settled:
        yield f"It settled the debts at {listed(event.settled, _MOST)}."
    undos = (
        each
        for each in ledger.after(recorded)
        if isinstance(each.event, Committed) and recorded.sequence in each.event.undoes
    )
    yield from (f"{_commit(each)} took it back." for each in islice(undos, 1))


def _commit(recorded: Recorded) -> str:
    event = recorded.event
    assert isinstance(event, Committed)  # noqa: S101 - callers pass commits
    return f"{short_name(event.holder)} (event {recorded.sequence}){for_(event.intent)}"


def _refused(recorded: Recorded, event: CommitRefused, ledger: Ledger) -> Iterator[str]:
    yield f"{event.why[:1].upper()}{event.why[1:]}."
    keys = tuple(map(canonical, ledger.keys_of(event)))
    if event.code in (Refusal.REGION_CHANGED, Refusal.CONTRACT_CHANGED, Refusal.READ_CHANGED):
        commits = ledger.commits_on([str(key) for key in keys], recorded, event.holder)
        yield from (f"{_commit(each)} had changed it." for each in islice(commits, _MOST))
    if event.code is Refusal.LOCK_CONFLICT:
        for each in ledger.held_at(recorded, keys, event.holder)[:_MOST]:
            yield f"{short_name(ledger.holder_at(each, recorded))} had got its lease by event {each.sequence}."
    for each in ledger.after(recorded):
        later = each.event
        if isinstance(later, Committed) and later.holder == event.holder and changes(ledger.keys_of(later), keys):
            yield f"It changed the same place {duration(each.at - recorded.at)} later, by event {each.sequence}."
            return


def _undone(_: Recorded, event: CommitUndone, __: Ledger) -> Iterator[str]:
    if event.left:
        yield f"Others had changed {listed(event.left, _MOST)} meanwhile, so that was not touched."


def _moved(_: Recorded, event: TaskMoved, ledger: Ledger) -> Iterator[str]:
    if event.note:
        yield f"The note says {quoted(event.note)}."
    if event.move is Move.CLAIM:
        yield f"It holds the task by the lease {event.lease_id} with the fence {event.fence}."
    if event.move is Move.RETURN and event.lease_id and (end := ledger.end_of(event.lease_id)):
        yield f"{_ended(end)} (event {end.sequence})."
    if event.reserved_for:
        yield f"For a while only {short_name(event.reserved_for)} can claim it again."
    if event.result and event.result.commit:
        yield f"Its result is the commit {event.result.commit[:12]}."
    if event.result and event.result.admitted:
        yield f"Its result: the commits in events {listed([str(each) for each in event.result.admitted], _MOST)}."


def _landing(_: Recorded, event: EntryMoved, __: Ledger) -> Iterator[str]:
    if event.note:
        yield f"The note says {quoted(event.note)}."
    if event.packet is not None:
        yield f"It cannot land, since {event.packet.why}."


def _coordinated(_: Recorded, event: RunStarted | RunMoved, __: Ledger) -> Iterator[str]:
    if isinstance(event, RunMoved) and event.note:
        yield f"The note says {quoted(event.note)}."
    if isinstance(event, RunStarted) or event.move is RunMove.RESUME:
        yield f"It coordinates the run by the lease {event.lease_id} with the fence {event.fence}."


def _stepped(_: Recorded, event: ItemMoved, __: Ledger) -> Iterator[str]:
    told = [part.why for part in (event.locks, event.outcome) if part]
    if event.note and event.note not in told:  # roles often post one text as note and reason
        yield f"The note says {quoted(event.note)}."
    if event.locks and event.locks.why:
        yield f"Its lock plan is {event.locks.locking.value}: {event.locks.why}."
    outcome = event.outcome
    if outcome and outcome.code:
        yield f"The refusal was {outcome.code}{f': {outcome.why}' if outcome.why else ''}."
    if outcome and outcome.admitted:
        count = len(outcome.admitted)
        numbers = listed([str(each) for each in outcome.admitted], _MOST)
        yield f"Its commit is the event {numbers}." if count == 1 else f"Its commits are the events {numbers}."


_REASONS: Final[Mapping[type[Event], Callable[[Recorded, Any, Ledger], Iterator[str]]]] = {
    LeaseGranted: _granted,
    LeaseDenied: _denied,
    LeaseQueued: _queued,
    WaiterLeft: _left,
    LeaseExpired: _expired,
    LeaseBroken: _broken,
    ReleaseAsked: _asked,
    WorkReviewed: _noted,
    DebtWaived: _noted,
    Committed: _committed,
    CommitRefused: _refused,
    CommitUndone: _undone,
    TaskMoved: _moved,
    RunStarted: _coordinated,
    RunMoved: _coordinated,
    EntryMoved: _landing,
    ItemMoved: _stepped,
}
