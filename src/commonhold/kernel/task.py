"""Tasks as the log records them: the definition of a task, its states, and the events that change them.

`TRANSITIONS` is the only place that says which state follows which; the diagram in docs/tasks.md is drawn from it.
A task that is done is not complete yet: it has landed only when its change is part of the target.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from commonhold.kernel.clock import Deadline

DEFAULT_ATTEMPTS: Final = 3
MOST_ATTEMPTS: Final = 100
MOST_KEPT_ATTEMPTS: Final = 20
"""How many attempts a record keeps; the log has all of them."""


class TaskState(StrEnum):
    """The stored states. Ready, blocked, late and stranded are derived from them; see `tasks.board`."""

    PROPOSED = "proposed"
    OPEN = "open"
    CLAIMED = "claimed"
    DONE = "done"
    LANDED = "landed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Move(StrEnum):
    """The transitions, each named for its cause."""

    ACCEPT = "accept"
    DECLINE = "decline"
    CLAIM = "claim"
    HAND_OVER = "hand_over"
    RETURN = "return"
    GIVE_BACK = "give_back"
    EXHAUST = "exhaust"
    FINISH = "finish"
    LAND = "land"
    REFUSE = "refuse"
    STRAND = "strand"
    UNDO = "undo"
    CANCEL = "cancel"
    REOPEN = "reopen"


TRANSITIONS: Final[Mapping[tuple[TaskState, Move], TaskState]] = {
    (TaskState.PROPOSED, Move.ACCEPT): TaskState.OPEN,
    (TaskState.PROPOSED, Move.DECLINE): TaskState.CANCELLED,
    (TaskState.PROPOSED, Move.CANCEL): TaskState.CANCELLED,
    (TaskState.OPEN, Move.CLAIM): TaskState.CLAIMED,
    (TaskState.OPEN, Move.CANCEL): TaskState.CANCELLED,
    # Its claim has lapsed, and no other has followed: the session says late that it is done.
    (TaskState.OPEN, Move.FINISH): TaskState.DONE,
    (TaskState.FAILED, Move.FINISH): TaskState.DONE,
    (TaskState.CLAIMED, Move.HAND_OVER): TaskState.CLAIMED,
    (TaskState.CLAIMED, Move.RETURN): TaskState.OPEN,
    (TaskState.CLAIMED, Move.GIVE_BACK): TaskState.OPEN,
    (TaskState.CLAIMED, Move.EXHAUST): TaskState.FAILED,
    (TaskState.CLAIMED, Move.FINISH): TaskState.DONE,
    (TaskState.CLAIMED, Move.CANCEL): TaskState.CANCELLED,
    (TaskState.DONE, Move.FINISH): TaskState.DONE,
    (TaskState.DONE, Move.LAND): TaskState.LANDED,
    (TaskState.DONE, Move.REFUSE): TaskState.OPEN,
    (TaskState.DONE, Move.EXHAUST): TaskState.FAILED,
    (TaskState.DONE, Move.CANCEL): TaskState.CANCELLED,
    (TaskState.LANDED, Move.STRAND): TaskState.DONE,
    (TaskState.LANDED, Move.UNDO): TaskState.OPEN,
    (TaskState.FAILED, Move.REOPEN): TaskState.OPEN,
    (TaskState.CANCELLED, Move.REOPEN): TaskState.OPEN,
}
FINAL: Final = frozenset({TaskState.LANDED, TaskState.FAILED, TaskState.CANCELLED})
"""The states in which a task waits for no agent; only a person, an undo, or a reset of the target moves it again."""


@dataclass(frozen=True, slots=True)
class Task:
    """A unit of work, as its author defined it.

    `keys` are canonical texts of the files, regions and names that the work is expected to change; `predicted_keys`
    are those that its text and the history of the project suggest, if its author declared none. `needs` are ids of
    tasks that must have landed before. A higher `priority` goes first. `deadline_at` is a Unix time,
    `estimate_seconds` the expected size; both may be unknown. After `most_attempts` unsuccessful attempts the task
    fails. Only sessions whose name matches one of the patterns `takers` may claim it; without any, all may. They must
    have all of the capabilities `requires`. `target` is the git revision that its commit must reach, empty for the
    branch that is checked out. `checks` are commands.
    """

    id: str
    title: str
    intent: str = ""
    keys: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    priority: int = 0
    deadline_at: float | None = None
    estimate_seconds: float | None = None
    most_attempts: int = DEFAULT_ATTEMPTS
    labels: tuple[str, ...] = ()
    takers: tuple[str, ...] = ()
    target: str = ""
    checks: tuple[str, ...] = ()
    predicted_keys: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()

    @property
    def expected_keys(self) -> tuple[str, ...]:
        """The keys that it is expected to change: those declared, and those predicted."""
        return (*self.keys, *self.predicted_keys)

    @property
    def declared(self) -> "Task":
        """The same task without its predictions, which differ from one state of the project to another."""
        return replace(self, predicted_keys=()) if self.predicted_keys else self


@dataclass(frozen=True, slots=True)
class Result:
    """The change that a task produced: a git commit (its full hash), or commits of Commonhold by sequence number.

    Without either the task changed nothing, and the note of its end says why.
    """

    commit: str = ""
    admitted: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """One session's try at a task. `ended_at` and `end` are None while it runs; `note` is the reason of its end."""

    number: int
    holder: str
    lease_id: str
    began_at: float
    ended_at: float | None = None
    end: Move | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class TaskAdded:
    """A task was added. One that `is_proposed` is open only once another session has accepted it."""

    holder: str
    task: Task
    is_proposed: bool = False


