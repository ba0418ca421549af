"""PURE: decide again on the commands behind the events about runs, and compare the results.

A decision on a run records the changes of its tasks and leases together with those of the run and its items. So the
command is derived from the first event of the run or of an item that it recorded, and all its events come out again.
Steps by which items follow their tasks are checked one by one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from commonhold.history.lease_checks import epoch_of, instant_of, is_due, table_of
from commonhold.kernel.clock import Now
from commonhold.kernel.events import (
    Event,
    LeaseBroken,
    LeaseExpired,
    LeaseGranted,
    LeaseReleased,
    LeaseRenewed,
    Recorded,
    WaiterLeft,
    lease_id_of,
)
from commonhold.kernel.projection import State
from commonhold.kernel.run import ItemMoved, ItemRecord, ItemStep, RunMove, RunMoved, RunPlanned, RunStarted, RunState
from commonhold.kernel.task import Move, Task, TaskAdded, TaskMoved, TaskState
from commonhold.runs import commands
from commonhold.runs.decide import decide
from commonhold.runs.turn import Blackboard, RunTurn
from commonhold.tasks.board import Board
from commonhold.tasks.capabilities import all_required

_NOT_NAMED: Final = "replay"
_LAST: Final = " (attempt "
_OF_RUN: Final = (RunStarted, RunPlanned, RunMoved, ItemMoved)
_OF_LEASE: Final = (LeaseGranted, LeaseReleased, LeaseBroken, LeaseRenewed, LeaseExpired, WaiterLeft)
_FOLLOWING: Final = frozenset(
    {
        *(ItemStep.LAND, ItemStep.EXHAUST, ItemStep.CANCEL),
        *(ItemStep.REOPEN, ItemStep.RECOMMIT, ItemStep.REVALIDATE),
    }
)


def is_of_run(event: Event) -> bool:
    """Whether only a decision on a run records such an event."""
    return isinstance(event, _OF_RUN) or (isinstance(event, TaskMoved) and event.move is Move.GIVE_BACK)


def decided_again(state: State, events: Sequence[Recorded]) -> tuple[Event, ...] | None:
    """Return the events that the decision on a run behind the first of `events` has again; None if it is about no run.

    `events` are those recorded from there on, at least those of its transaction. Events of other decisions at the same
    instant may come first: then the result does not begin with them. Raises KeyError if a run is unknown.
    """
    first = events[0]
    event = first.event
    if isinstance(event, ItemMoved) and event.step in _FOLLOWING and event.role is None:
        followed = _followed(state, first, event.run_id)
        if followed == (event,):
            return followed
    segment = _segment(events)
    if segment is None:
        return None
    command, now = _command(state, segment), _instant(state, segment)
    return decide(_blackboard(state, segment, command, now), command, now).events


def _followed(state: State, recorded: Recorded, run_id: str) -> tuple[Event, ...]:
    """Return the first step by which an item of the run follows its task."""
    now = Now(_NOT_NAMED, 0.0, recorded.at)
    board = Board(state.tasks, table_of(state, now.epoch, recorded.sequence))
    turn = RunTurn(Blackboard(board, state.runs[run_id], _items(state, run_id), {}), now)
    turn.follow()
    return tuple(turn.events[:1])


@dataclass(frozen=True, slots=True)
class _Segment:
    """The events of a decision up to `main`, from which its command is derived, and the epoch in which it was made."""

    events: tuple[Recorded, ...]
    main: RunStarted | RunPlanned | RunMoved | ItemMoved
    tasks: tuple[Task, ...]
    planned: tuple[str, ...]
    epoch: str

    @property
    def leases(self) -> frozenset[str]:
        """The ids of the leases that it is about."""
        return frozenset(name for each in self.events if (name := lease_id_of(each.event)) is not None)


def _segment(events: Sequence[Recorded]) -> _Segment | None:
    """Return the events up to the one that tells the command; None if they are about no run."""
    together = list(takewhile(lambda each: each.at == events[0].at, events))
    for index, each in enumerate(together):
        event = each.event
        if isinstance(event, ItemMoved) and event.role is None and event.step is not ItemStep.TAKE:
            continue  # an item follows its task, or is given back with the run
        if isinstance(event, _OF_RUN):
            tasks, planned = _planned(together, event)
            return _Segment(tuple(together[: index + 1]), event, tasks, planned, epoch_of(events))
        if not isinstance(event, (*_OF_LEASE, TaskAdded, TaskMoved)):
            return None
    return None


def _planned(events: Iterable[Recorded], main: Event) -> tuple[tuple[Task, ...], tuple[str, ...]]:
    """Return the tasks that were added with a run or a plan, and the ids of all items that it got."""
    run_id = main.run.id if isinstance(main, RunStarted) else main.run_id if isinstance(main, RunPlanned) else ""
    added: list[Task] = []
    for each in events if run_id else ():
        if isinstance(each.event, TaskAdded):
            added.append(each.event.task)
        if isinstance(each.event, RunPlanned):
            return (tuple(added), each.event.tasks) if each.event.run_id == run_id else ((), ())
    return (), ()


def _command(state: State, segment: _Segment) -> commands.RunCommand:
    main = segment.main
    granted = [each.event.lease for each in segment.events if isinstance(each.event, LeaseGranted)]
    holder = main.session if isinstance(main, ItemMoved) else main.holder
    lease = next(((each.id, each.ttl_seconds) for each in granted if each.holder == holder), ("", 0.0))
    if isinstance(main, RunStarted):
        run = main.run
        tasks = _defined(state, segment)
        return commands.StartRun(main.holder, *lease, run.goal, tasks, run.checks, run.editor, run.isolated)
    fence = state.runs[main.run_id].fence
    match main:
        case RunPlanned():
            return commands.PlanRun(main.holder, main.run_id, fence, _defined(state, segment), main.usage)
        case RunMoved():
            return _moved(main, fence, lease)
        case ItemMoved(step=ItemStep.TAKE):
            return commands.TakeItem(main.holder, main.run_id, fence, *lease)
        case ItemMoved():
            return commands.PostStep(main.holder, main.run_id, fence, _post(state, main))


def _defined(state: State, segment: _Segment) -> tuple[Task, ...]:
    """Return the tasks that became items: those that were added with them, and those that were there already."""
    new = {task.id for task in segment.tasks}
    return (*segment.tasks, *(state.tasks[each].task for each in segment.planned if each not in new))


def _moved(main: RunMoved, fence: int, lease: tuple[str, float]) -> commands.RunCommand:
    match main.move:
        case RunMove.RESUME:
            return commands.ResumeRun(main.holder, main.run_id, *lease)
        case RunMove.CANCEL:
            return commands.CancelRun(main.holder, main.run_id, main.note)
        case _:
            return commands.EndRun(main.holder, main.run_id, fence, main.move, main.note)


def _post(state: State, moved: ItemMoved) -> commands.Post:
    """Return the post behind a step. A failure that used up the attempts was posted without their number."""
    is_last = moved.step is ItemStep.EXHAUST
    assert moved.role is not None  # noqa: S101 - only roles post
    return commands.Post(
        moved.task_id,
        ItemStep.FAIL if is_last else moved.step,
        state.run_items[moved.run_id, moved.task_id].last,
        moved.role,
        moved.note.rpartition(_LAST)[0] if is_last else moved.note,
        moved.locks,
        moved.candidate,
        moved.outcome,
        moved.usage,
        moved.messages,
    )


def _instant(state: State, segment: _Segment) -> Now:
    """Return the instant of the decision: exactly if it gave a lease a deadline, else one that ends no lease."""
    for each in segment.events:
        if isinstance(each.event, LeaseGranted | LeaseRenewed):
            return instant_of(state, each, each.event)
    return Now(_NOT_NAMED, 0.0, segment.events[0].at)


def _blackboard(state: State, segment: _Segment, command: commands.RunCommand, now: Now) -> Blackboard:
    recorded = segment.events[0]
    if now.epoch == _NOT_NAMED:
        # Without a deadline in the events, those leases have ended that were due and that it did not end itself.
        ended = {each.event.lease_id for each in segment.events if isinstance(each.event, LeaseExpired | WaiterLeft)}
        kept = _needed(state, command) | segment.leases
        leases = {
            each.id: each
            for each in state.leases.values()
            if each.id in kept or not is_due(each.deadline, recorded, segment.epoch)
        }
        table = table_of(replace(state, leases=leases), now.epoch, recorded.sequence, but=ended)
    else:
        table = table_of(state, now.epoch, recorded.sequence, but={*state.leases, *state.waiters})
    named = None if isinstance(command, commands.StartRun) else command.run_id
    run = state.runs[named] if named else None
    busy = {
        task: run_id
        for run_id, task in state.run_items
        if run_id != named and state.runs[run_id].state in (RunState.RUNNING, RunState.STOPPED)
    }
    required = all_required([*segment.tasks, *(each.task for each in state.tasks.values())])
    return Blackboard(Board(state.tasks, table, required), run, _items(state, named) if named else {}, busy)


def _needed(state: State, command: commands.RunCommand) -> frozenset[str]:
    """Return the ids of leases that were live: of all claims, and of a coordinator whose command was not refused."""
    claims = frozenset(each.lease_id for each in state.tasks.values() if each.state is TaskState.CLAIMED)
    if isinstance(command, commands.StartRun | commands.ResumeRun | commands.CancelRun):
        return claims
    return claims | {state.runs[command.run_id].lease_id}


def _items(state: State, run_id: str) -> dict[str, ItemRecord]:
    return {task: item for (run, task), item in state.run_items.items() if run == run_id}
