"""The state as a fold of the event log (invariant I9)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Final, TypeVar, assert_never

from commonhold.kernel.entry import EntryAdded, EntryMoved, EntryRecord, added_entry, moved_entry
from commonhold.kernel.events import (
    Committed,
    DebtWaived,
    Event,
    LeaseBroken,
    LeaseClaimed,
    LeaseExpired,
    LeaseGranted,
    LeaseHandedOver,
    LeaseQueued,
    LeaseReleased,
    LeaseRenewed,
    Recorded,
    ReleaseAsked,
    ValuePut,
    WaiterLeft,
    WaiterSeen,
    WorkLeft,
    WorkReviewed,
)
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.managed_session import (
    ManagedSessionRecord,
    SessionMoved,
    SessionQueued,
    moved_session,
    queued_session,
)
from commonhold.kernel.obligations import Debt, place_of_debt
from commonhold.kernel.partial_work import PartialWork
from commonhold.kernel.run import (
    ItemMoved,
    ItemRecord,
    RunMoved,
    RunPlanned,
    RunRecord,
    RunStarted,
    moved_item,
    moved_run,
    planned_items,
    planned_run,
    started_run,
)
from commonhold.kernel.task import TaskAdded, TaskMoved, TaskRecord, added_record, moved_record
from commonhold.kernel.values import Value

V = TypeVar("V")
Change = LeaseRenewed | LeaseClaimed | ReleaseAsked | LeaseHandedOver
"""The events that leave a lease live."""


@dataclass(frozen=True, slots=True)
class State:
    """The state that a log results in.

    Live leases and places in line, by id; leases that expired or were broken and whose partial work has not been
    searched for yet (`lost`), and partial work not yet reviewed, by id of the lease; values by key; open debts by
    worktree and key; the commits on each path; tasks by id; runs by id, and their items by run and task;
    entries of the merge queue and managed sessions by id.
    """

    sequence: int = 0
    leases: dict[str, Lease] = field(default_factory=dict)
    waiters: dict[str, Waiter] = field(default_factory=dict)
    lost: dict[str, Lease] = field(default_factory=dict)
    works: dict[str, PartialWork] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    debts: dict[str, Debt] = field(default_factory=dict)
    commits: dict[str, tuple[int, ...]] = field(default_factory=dict)
    tasks: dict[str, TaskRecord] = field(default_factory=dict)
    runs: dict[str, RunRecord] = field(default_factory=dict)
    run_items: dict[tuple[str, str], ItemRecord] = field(default_factory=dict)
    entries: dict[str, EntryRecord] = field(default_factory=dict)
    managed_sessions: dict[str, ManagedSessionRecord] = field(default_factory=dict)


def fold(log: Iterable[Recorded]) -> State:
    """The state after all events of `log`, which must be whole and in order."""
    return reduce(apply, log, State())


def apply(state: State, recorded: Recorded) -> State:
    """The state after one more event."""
    state = replace(state, sequence=recorded.sequence)
    applied = _FOLDS.get(type(recorded.event))
    return state if applied is None else applied(state, recorded.event, recorded)


def _granted(state: State, event: LeaseGranted, _: Recorded) -> State:
    lease = event.lease
    return replace(state, leases={**state.leases, lease.id: lease}, waiters=_without(state.waiters, lease.id))


def _released(state: State, event: LeaseReleased, _: Recorded) -> State:
    return replace(state, leases=_without(state.leases, event.lease_id))


def _lost(state: State, event: LeaseExpired | LeaseBroken, _: Recorded) -> State:
    lease = state.leases[event.lease_id]
    lost = {**state.lost, lease.id: lease} if leaves_work(lease) else state.lost
    return replace(state, leases=_without(state.leases, lease.id), lost=lost)


def _changed(state: State, event: Change, recorded: Recorded) -> State:
    changed = changed_lease(state.leases[event.lease_id], event, recorded.sequence)
    return replace(state, leases={**state.leases, changed.id: changed})


def _queued(state: State, event: LeaseQueued, _: Recorded) -> State:
    return replace(state, waiters={**state.waiters, event.waiter.id: event.waiter})


def _seen(state: State, event: WaiterSeen, _: Recorded) -> State:
    seen = replace(state.waiters[event.lease_id], deadline=event.deadline)
    return replace(state, waiters={**state.waiters, seen.id: seen})


def _left_the_line(state: State, event: WaiterLeft, _: Recorded) -> State:
    return replace(state, waiters=_without(state.waiters, event.lease_id))


def _put(state: State, event: ValuePut, recorded: Recorded) -> State:
    value = Value(event.key, recorded.sequence, event.text, event.holder, recorded.at)
    return replace(state, values={**state.values, event.key: value})


def _work_left(state: State, event: WorkLeft, recorded: Recorded) -> State:
    lease, works = state.lost[event.lease_id], state.works
    if event.changes:
        works = {**works, lease.id: partial_work(lease, event, recorded.at)}
    return replace(state, lost=_without(state.lost, lease.id), works=works)


def _reviewed(state: State, event: WorkReviewed, _: Recorded) -> State:
    return replace(state, works=_without(state.works, event.lease_id))


def _waived(state: State, event: DebtWaived, _: Recorded) -> State:
    return replace(state, debts=_without(state.debts, place_of_debt(event.worktree, event.key)))


def changed_lease(lease: Lease, change: Change, sequence: int) -> Lease:
    """The lease after an event that leaves it live."""
    match change:
        case LeaseRenewed(_, _, until, ttl_seconds):
            return replace(lease, deadline=until, is_claimed=True, ttl_seconds=ttl_seconds or lease.ttl_seconds)
        case LeaseClaimed(_, _, until, worktree, bases):
            return replace(lease, deadline=until, is_claimed=True, worktree=worktree, bases=bases)
        case ReleaseAsked(_, _, wish):
            return replace(lease, wish=wish)
        case LeaseHandedOver(_, _, to):
            return replace(lease, holder=to, fence=sequence, wish=None)
        case _:
            assert_never(change)


def partial_work(lease: Lease, left: WorkLeft, at: float) -> PartialWork:
    """The partial work that was found under a lost lease."""
    return PartialWork(lease.id, lease.holder, lease.task, lease.worktree, left.changes, at)


def leaves_work(lease: Lease) -> bool:
    """Whether there may be partial work under a lease that its holder loses."""
    return bool(lease.bases)


def _without(mapping: dict[str, V], name: str) -> dict[str, V]:
    return {key: kept for key, kept in mapping.items() if key != name}


def _committed(state: State, commit: Committed, recorded: Recorded) -> State:
    settled = {place_of_debt(commit.worktree, key) for key in commit.settled}
    debts = {place: debt for place, debt in state.debts.items() if place not in settled}
    debts |= {debt.place: debt for debt in commit.debts}
    commits = dict(state.commits)
    for change in commit.files:
        commits[change.path] = (*commits.get(change.path, ()), recorded.sequence)
    return replace(state, debts=debts, commits=commits)


def _task_added(state: State, event: TaskAdded, recorded: Recorded) -> State:
    added = added_record(event, recorded.sequence, recorded.at)
    return replace(state, tasks={**state.tasks, added.id: added})


def _task_moved(state: State, event: TaskMoved, recorded: Recorded) -> State:
    moved = moved_record(state.tasks[event.task_id], event, recorded.at)
    return replace(state, tasks={**state.tasks, moved.id: moved})


def _run_started(state: State, event: RunStarted, recorded: Recorded) -> State:
    started = started_run(event, recorded.sequence, recorded.at)
    return replace(state, runs={**state.runs, started.id: started})


def _run_planned(state: State, event: RunPlanned, recorded: Recorded) -> State:
    items = {(each.run_id, each.task_id): each for each in planned_items(event, recorded.sequence, recorded.at)}
    planned = planned_run(state.runs[event.run_id], event)
    return replace(state, runs={**state.runs, planned.id: planned}, run_items={**state.run_items, **items})


def _run_moved(state: State, event: RunMoved, recorded: Recorded) -> State:
    moved = moved_run(state.runs[event.run_id], event, recorded.at)
    return replace(state, runs={**state.runs, moved.id: moved})


def _item_moved(state: State, event: ItemMoved, recorded: Recorded) -> State:
    key = event.run_id, event.task_id
    moved = moved_item(state.run_items[key], event, recorded.sequence, recorded.at)
    return replace(state, run_items={**state.run_items, key: moved})


def _entry_added(state: State, event: EntryAdded, recorded: Recorded) -> State:
    added = added_entry(event, recorded.sequence, recorded.at)
    return replace(state, entries={**state.entries, added.id: added})


def _entry_moved(state: State, event: EntryMoved, recorded: Recorded) -> State:
    moved = moved_entry(state.entries[event.entry_id], event, recorded.sequence, recorded.at)
    return replace(state, entries={**state.entries, moved.id: moved})


def _session_queued(state: State, event: SessionQueued, recorded: Recorded) -> State:
    queued = queued_session(event, recorded.sequence, recorded.at)
    return replace(state, managed_sessions={**state.managed_sessions, queued.id: queued})


def _session_moved(state: State, event: SessionMoved, recorded: Recorded) -> State:
    moved = moved_session(state.managed_sessions[event.session_id], event, recorded.sequence, recorded.at)
    return replace(state, managed_sessions={**state.managed_sessions, moved.id: moved})


_FOLDS: Final[Mapping[type[Event], Callable[[State, Any, Recorded], State]]] = {
    LeaseGranted: _granted,
    LeaseReleased: _released,
    LeaseExpired: _lost,
    LeaseBroken: _lost,
    LeaseRenewed: _changed,
    LeaseClaimed: _changed,
    ReleaseAsked: _changed,
    LeaseHandedOver: _changed,
    LeaseQueued: _queued,
    WaiterSeen: _seen,
    WaiterLeft: _left_the_line,
    ValuePut: _put,
    WorkLeft: _work_left,
    WorkReviewed: _reviewed,
    DebtWaived: _waived,
    Committed: _committed,
    TaskAdded: _task_added,
    TaskMoved: _task_moved,
    RunStarted: _run_started,
    RunPlanned: _run_planned,
    RunMoved: _run_moved,
    ItemMoved: _item_moved,
    EntryAdded: _entry_added,
    EntryMoved: _entry_moved,
    SessionQueued: _session_queued,
    SessionMoved: _session_moved,
}
