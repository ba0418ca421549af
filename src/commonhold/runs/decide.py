"""Decisions on runs: `decide(state, command, now)` gives the outcome and the events that make it so.

A decision on a run contains those on its tasks and on their leases: taking an item claims its task, accepting it lands
the task, stopping a run gives all claims back, each in one transaction. Before anything else, tasks whose claims have
ended are returned, and items follow tasks that were ended elsewhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from commonhold.kernel import commands as leases
from commonhold.kernel.clock import Now
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.events import Event
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import Lease
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Granted
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.run import (
    ItemMoved,
    ItemRecord,
    ItemState,
    ItemStep,
    Locking,
    LockPlan,
    Run,
    RunMove,
    RunMoved,
    RunPlanned,
    RunStarted,
    RunState,
)
from commonhold.kernel.task import Move, Result, TaskMoved, TaskState
from commonhold.kernel.texts import short_name
from commonhold.runs.choice import best_item, ready_tasks, waiting
from commonhold.runs.commands import (
    CancelRun,
    EndRun,
    ItemChanged,
    ItemTaken,
    NoItem,
    PlanRun,
    PostStep,
    ResumeRun,
    RunChanged,
    RunCommand,
    RunOutcome,
    RunRefused,
    StartRun,
    TakeItem,
)
from commonhold.runs.turn import Blackboard, RunTurn
from commonhold.tasks.commands import AddTasks, ClaimTask, TaskClaimed, TasksRefused
from commonhold.tasks.decide import add, take
from commonhold.tasks.offers import Offer

_POSTED: Final = frozenset(
    {
        *(ItemStep.PROPOSE, ItemStep.REFUSE, ItemStep.REPLAN, ItemStep.WRITE),
        *(ItemStep.ACCEPT, ItemStep.REJECT, ItemStep.GIVE_BACK, ItemStep.FAIL),
    }
)
"""The steps that a role may post; the others follow from them or from the tasks."""


@dataclass(frozen=True, slots=True)
class RunDecision:
    """An outcome, and the events that must be recorded with it in one transaction."""

    outcome: RunOutcome
    events: tuple[Event, ...]


def decide(state: Blackboard, command: RunCommand, now: Now) -> RunDecision:
    """Answer one command. A refused command changes nothing.

    Raises InputError `TASK_UNKNOWN` for a need that does not exist, and `RUN_UNKNOWN` for such a run.
    """
    turn = RunTurn(state, now)
    if state.run is None and not isinstance(command, StartRun):
        raise unknown(command.run_id)
    turn.follow()
    outcome = _DECISIONS[type(command)](turn, command)
    return RunDecision(outcome, () if isinstance(outcome, RunRefused) else tuple(turn.events))


def unknown(run_id: str) -> InputError:
    """Return the error for a run that does not exist."""
    return InputError(
        Code.RUN_UNKNOWN,
        f"there is no run {run_id!r}",
        hint="`commonhold run list --all` shows every run",
        fields={"run": run_id},
    )


def run_key(run_id: str) -> str:
    """Return the text of the key on which the coordination of a run is a lease."""
    return f"run:{run_id}"


def _start(turn: RunTurn, command: StartRun) -> RunChanged | RunRefused:
    run = Run(f"r{turn.tasks.next_sequence}", command.goal, command.checks, command.editor, isolated=command.isolated)
    lease = _lease(turn, run, command)
    if isinstance(lease, RunRefused):
        return lease
    turn.start(RunStarted(command.holder, run, lease.id, lease.fence))
    return _add(turn, command) if command.tasks else RunChanged(turn.run)


def _lease(turn: RunTurn, run: Run, command: StartRun | ResumeRun) -> Lease | RunRefused:
    keys = (canonical(run_key(run.id)),)
    outcome = turn.tasks.lease(
        leases.Acquire(
            command.lease_id,
            command.lease_id,
            command.holder,
            f"coordinates {run.id}: {run.goal}",
            keys,
            Mode.EXCLUSIVE,
            command.ttl_seconds,
        )
    )
    if isinstance(outcome, Granted):
        return outcome.lease
    return RunRefused(Refusal.LOCK_CONFLICT, f"{keys[0]} is leased, so {run.id} cannot be coordinated")


def _plan(turn: RunTurn, command: PlanRun) -> RunChanged | RunRefused:
    return _not_coordinator(turn, command.holder, command.fence) or _add(turn, command)


def _add(turn: RunTurn, command: StartRun | PlanRun) -> RunChanged | RunRefused:
    """Make tasks the items of the run: new ones, and those that exist with the same definition."""
    added = add(turn.tasks, AddTasks(command.holder, command.tasks))
    if isinstance(added, TasksRefused):
        return RunRefused(added.code, added.why, added.tasks)
    ids = (*(each.id for each in added.records), *added.unchanged)
    if busy := tuple(each for each in ids if each in turn.busy):
        runs = ", ".join(sorted({turn.busy[each] for each in busy}))
        why = f"these tasks are items of {runs}, which has not ended: {', '.join(busy)}"
        return RunRefused(Refusal.TASK_TAKEN, why, busy)
    new = tuple(each for each in ids if each not in turn.items)
    turn.plan(RunPlanned(command.holder, turn.run.id, new, command.usage if isinstance(command, PlanRun) else None))
    turn.follow()
    return RunChanged(turn.run, turn.changed)


def _resume(turn: RunTurn, command: ResumeRun) -> RunChanged | RunRefused:
    run = turn.run
    if not run.can(RunMove.RESUME):
        return RunRefused(Refusal.RUN_ENDED, f"{run.id} is {run.state.value}: there is nothing to resume")
    former = turn.live(run.lease_id)
    if former is not None:
        left = max(0.0, former.deadline.ticks - turn.now.ticks)
        why = f"{short_name(former.holder)} coordinates {run.id}; unless renewed, its lease ends in {left:.0f} s"
        return RunRefused(Refusal.RUN_TAKEN, why, retry_after_seconds=left)
    lease = _lease(turn, run.run, command)
    if isinstance(lease, RunRefused):
        return lease
    turn.move_run(RunMoved(command.holder, run.id, RunMove.RESUME, "", lease.id, lease.fence))
    return RunChanged(turn.run, turn.changed)


def _end(turn: RunTurn, command: EndRun) -> RunChanged | RunRefused:
    if refused := _not_coordinator(turn, command.holder, command.fence):
        return refused
    if command.move not in (RunMove.STOP, RunMove.COMPLETE, RunMove.FAIL):
        return RunRefused(Refusal.RUN_CHANGED, f"{turn.run.id} is not ended by {command.move.value}")
    if command.move is RunMove.COMPLETE and any(each.state is not ItemState.ACCEPTED for each in turn.changed):
        return RunRefused(Refusal.RUN_CHANGED, f"{turn.run.id} has items that are not accepted")
    turn.end(command.holder, command.move, command.note)
    return RunChanged(turn.run, turn.changed)


def _cancel(turn: RunTurn, command: CancelRun) -> RunChanged | RunRefused:
    if not turn.run.can(RunMove.CANCEL):
        return RunRefused(Refusal.RUN_ENDED, f"{turn.run.id} is {turn.run.state.value}: there is nothing to cancel")
    turn.end(command.holder, RunMove.CANCEL, command.note)
    return RunChanged(turn.run, turn.changed)


def _not_coordinator(turn: RunTurn, holder: str, fence: int) -> RunRefused | None:
    """Refuse a coordinator whose lease has ended, or was taken over."""
    run, lease = turn.run, turn.live(turn.run.lease_id)
    if run.state is not RunState.RUNNING:
        return RunRefused(Refusal.RUN_ENDED, f"{run.id} is {run.state.value}")
    if run.fence == fence and run.holder == holder and lease is not None:
        return None
    if run.fence != fence:
        why = f"{short_name(run.holder)} has taken {run.id} over under the fence {run.fence}"
    else:
        why = f"the lease on {run_key(run.id)} has ended"
    return RunRefused(Refusal.RUN_TAKEN, why)


def _take(turn: RunTurn, command: TakeItem) -> ItemTaken | NoItem | RunRefused:
    if refused := _not_coordinator(turn, command.holder, command.fence):
        return refused
    found = None if turn.run.run.isolated else best_item(turn)
    if found is None:
        lines, is_over = waiting(turn)
        ready = ready_tasks(turn) if turn.run.run.isolated else ()
        return NoItem("no item can be taken" if is_over else "no item can be taken now", is_over, lines, ready)
    item, collisions = found
    session = item.session if item.is_in_progress else turn.run.run.session(item.task_id)
    record = turn.tasks.tasks[item.task_id]
    if not (item.is_in_progress and turn.is_claimed(item)):
        claim = ClaimTask(session, command.lease_id, command.ttl_seconds, item.task_id)
        claimed = take(turn.tasks, claim, Offer(record, ()))
        if not isinstance(claimed, TaskClaimed):
            return RunRefused(claimed.code, claimed.why, (item.task_id,))
        record = claimed.record
    begins = item.state is ItemState.OPEN
    locks = item.locks or LockPlan(keys=record.task.keys)
    if begins and collisions and locks.locking is Locking.OPTIMISTIC:
        locks = LockPlan(Locking.LEASED, locks.keys, f"{short_name(collisions[0].holder)} uses {collisions[0].key}")
    event = ItemMoved(
        command.holder,
        turn.run.id,
        item.task_id,
        ItemStep.TAKE,
        item.round + begins,
        session=session,
        run_fence=turn.run.fence,
        intent=record.task.intent or record.task.title,
        locks=locks,
    )
    return ItemTaken(turn.move(item, event), record)


def _post(turn: RunTurn, command: PostStep) -> ItemChanged | RunRefused:
    post = command.post
    if refused := _not_coordinator(turn, command.holder, command.fence):
        return refused
    item = turn.items.get(post.task)
    if item is None:
        return RunRefused(Refusal.RUN_CHANGED, f"{post.task!r} is no item of {turn.run.id}", (post.task,))
    if item.last != post.expected or post.step not in _POSTED or not item.can(post.step):
        why = f"{post.task} has moved on: it is {item.state.value}, so it cannot {post.step.value.replace('_', ' ')}"
        return RunRefused(Refusal.RUN_CHANGED, why, (post.task,))
    if item.run_fence != turn.run.fence or not turn.is_claimed(item):
        return RunRefused(Refusal.TASK_CHANGED, f"the claim of {post.task} has ended", (post.task,))
    return ItemChanged(_apply(turn, item, command))


def _apply(turn: RunTurn, item: ItemRecord, command: PostStep) -> ItemRecord:
    post = command.post
    step, note = post.step, post.note
    record = turn.tasks.tasks[item.task_id]
    if step is ItemStep.ACCEPT:
        turn.end_leases(item.session)
        result = Result(admitted=item.admitted)
        done = turn.tasks.move(
            record, TaskMoved(item.session, record.id, Move.FINISH, record.attempt, post.note, result=result)
        )
        turn.tasks.move(done, TaskMoved(item.session, record.id, Move.LAND, record.attempt, post.note))
    elif step in (ItemStep.FAIL, ItemStep.REJECT):
        ended = turn.end_attempt(item, note)
        if ended.state is TaskState.FAILED:
            step, note = ItemStep.EXHAUST, ended.note
    elif step is ItemStep.REPLAN and _must_wait(turn, item, post.locks):
        step = ItemStep.GIVE_BACK
        turn.give_back(item, post.note)
    elif step is ItemStep.GIVE_BACK:
        turn.give_back(item, post.note)
    elif step is not ItemStep.PROPOSE and item.state is ItemState.PROPOSED:
        # A candidate was decided on: the next one leases anew, all keys at once, so that no two editors wait in a ring.
        turn.end_leases(item.session, but=record.lease_id)
    return turn.move(
        item,
        ItemMoved(
            command.holder,
            turn.run.id,
            item.task_id,
            step,
            item.round + (step is ItemStep.REPLAN),
            note,
            post.role,
            locks=post.locks,
            candidate=post.candidate,
            outcome=post.outcome,
            usage=post.usage,
            messages=post.messages,
        ),
    )


def _must_wait(turn: RunTurn, item: ItemRecord, locks: LockPlan | None) -> bool:
    """Whether an item that must be edited alone has to wait for others."""
    is_alone = not any(each.is_in_progress for each in turn.changed if each.task_id != item.task_id)
    return locks is not None and locks.locking is Locking.SERIAL and not is_alone


_DECISIONS: Final[Mapping[type[Any], Callable[[RunTurn, Any], RunOutcome]]] = {
    StartRun: _start,
    PlanRun: _plan,
    ResumeRun: _resume,
    EndRun: _end,
    CancelRun: _cancel,
    TakeItem: _take,
    PostStep: _post,
}
