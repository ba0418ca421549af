"""A decision on tasks in progress."""

from dataclasses import replace

from commonhold.kernel import commands as leases
from commonhold.kernel.clock import Now
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.events import Event
from commonhold.kernel.lease_table import advanced
from commonhold.kernel.task import Move, Task, TaskAdded, TaskMoved, TaskRecord, TaskState, added_record, moved_record
from commonhold.leases.decide import decide as decide_lease
from commonhold.tasks.board import Board, claim_of


class TaskTurn:
    """A decision in progress: the tasks as changed so far, and the events that changed them."""

    def __init__(self, board: Board, now: Now) -> None:
        """Begin with `board` as it is at `now`."""
        self.now = now
        self.events: list[Event] = []
        self.tasks = dict(board.tasks)
        self.capabilities = board.capabilities
        self._leases = board.leases
        self._first_sequence = board.leases.next_sequence
        self._live = {lease.id: lease for lease in board.leases.leases if lease.is_live(now)}

    @property
    def board(self) -> Board:
        """The board with the tasks as they are now."""
        return Board(self.tasks, self._leases, self.capabilities)

    @property
    def next_sequence(self) -> int:
        """The number that the next event will have."""
        return self._first_sequence + len(self.events)

    def named(self, task_id: str) -> TaskRecord:
        """Return a task by its id. Raises InputError `TASK_UNKNOWN`."""
        record = self.tasks.get(task_id)
        if record is None:
            raise unknown_task(task_id)
        return record

    def add(self, holder: str, task: Task, *, is_proposed: bool = False) -> TaskRecord:
        """Add a task, or propose it; the number of its event becomes its id if it has none."""
        named = task if task.id else replace(task, id=f"t{self.next_sequence}")
        event = TaskAdded(holder, named, is_proposed)
        record = self.tasks[named.id] = added_record(event, self.next_sequence, self.now.wall)
        self.events.append(event)
        return record

    def move(self, record: TaskRecord, event: TaskMoved) -> TaskRecord:
        """Apply a transition, and return the record after it."""
        moved = self.tasks[record.id] = moved_record(record, event, self.now.wall)
        self.events.append(event)
        return moved

    def settle(self) -> tuple[str, ...]:
        """Return the tasks whose leases have ended; follow those whose leases were handed over."""
        returned = []
        for record in [each for each in self.tasks.values() if each.state is TaskState.CLAIMED]:
            lease = claim_of(record, self._live, self.now)
            if lease is None:
                self.end_attempt(record, record.holder, "its lease ended before it was done", record.fence)
                returned.append(record.id)
            elif lease.holder != record.holder:
                handed = (record.id, Move.HAND_OVER, record.attempt)
                self.move(record, TaskMoved(record.holder, *handed, "", lease.holder, lease.id, lease.fence))
        return tuple(returned)

    def end_attempt(self, record: TaskRecord, holder: str, why: str, lapsed: int = 0) -> TaskRecord:
        """End an attempt without a result: the task is open again, or has failed if this was the last one.

        `lapsed` is the fence of a claim that has ended by itself: until the next claim its session may still finish.
        """
        is_last = record.is_worn_out
        note = f"{why} (attempt {record.tries} of {record.task.most_attempts})" if is_last else why
        move = Move.EXHAUST if is_last else Move.RETURN
        return self.move(record, TaskMoved(holder, record.id, move, record.attempt, note, fence=lapsed))

    def lease(self, command: leases.Acquire | leases.Release | leases.Break) -> object:
        """Decide on a lease; its events follow those so far, so that its fence is the number of its event."""
        table = replace(self._leases, next_sequence=self.next_sequence)
        decision = decide_lease(table, command, self.now)
        # The next decision of this turn must not end or renew the same leases again.
        self._leases = advanced(table, decision.events, self.now.wall)
        self.events += decision.events
        return decision.outcome

    def end_lease(self, record: TaskRecord, by: str, why: str) -> None:
        """End the lease of a claim: released by its holder, or broken by another session."""
        if by == record.holder:
            self.lease(leases.Release(record.lease_id, by))
        else:
            self.lease(leases.Break(record.lease_id, by, why))


def unknown_task(task_id: str) -> InputError:
    """Return the error for a task that does not exist."""
    return InputError(
        Code.TASK_UNKNOWN,
        f"there is no task {task_id!r}",
        hint="`commonhold task list --all` shows every task",
        fields={"task": task_id},
    )
