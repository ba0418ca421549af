"""A decision on a run in progress: the run and its items as changed so far, beside the tasks and leases."""

from collections.abc import Mapping
from dataclasses import dataclass

from commonhold.kernel import commands as leases
from commonhold.kernel.clock import Now
from commonhold.kernel.events import Event
from commonhold.kernel.lease import Lease
from commonhold.kernel.run import (
    ItemMoved,
    ItemRecord,
    ItemState,
    ItemStep,
    RunMove,
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
from commonhold.kernel.task import Move, TaskMoved, TaskRecord, TaskState
from commonhold.kernel.texts import short_name
from commonhold.tasks.board import Board, claim_of
from commonhold.tasks.turn import TaskTurn

_FOLLOWED = {TaskState.LANDED: ItemStep.LAND, TaskState.FAILED: ItemStep.EXHAUST, TaskState.CANCELLED: ItemStep.CANCEL}


@dataclass(frozen=True, slots=True)
class Blackboard:
    """The state that a decision on a run needs.

    `board` has all tasks of the run, and those that they need, with all leases. `run` is None before it begins;
    `items` are its items by task. `busy` are the tasks of other runs that have not ended, by task, with the run's id.
    """

    board: Board
    run: RunRecord | None
    items: Mapping[str, ItemRecord]
    busy: Mapping[str, str]


class RunTurn:
    """A decision in progress. Its events are those of its `tasks`, in one order."""

    def __init__(self, state: Blackboard, now: Now) -> None:
        """Begin with `state` as it is at `now`."""
        self.now = now
        self.tasks = TaskTurn(state.board, now)
        self.items = dict(state.items)
        self.busy = state.busy
        self._run = state.run
        self._leases = {lease.id: lease for lease in state.board.leases.leases if lease.is_live(now)}

    @property
    def events(self) -> list[Event]:
        """The events so far."""
        return self.tasks.events

    @property
    def run(self) -> RunRecord:
        """The run that the command is about."""
        if self._run is None:
            raise AssertionError("a decision names a run that was not loaded")
        return self._run

    @property
    def changed(self) -> tuple[ItemRecord, ...]:
        """The items as they are now."""
        return tuple(self.items.values())

    def live(self, lease_id: str) -> Lease | None:
        """Return a lease that was live when the decision began."""
        return self._leases.get(lease_id)

    def start(self, event: RunStarted) -> None:
        """Begin the run."""
        self._run = started_run(event, self.tasks.next_sequence, self.now.wall)
        self.events.append(event)

    def plan(self, event: RunPlanned) -> None:
        """Make tasks the items of the run."""
        self.items |= {each.task_id: each for each in planned_items(event, self.tasks.next_sequence, self.now.wall)}
        self._run = planned_run(self.run, event)
        self.events.append(event)

    def move_run(self, event: RunMoved) -> None:
        """Apply a transition of the run."""
        self._run = moved_run(self.run, event, self.now.wall)
        self.events.append(event)

    def move(self, item: ItemRecord, event: ItemMoved) -> ItemRecord:
        """Apply a step of an item, and return the record after it."""
        moved = self.items[item.task_id] = moved_item(item, event, self.tasks.next_sequence, self.now.wall)
        self.events.append(event)
        return moved

    def step(self, item: ItemRecord, step: ItemStep, note: str = "", left: ItemState | None = None) -> ItemRecord:
        """Apply a step that no role has posted."""
        return self.move(item, ItemMoved(self.run.holder, self.run.id, item.task_id, step, item.round, note, left=left))

    def follow(self) -> None:
        """Return tasks whose claims have ended, and let the items follow tasks that were ended or opened elsewhere."""
        self.tasks.settle()
        for item in list(self.items.values()):
            record = self.tasks.tasks[item.task_id]
            step = _FOLLOWED.get(record.state, item.reopening if record.state is TaskState.OPEN else None)
            if step in (ItemStep.RECOMMIT, ItemStep.REVALIDATE) and self._is_edited_alone():
                continue
            if step is not None and item.can(step):
                left = item.state if step in (ItemStep.EXHAUST, ItemStep.CANCEL) else None
                self.step(item, step, self._why_ended(item, record), left)

    def _why_ended(self, item: ItemRecord, record: TaskRecord) -> str:
        """Return the note of a task, with the session whose attempt has failed if it was not that of the item."""
        last = record.attempts[-1].holder if record.attempts else item.session
        is_old = record.state is TaskState.FAILED and last != item.session
        return f"{short_name(last)} has failed at it: {record.note}" if is_old else record.note

    def _is_edited_alone(self) -> bool:
        return any(each.is_in_progress and each.is_serial for each in self.items.values())

    def is_claimed(self, item: ItemRecord) -> bool:
        """Whether the item's session holds the claim of its task."""
        record = self.tasks.tasks[item.task_id]
        if record.state is not TaskState.CLAIMED or record.holder != item.session or not item.session:
            return False
        return claim_of(record, self._leases, self.now) is not None

    def end_leases(self, session: str, *, but: str = "") -> None:
        """Release all leases of an item's session, except one."""
        for lease in list(self._leases.values()):
            if lease.holder == session and lease.id != but:
                self.tasks.lease(leases.Release(lease.id, session))
                del self._leases[lease.id]

    def give_back(self, item: ItemRecord, note: str) -> None:
        """End the claim of an item without counting the attempt, and all leases of its session."""
        record = self.tasks.tasks[item.task_id]
        if self.is_claimed(item):
            self.end_leases(item.session)
            self.tasks.move(record, TaskMoved(item.session, record.id, Move.GIVE_BACK, record.attempt, note))

    def end_attempt(self, item: ItemRecord, note: str) -> TaskRecord:
        """End the claim of an item without success, and all leases of its session."""
        self.end_leases(item.session)
        return self.tasks.end_attempt(self.tasks.tasks[item.task_id], item.session, note)

    def end(self, by: str, move: RunMove, note: str) -> None:
        """End the coordination: give all claims back, and end the lease of the run, by force if it is another's."""
        run = self.run
        for item in list(self.items.values()):
            if item.is_in_progress:
                self.give_back(item, note)
                self.step(self.items[item.task_id], ItemStep.GIVE_BACK, note)
        if run.lease_id in self._leases:
            is_own = by == run.holder
            ending = leases.Release(run.lease_id, by) if is_own else leases.Break(run.lease_id, by, note)
            self.tasks.lease(ending)
        self.move_run(RunMoved(by, run.id, move, note))
