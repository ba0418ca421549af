"""Decisions on tasks: `decide(board, command, now)` gives the outcome and the events that make it so.

A claim is a lease on `task:ID`. So a decision here contains a decision on leases (`leases.decide`), and all events are
recorded in one transaction: there is no claim without a lease, and no lease of a claim that the task does not name. A
lease ends by itself; the next command on any task then returns the task, before anything else is decided.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from commonhold.kernel import commands as leases
from commonhold.kernel.clock import Now, deadline
from commonhold.kernel.events import Event
from commonhold.kernel.keys import canonical
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Granted
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.task import Move, Result, TaskMoved, TaskRecord, TaskState
from commonhold.kernel.texts import short_name
from commonhold.tasks.board import Board, Waiting, task_key, why_not
from commonhold.tasks.commands import (
    AcceptTask,
    AddTasks,
    CancelTask,
    ClaimTask,
    Collisions,
    DeclineTask,
    Expected,
    FailTask,
    FinishTask,
    LandTask,
    NoTask,
    RefuseTask,
    ReopenTask,
    SettleTasks,
    StrandTask,
    TaskChanged,
    TaskClaimed,
    TaskCommand,
    TaskOutcome,
    TaskRefused,
    TasksAdded,
    TasksRefused,
    TasksSettled,
    UndoTask,
)
from commonhold.tasks.needs import check_needs, circle
from commonhold.tasks.offers import Offer, offers
from commonhold.tasks.turn import TaskTurn

_MOST_NAMED: Final = 20


@dataclass(frozen=True, slots=True)
class TaskDecision:
    """An outcome, and the events that must be recorded with it in one transaction."""

    outcome: TaskOutcome
    events: tuple[Event, ...]


def decide(board: Board, command: TaskCommand, now: Now) -> TaskDecision:
    """Answer one command. Tasks whose claims have ended are returned first.

    Raises InputError `TASK_UNKNOWN` for a task, or a need, that does not exist.
    """
    turn = TaskTurn(board, now)
    returned = turn.settle()
    outcome = TasksSettled(returned) if isinstance(command, SettleTasks) else _DECISIONS[type(command)](turn, command)
    return TaskDecision(outcome, tuple(turn.events))


def add(turn: TaskTurn, command: AddTasks) -> TasksAdded | TasksRefused:
    """Add all tasks or none; those that exist with the same definition stay as they are. Raises as `decide`."""
    known = [each for each in command.tasks if each.id in turn.tasks]
    changed = tuple(each.id for each in known if turn.tasks[each.id].task.declared != each.declared)
    named = Counter(each.id for each in command.tasks if each.id)
    twice = tuple(name for name, count in named.items() if count > 1)
    if twice or changed:
        why = "are in the list twice" if twice else "are there already, with another definition"
        return TasksRefused(Refusal.TASK_EXISTS, f"these tasks {why}: {', '.join(twice or changed)}", twice or changed)
    check_needs(command.tasks, turn.tasks)
    needs = {each.id: each.task.needs for each in turn.tasks.values()}
    if found := circle({**needs, **{each.id: each.needs for each in command.tasks if each.id}}):
        why = f"the needs form a circle, so none of these tasks could ever begin: {' -> '.join(found)}"
        return TasksRefused(Refusal.TASK_IN_CIRCLE, why, found)
    added = tuple(
        turn.add(command.holder, each, is_proposed=command.is_proposed)
        for each in command.tasks
        if each.id not in turn.tasks
    )
    return TasksAdded(added, tuple(each.id for each in known))


def _judge(turn: TaskTurn, command: AcceptTask | DeclineTask) -> TaskChanged | TaskRefused:
    """Accept or decline a proposed task."""
    record = turn.named(command.task_id)
    move = Move.ACCEPT if isinstance(command, AcceptTask) else Move.DECLINE
    if refused := _cannot(record, move, None):
        return refused
    if move is Move.ACCEPT and _agent_of(command.holder) == _agent_of(record.added_by):
        why = f"{short_name(record.added_by)} has proposed {record.id}, so another session or a person must accept it"
        return TaskRefused(Refusal.TASK_NOT_YOURS, why, record)
    return TaskChanged(turn.move(record, _moved(command.holder, record, move, command.note)))


def _agent_of(holder: str) -> str:
    """Return the session that a subagent belongs to; any other name as it is."""
    return holder.partition("/")[0]


def claim(turn: TaskTurn, command: ClaimTask) -> TaskClaimed | NoTask:
    """Claim the task that is wanted, or the best one. Raises as `decide`."""
    best = offers(turn.board, command.holder, turn.now, labels=command.labels)
    may_collide = command.collisions is Collisions.LAST
    free = [each for each in best if may_collide or not each.collisions]
    if command.wanted is not None:
        wanted = turn.named(command.wanted)
        free = [each for each in free if each.record.id == wanted.id]
        if not free:
            return _not_that(turn, command, wanted, best)
    return take(turn, command, free[0]) if free else _nothing(turn, command, best)


def take(turn: TaskTurn, command: ClaimTask, offer: Offer) -> TaskClaimed | NoTask:
    """Claim an offered task; refuse an id that belongs to another lease."""
    record = offer.record
    others = tuple(
        each.id for each in turn.tasks.values() if each.state is TaskState.CLAIMED and each.holder == command.holder
    )
    purpose = f"{record.id}: {record.task.title}"
    keys = (canonical(task_key(record.id)),)
    granted = turn.lease(
        leases.Acquire(
            command.lease_id, command.lease_id, command.holder, purpose, keys, Mode.EXCLUSIVE, command.ttl_seconds
        )
    )
    if not isinstance(granted, Granted):
        # `offers` leaves out the tasks whose own key is leased or waited for, so it can only be the id.
        return NoTask(Refusal.ID_IN_USE, f"the lease id {command.lease_id} belongs to another request")
    lease = granted.lease
    event = TaskMoved(
        command.holder,
        record.id,
        Move.CLAIM,
        record.attempt + 1,
        to=command.holder,
        lease_id=lease.id,
        fence=lease.fence,
    )
    return TaskClaimed(turn.move(record, event), lease, offer.collisions, others)


def _not_that(turn: TaskTurn, command: ClaimTask, wanted: TaskRecord, best: list[Offer]) -> NoTask:
    """Refuse the task that was asked for, and name the best one that is free."""
    offered = next((each for each in best if each.record.id == wanted.id), None)
    instead = next((each.record.id for each in best if each.record.id != wanted.id and not each.collisions), "")
    waiting = why_not(wanted, turn.tasks, turn.now)
    if wanted.state is TaskState.CLAIMED:
        is_own = wanted.holder == command.holder
        code, why = Refusal.TASK_TAKEN, f"{waiting} under the fence {wanted.fence}" if is_own else waiting
    elif waiting:
        code, why = Refusal.TASK_NOT_READY, waiting
    elif barred := turn.capabilities.why_barred(wanted.task, command.holder):
        code, why = Refusal.TASK_NOT_YOURS, barred
    elif offered is not None:
        code, why = Refusal.LOCK_CONFLICT, "its keys are in use"
    elif not set(command.labels) <= set(wanted.task.labels):
        code, why = Refusal.TASK_NOT_YOURS, f"it does not have the labels {', '.join(command.labels)}"
    else:
        code, why = Refusal.TASK_TAKEN, f"another session holds a lease on {task_key(wanted.id)}"
    line = Waiting(wanted.id, wanted.task.title, why)
    return NoTask(
        code, f"{wanted.id} cannot be claimed: {why}", (line,), instead, offered.collisions if offered else ()
    )


def _nothing(turn: TaskTurn, command: ClaimTask, best: list[Offer]) -> NoTask:
    """Say why there is no task for this session."""
    reasons = {each.record.id: "its keys are in use" for each in best}
    for record in turn.tasks.values():
        if not record.is_final and record.id not in reasons:
            why = why_not(record, turn.tasks, turn.now) or turn.capabilities.why_barred(record.task, command.holder)
            reasons[record.id] = why or "it does not have the labels that were asked for, or its key is leased"
    if not reasons:
        return NoTask(Refusal.NO_TASK, "there is no open task")
    waiting = tuple(Waiting(each, turn.tasks[each].task.title, why) for each, why in [*reasons.items()][:_MOST_NAMED])
    collisions = best[0].collisions if best else ()
    return NoTask(Refusal.NO_TASK, "no task is free for this session", waiting, collisions=collisions)


def finish(turn: TaskTurn, command: FinishTask) -> TaskChanged | TaskRefused:
    """End a claim with a result, or name another result of a task that is done. Raises as `decide`."""
    record = turn.named(command.task_id)
    if record.state is TaskState.DONE and command.result.commit:
        return TaskChanged(turn.move(record, _moved(command.holder, record, Move.FINISH, command.note, command.result)))
    if not _has_only_lapsed(record, command):
        if refused := _not_owner(record, command.holder, command.fence):
            return refused
        turn.end_lease(record, command.holder, "")
    done = turn.move(record, _moved(command.holder, record, Move.FINISH, command.note, command.result))
    if not command.result.commit:
        done = turn.move(done, _moved(command.holder, done, Move.LAND, command.note))
    return TaskChanged(done)


def _has_only_lapsed(record: TaskRecord, command: FinishTask) -> bool:
    """Whether a claim that has ended by itself was the last one: refusing its result would have the work done twice."""
    is_waiting = record.state in (TaskState.OPEN, TaskState.FAILED) and record.fence != 0
    return is_waiting and (record.attempts[-1].holder, record.fence) == (command.holder, command.fence)


def _moved(holder: str, record: TaskRecord, move: Move, note: str, result: Result | None = None) -> TaskMoved:
    return TaskMoved(holder, record.id, move, record.attempt, note, result=result)


def fail(turn: TaskTurn, command: FailTask) -> TaskChanged | TaskRefused:
    """End a claim without a result. Raises as `decide`."""
    record = turn.named(command.task_id)
    if refused := _not_owner(record, command.holder, command.fence):
        return refused
    turn.end_lease(record, command.holder, command.reason)
    return TaskChanged(turn.end_attempt(record, command.holder, command.reason))


def _not_owner(record: TaskRecord, holder: str, fence: int | None) -> TaskRefused | None:
    """Refuse a session that does not hold the claim. The fence counts too: several processes may share a name."""
    if record.state is not TaskState.CLAIMED:
        since = f" ({record.note})" if record.note else ""
        why = f"{record.id} is not claimed: it is {record.state.value}{since}"
        return TaskRefused(Refusal.TASK_CHANGED, why, record)
    if record.holder == holder and record.fence == fence:
        return None
    held = f"{record.id} is claimed by {short_name(record.holder)} under the fence {record.fence}"
    return TaskRefused(Refusal.TASK_TAKEN, f"{held}, not by {short_name(holder)} under {fence}", record)


def refuse(turn: TaskTurn, command: RefuseTask) -> TaskChanged | TaskRefused:
    """Return a done task to the session that did it, or fail it after its last attempt. Raises as `decide`."""
    record = turn.named(command.task_id)
    if refused := _cannot(record, Move.REFUSE, command.expected):
        return refused
    if record.is_worn_out:
        return TaskChanged(turn.end_attempt(record, command.holder, command.reason))
    until = deadline(turn.now, command.patience_seconds)
    event = replace(
        _moved(command.holder, record, Move.REFUSE, command.reason),
        reserved_for=record.holder,
        reserved_until=until,
    )
    return TaskChanged(turn.move(record, event))


def _cannot(record: TaskRecord, move: Move, expected: Expected | None) -> TaskRefused | None:
    if expected is not None and (record.state, record.attempt) != (expected.state, expected.attempt):
        why = f"{record.id} has moved on since: it is {record.state.value}, in attempt {record.attempt}"
        return TaskRefused(Refusal.TASK_CHANGED, why, record)
    if not record.can(move):
        why = f"{record.id} is {record.state.value}, so there is nothing to {_VERBS[move]}"
        return TaskRefused(Refusal.TASK_CHANGED, why, record)
    return None


def reach(turn: TaskTurn, command: LandTask | StrandTask) -> TaskChanged | TaskRefused:
    """Follow the target of a task: its commit has become part of it, or is no longer. Raises as `decide`."""
    record = turn.named(command.task_id)
    move = Move.LAND if isinstance(command, LandTask) else Move.STRAND
    if refused := _cannot(record, move, Expected(record.state, command.attempt)):
        return refused
    if record.result is None or record.result.commit != command.commit:
        return TaskRefused(Refusal.TASK_CHANGED, f"{record.id} has another commit by now", record)
    return TaskChanged(turn.move(record, _moved(command.holder, record, move, command.note)))


def _undo(turn: TaskTurn, command: UndoTask) -> TaskChanged | TaskRefused:
    record = turn.named(command.task_id)
    if refused := _cannot(record, Move.UNDO, Expected(record.state, command.attempt)):
        return refused
    if record.result is None or record.result.admitted != command.admitted:
        return TaskRefused(Refusal.TASK_CHANGED, f"{record.id} has other commits by now", record)
    return TaskChanged(turn.move(record, _moved(command.holder, record, Move.UNDO, command.reason)))


def _cancel(turn: TaskTurn, command: CancelTask) -> TaskChanged | TaskRefused:
    record = turn.named(command.task_id)
    if refused := _cannot(record, Move.CANCEL, command.expected):
        return refused
    if record.state is TaskState.CLAIMED:
        turn.end_lease(record, command.holder, command.reason)
    return TaskChanged(turn.move(record, _moved(command.holder, record, Move.CANCEL, command.reason)))


def _reopen(turn: TaskTurn, command: ReopenTask) -> TaskChanged | TaskRefused:
    record = turn.named(command.task_id)
    if refused := _cannot(record, Move.REOPEN, command.expected):
        return refused
    return TaskChanged(turn.move(record, _moved(command.holder, record, Move.REOPEN, command.reason)))


_VERBS: Final = {
    Move.ACCEPT: "accept",
    Move.DECLINE: "decline",
    Move.REFUSE: "refuse",
    Move.LAND: "land",
    Move.STRAND: "take back",
    Move.UNDO: "undo",
    Move.CANCEL: "cancel",
    Move.REOPEN: "reopen",
}

_DECISIONS: Final[Mapping[type[Any], Callable[[TaskTurn, Any], TaskOutcome]]] = {
    AddTasks: add,
    AcceptTask: _judge,
    DeclineTask: _judge,
    ClaimTask: claim,
    FinishTask: finish,
    FailTask: fail,
    RefuseTask: refuse,
    LandTask: reach,
    StrandTask: reach,
    UndoTask: _undo,
    CancelTask: _cancel,
    ReopenTask: _reopen,
}