@dataclass(frozen=True, slots=True)
class TaskMoved:
    """A task changed its state, by `holder`; `attempt` is the number of the attempt that this is about.

    `to` is the session that a claim or hand-over gives it to, with the lease `lease_id` and its `fence`; a return after
    a lapse has the `fence` of the claim that lapsed. A task that is refused at landing is kept for the session
    `reserved_for` until `reserved_until`.
    """

    holder: str
    task_id: str
    move: Move
    attempt: int
    note: str = ""
    to: str = ""
    lease_id: str | None = None
    fence: int = 0
    result: Result | None = None
    reserved_for: str = ""
    reserved_until: Deadline | None = None


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A task with its state. `number` is the sequence of the event that added it; `since` a Unix time.

    `holder` is the session that holds it, or that has finished it; `lease_id` and `fence` are those of its claim. After
    a claim that lapsed, its `fence` stays until the next one: by it the session may finish late. `attempts` are the
    last ones, oldest first; `tries` counts those since the task was added or reopened. `note` is the reason of the
    last change.
    """

    task: Task
    number: int
    added_by: str
    added_at: float
    since: float
    state: TaskState = TaskState.OPEN
    attempt: int = 0
    tries: int = 0
    holder: str = ""
    lease_id: str = ""
    fence: int = 0
    result: Result | None = None
    note: str = ""
    attempts: tuple[Attempt, ...] = ()
    reserved_for: str = ""
    reserved_until: Deadline | None = None

    @property
    def id(self) -> str:
        """The id of the task."""
        return self.task.id

    @property
    def is_final(self) -> bool:
        """Whether it waits for no agent any more."""
        return self.state in FINAL

    @property
    def is_worn_out(self) -> bool:
        """Whether the next unsuccessful end of an attempt is the last."""
        return self.tries >= self.task.most_attempts

    def can(self, move: Move) -> bool:
        """Whether the table has this transition from the present state."""
        return (self.state, move) in TRANSITIONS


def added_record(event: TaskAdded, sequence: int, at: float) -> TaskRecord:
    """Return the record of a task that the event with this sequence added at a Unix time."""
    state = TaskState.PROPOSED if event.is_proposed else TaskState.OPEN
    return TaskRecord(event.task, sequence, event.holder, at, at, state)


def moved_record(before: TaskRecord, event: TaskMoved, at: float) -> TaskRecord:
    """Return the record after a transition at a Unix time. Raises KeyError for one that `TRANSITIONS` does not have."""
    after = replace(before, state=TRANSITIONS[before.state, event.move], since=at, note=event.note)
    match event.move:
        case Move.CLAIM:
            return _claimed(after, event, at)
        case Move.HAND_OVER:
            last = replace(after.attempts[-1], holder=event.to)
            return replace(after, holder=event.to, fence=event.fence, attempts=(*after.attempts[:-1], last))
        case Move.FINISH:
            last = before.attempts[-1]
            ended = _ended(after, event, at)
            return replace(ended, result=event.result, holder=last.holder, lease_id=last.lease_id)
        case Move.LAND | Move.STRAND | Move.ACCEPT:
            return after
        case Move.REOPEN | Move.GIVE_BACK | Move.UNDO:
            ended = after if event.move is Move.REOPEN else _ended(after, event, at)
            tries = before.tries - 1 if event.move is Move.GIVE_BACK else 0
            fence = before.fence if before.state is TaskState.FAILED else 0
            return replace(_released(ended), tries=tries, fence=fence)
        case Move.RETURN | Move.EXHAUST | Move.REFUSE | Move.CANCEL | Move.DECLINE:
            has_attempt = before.state not in (TaskState.PROPOSED, TaskState.OPEN)
            ended = _released(_ended(after, event, at) if has_attempt else after)
            reserved_for, until = event.reserved_for, event.reserved_until
            return replace(ended, fence=event.fence, reserved_for=reserved_for, reserved_until=until)


def _claimed(record: TaskRecord, event: TaskMoved, at: float) -> TaskRecord:
    lease_id = event.lease_id or ""
    attempts = (*record.attempts, Attempt(event.attempt, event.to, lease_id, at))[-MOST_KEPT_ATTEMPTS:]
    return replace(
        record,
        attempt=event.attempt,
        tries=record.tries + 1,
        holder=event.to,
        lease_id=lease_id,
        fence=event.fence,
        attempts=attempts,
        reserved_for="",
        reserved_until=None,
    )


def _ended(record: TaskRecord, event: TaskMoved, at: float) -> TaskRecord:
    """Close the last attempt. One that was done and is refused at landing gets a second end, with that reason.

    One that is undone keeps its time: what its session has changed after that belongs to other work.
    """
    last = record.attempts[-1]
    last = replace(last, ended_at=last.ended_at if event.move is Move.UNDO else at, end=event.move, note=event.note)
    return replace(record, attempts=(*record.attempts[:-1], last))


def _released(record: TaskRecord) -> TaskRecord:
    return replace(record, holder="", lease_id="", fence=0)
