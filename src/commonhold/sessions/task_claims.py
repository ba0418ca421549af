"""The task of a managed session: claimed with the session, and done, failed or given back with its end.

Each of these is part of the decision on the session, in one transaction. The claim ends with the turn, so its lease
needs no renewal: it lasts as long as the turn may.
"""

from collections.abc import Iterable
from typing import Final

from commonhold.kernel import commands as leases
from commonhold.kernel.clock import Now
from commonhold.kernel.lease import MAX_TTL_SECONDS
from commonhold.kernel.managed_session import ManagedSessionRecord, SessionMove, SessionMoved
from commonhold.kernel.task import Move, Result, TaskMoved, TaskRecord, TaskState
from commonhold.tasks.board import Board, Running, why_not
from commonhold.tasks.commands import (
    REFUSAL_PATIENCE_SECONDS,
    ClaimTask,
    FailTask,
    FinishTask,
    RefuseTask,
    TaskClaimed,
)
from commonhold.tasks.decide import claim, fail, finish, refuse
from commonhold.tasks.offers import can_claim
from commonhold.tasks.turn import TaskTurn

_ENDING_SECONDS: Final = 600.0
"""How much longer than its agent a turn may last: until its processes have ended and its work is kept."""


def blocked_by_tasks(records: Iterable[ManagedSessionRecord], board: Board, now: Now) -> dict[str, str]:
    """Return, by the ids of the sessions whose task cannot be claimed now, the reason as a clause."""
    blocked, running = {}, Running(board, now)
    for record in records:
        name, worker = record.session.task_id, record.session.worker
        task = board.tasks.get(name)
        if not name or (task and can_claim(task, board, worker, now) and not running.is_leased(task, worker)):
            continue
        why = why_not(task, board.tasks, now) if task is not None else "it does not exist"
        why = why or "it is for others, or its key is leased"
        blocked[record.id] = f"the task {name} cannot be claimed: {why}"
    return blocked


def claim_task(turn: TaskTurn, record: ManagedSessionRecord, lease_id: str, *, attached: str = "") -> bool:
    """Claim the task of a session that begins a turn. Return whether it can begin.

    A turn of a person who is `attached` has no timeout.
    """
    session = record.session
    if not session.task_id:
        return True
    seconds = MAX_TTL_SECONDS if attached else session.timeout_seconds + _ENDING_SECONDS
    command = ClaimTask(session.worker, f"{lease_id}-task", seconds, session.task_id)
    return isinstance(claim(turn, command), TaskClaimed)


def end_claim(turn: TaskTurn, record: ManagedSessionRecord, event: SessionMoved) -> None:
    """End the claim of a turn, if it still holds: the task is done or has failed, or goes back without a count."""
    task, worker = turn.tasks.get(record.session.task_id), record.session.worker
    if task is None or (task.state, task.holder) != (TaskState.CLAIMED, worker):
        return
    if event.move is SessionMove.FINISH and event.result is not None:
        finish(turn, FinishTask(worker, task.id, Result(event.result.snapshot), task.fence))
    elif event.move is SessionMove.FAIL:
        fail(turn, FailTask(worker, task.id, task.fence, event.note))
    else:
        turn.lease(leases.Release(task.lease_id, worker))
        turn.move(task, TaskMoved(worker, task.id, Move.GIVE_BACK, task.attempt, event.note))


def follow_review(turn: TaskTurn, record: ManagedSessionRecord, event: SessionMoved) -> None:
    """Let a done task follow the end of the review: another commit was merged, or the work was refused."""
    task = _done_by(turn, record)
    if task is None or task.result is None:
        return
    if event.move is SessionMove.APPROVE:
        if event.commit and event.commit != task.result.commit:
            finish(turn, FinishTask(record.session.worker, task.id, Result(event.commit)))
        return
    # Only a session that is tried again will come for it.
    patience = REFUSAL_PATIENCE_SECONDS if event.move is SessionMove.RETRY else 0.0
    reason = event.note or f"the session {record.id} is tried again"
    refuse(turn, RefuseTask(event.holder, task.id, reason, patience))


def _done_by(turn: TaskTurn, record: ManagedSessionRecord) -> TaskRecord | None:
    """Return the task, if it is done with the work of just this session."""
    task = turn.tasks.get(record.session.task_id)
    if task is None or record.result is None or task.result is None or task.state is not TaskState.DONE:
        return None
    is_own = (task.holder, task.result.commit) == (record.session.worker, record.result.snapshot)
    return task if is_own else None
