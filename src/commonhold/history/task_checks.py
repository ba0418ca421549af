"""PURE: decide again on the commands behind the events about tasks, and compare the results.

A transition and the change of its lease are recorded together, so they are decided again together. A claim is decided
again for the task that was given: the labels that the session asked for are not recorded, so the choice is not.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from commonhold.history.lease_checks import epoch_of, is_due, table_of
from commonhold.kernel.clock import Now
from commonhold.kernel.events import Event, LeaseBroken, LeaseGranted, LeaseReleased, Recorded
from commonhold.kernel.projection import State
from commonhold.kernel.task import Move, Result, TaskAdded, TaskMoved, TaskRecord, TaskState
from commonhold.tasks import commands
from commonhold.tasks.board import Board
from commonhold.tasks.capabilities import all_required
from commonhold.tasks.decide import decide

_NOT_NAMED: Final = "replay"
_LAST: Final = " (attempt "
_SHARED: Final = ("holder", "is_proposed")
"""The fields that all events of one command share."""


@dataclass(frozen=True, slots=True)
class _Derived:
    """A command, the instant of its decision, and how many events it recorded (0: as many as it records now).

    `ended` is the id of a lease that had ended by then, although its end is recorded later or not at all.
    """

    command: commands.TaskCommand
    now: Now
    count: int = 0
    ended: str = ""


def decided_again(state: State, events: Sequence[Recorded]) -> tuple[Event, ...] | None:
    """Return the events that the decision behind the first of `events` has again; None if it is not about a task.

    `events` are those recorded from there on, at least those of its transaction. Raises KeyError if a task is unknown.
    """
    derived = _derived(state, events)
    if derived is None:
        return None
    first = events[0]
    leases = {each.id: each for each in state.leases.values() if each.id != derived.ended}
    table = table_of(replace(state, leases=leases), derived.now.epoch, first.sequence)
    capabilities = all_required(each.task for each in state.tasks.values())
    made = decide(Board(state.tasks, table, capabilities), derived.command, derived.now).events
    return made[: derived.count] if derived.count else made


def _derived(state: State, events: Sequence[Recorded]) -> _Derived | None:
    first = events[0]
    now = Now(_NOT_NAMED, 0.0, first.at)
    command: commands.TaskCommand | None = None
    match first.event:
        case TaskAdded(holder=holder):
            added = [e.event.task for e in _together(events) if isinstance(e.event, TaskAdded)]
            return _Derived(commands.AddTasks(holder, tuple(added), first.event.is_proposed), now)
        case LeaseGranted(lease=lease) if (moved := _next_move(events, Move.CLAIM)) and moved.lease_id == lease.id:
            at = Now(lease.deadline.epoch, lease.deadline.ticks - lease.ttl_seconds, first.at)
            return _Derived(commands.ClaimTask(lease.holder, lease.id, lease.ttl_seconds, moved.task_id), at, 2)
        case LeaseReleased(lease_id=lease_id) | LeaseBroken(lease_id=lease_id):
            ended = _next_move(events, Move.FINISH, Move.RETURN, Move.EXHAUST, Move.CANCEL)
            if ended is not None and state.tasks[ended.task_id].lease_id == lease_id:
                return _Derived(_ending(state.tasks[ended.task_id], ended), now)
        case TaskMoved() as moved:
            record = state.tasks[moved.task_id]
            if record.state is TaskState.CLAIMED and moved.move in (Move.RETURN, Move.EXHAUST):
                return _Derived(commands.SettleTasks(_NOT_NAMED), now, 1, _ended(state, record, events))
            command = _ALONE[moved.move](record, moved, first.at)
            if moved.reserved_until is not None:
                now = Now(moved.reserved_until.epoch, moved.reserved_until.ticks - _until(moved, first.at), first.at)
        case _:
            pass
    return _Derived(command, now, 1) if command else None


def _together(events: Sequence[Recorded]) -> Sequence[Recorded]:
    """Return the leading events that were recorded at the same instant, and are of the kind of the first."""
    first = events[0]
    count = next(
        (
            index
            for index, each in enumerate(events)
            if each.at != first.at
            or type(each.event) is not type(first.event)
            or any(getattr(each.event, name, None) != getattr(first.event, name, None) for name in _SHARED)
        ),
        len(events),
    )
    return events[:count]


def _next_move(events: Sequence[Recorded], *moves: Move) -> TaskMoved | None:
    """Return the transition that was recorded right after the first event, if it is one of these."""
    if len(events) > 1 and events[1].at == events[0].at:
        event = events[1].event
        if isinstance(event, TaskMoved) and event.move in moves:
            return event
    return None


def _ending(record: TaskRecord, moved: TaskMoved) -> commands.TaskCommand:
    """Return the command that ended a claim by this transition."""
    match moved.move:
        case Move.FINISH:
            return commands.FinishTask(moved.holder, record.id, moved.result or Result(), record.fence, moved.note)
        case Move.CANCEL:
            return commands.CancelTask(moved.holder, record.id, moved.note)
        case _:
            return commands.FailTask(moved.holder, record.id, record.fence, moved.note.partition(_LAST)[0])


def _ended(state: State, record: TaskRecord, events: Sequence[Recorded]) -> str:
    """Return the id of the lease of a claim, if its deadline had passed by the first of `events`."""
    lease = state.leases.get(record.lease_id)
    return record.lease_id if lease is None or is_due(lease.deadline, events[0], epoch_of(events)) else ""


def _result(record: TaskRecord) -> str:
    return record.result.commit if record.result else ""


def _until(moved: TaskMoved, at: float) -> float:
    return moved.reserved_until.wall - at if moved.reserved_until else 0.0


_ALONE: Final[Mapping[Move, Callable[[TaskRecord, TaskMoved, float], commands.TaskCommand]]] = {
    Move.ACCEPT: lambda task, moved, _: commands.AcceptTask(moved.holder, task.id, moved.note),
    Move.DECLINE: lambda task, moved, _: commands.DeclineTask(moved.holder, task.id, moved.note),
    Move.CLAIM: lambda *_: commands.SettleTasks(_NOT_NAMED),
    Move.HAND_OVER: lambda *_: commands.SettleTasks(_NOT_NAMED),
    Move.RETURN: lambda *_: commands.SettleTasks(_NOT_NAMED),
    Move.FINISH: lambda task, moved, _: commands.FinishTask(
        moved.holder, task.id, moved.result or Result(), task.fence, moved.note
    ),
    Move.LAND: lambda task, moved, _: commands.LandTask(
        moved.holder, task.id, _result(task), moved.attempt, moved.note
    ),
    Move.STRAND: lambda task, moved, _: commands.StrandTask(
        moved.holder, task.id, _result(task), moved.attempt, moved.note
    ),
    Move.UNDO: lambda task, moved, _: commands.UndoTask(
        moved.holder, task.id, task.result.admitted if task.result else (), moved.attempt, moved.note
    ),
    Move.REFUSE: lambda task, moved, at: commands.RefuseTask(moved.holder, task.id, moved.note, _until(moved, at)),
    Move.EXHAUST: lambda task, moved, _: commands.RefuseTask(
        moved.holder, task.id, moved.note.partition(_LAST)[0], 0.0
    ),
    Move.CANCEL: lambda task, moved, _: commands.CancelTask(moved.holder, task.id, moved.note),
    Move.REOPEN: lambda task, moved, _: commands.ReopenTask(moved.holder, task.id, moved.note),
}
"""The commands of transitions that changed no lease."""
