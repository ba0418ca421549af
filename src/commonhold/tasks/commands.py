"""Commands on tasks and their outcomes, as values.

A command contains everything that a decision needs: ids of leases are drawn by the caller, so that deciding needs no
randomness. `Expected` makes a command conditional: it is refused if the task has moved on since the caller looked.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from commonhold.kernel.lease import Lease
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.task import Result, Task, TaskRecord, TaskState
from commonhold.tasks.board import Collision, Waiting


class Collisions(StrEnum):
    """Whether a claim may give a task whose keys are in use by others: as the last resort, or never."""

    LAST = "last"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Expected:
    """The state and the number of the attempt in which the caller saw a task."""

    state: TaskState
    attempt: int


@dataclass(frozen=True, slots=True)
class AddTasks:
    """Add all of `tasks`, or none. A task with an empty id gets one from the store; needs may name tasks of the list.

    A task that is there already with the same definition is left as it is, so that a plan can be imported again. With
    `is_proposed` the new ones wait until another session accepts them.
    """

    holder: str
    tasks: tuple[Task, ...]
    is_proposed: bool = False


@dataclass(frozen=True, slots=True)
class AcceptTask:
    """Open a proposed task. Its author cannot: neither the session that proposed it, nor a subagent of that."""

    holder: str
    task_id: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class DeclineTask:
    """Cancel a proposed task."""

    holder: str
    task_id: str
    note: str


@dataclass(frozen=True, slots=True)
class ClaimTask:
    """Claim the task `wanted`, or the best one: a lease on its key, for `ttl_seconds`, under the id `lease_id`."""

    holder: str
    lease_id: str
    ttl_seconds: float
    wanted: str | None = None
    labels: tuple[str, ...] = ()
    collisions: Collisions = Collisions.LAST


@dataclass(frozen=True, slots=True)
class FinishTask:
    """Say that a claimed task is done, with its result. For a task that is done already: name another result.

    `fence` is that of the claim. A claim that has lapsed is as good, unless another has followed. A result without a
    git commit lands at once: `note` says why it is complete.
    """

    holder: str
    task_id: str
    result: Result
    fence: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class FailTask:
    """End an attempt without a result. The task returns to the others, or fails if this was its last attempt."""

    holder: str
    task_id: str
    fence: int
    reason: str


REFUSAL_PATIENCE_SECONDS: Final = 600.0
"""How long a task that was refused at landing waits for the session that did it, by default."""


@dataclass(frozen=True, slots=True)
class RefuseTask:
    """Refuse a done task at landing. For `patience_seconds` only the session that did it can claim it again."""

    holder: str
    task_id: str
    reason: str
    patience_seconds: float
    expected: Expected | None = None


@dataclass(frozen=True, slots=True)
class LandTask:
    """Record that the commit of a done task is part of its target; `note` names the target."""

    holder: str
    task_id: str
    commit: str
    attempt: int
    note: str


@dataclass(frozen=True, slots=True)
class StrandTask:
    """Record that the commit of a landed task is no longer part of its target."""

    holder: str
    task_id: str
    commit: str
    attempt: int
    note: str


@dataclass(frozen=True, slots=True)
class UndoTask:
    """Record that an undo has taken back all commits of a landed task (`admitted`): it is open again."""

    holder: str
    task_id: str
    admitted: tuple[int, ...]
    attempt: int
    reason: str


@dataclass(frozen=True, slots=True)
class CancelTask:
    """Give a task up. A claim of another session on it is broken, on the record."""

    holder: str
    task_id: str
    reason: str
    expected: Expected | None = None


@dataclass(frozen=True, slots=True)
class ReopenTask:
    """Open a task that failed or was cancelled, with all its attempts before it again."""

    holder: str
    task_id: str
    reason: str
    expected: Expected | None = None


@dataclass(frozen=True, slots=True)
class SettleTasks:
    """Return the tasks whose claims have ended; every other command does that as well."""

    holder: str


TaskCommand = (
    AddTasks
    | AcceptTask
    | DeclineTask
    | ClaimTask
    | FinishTask
    | FailTask
    | RefuseTask
    | LandTask
    | StrandTask
    | UndoTask
    | CancelTask
    | ReopenTask
    | SettleTasks
)


@dataclass(frozen=True, slots=True)
class TasksAdded:
    """The records of the new tasks, in the order of the list, and the ids of those that were there already."""

    records: tuple[TaskRecord, ...]
    unchanged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TasksRefused:
    """No task was added. `tasks` are the ids in question; of a circle, all of it from one task back to the same."""

    code: Refusal
    why: str
    tasks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TaskClaimed:
    """The task is this session's, under `lease`. `collisions` are uses of its keys by others.

    `others` are ids of tasks that the same session name has claimed and not ended.
    """

    record: TaskRecord
    lease: Lease
    collisions: tuple[Collision, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoTask:
    """Nothing was claimed. `waiting` are the tasks in question, `instead` the id of the best task that is free."""

    code: Refusal
    why: str
    waiting: tuple[Waiting, ...] = ()
    instead: str = ""
    collisions: tuple[Collision, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskChanged:
    """The task moved as asked."""

    record: TaskRecord


@dataclass(frozen=True, slots=True)
class TaskRefused:
    """The task did not move; `record` is its present state, `why` a sentence."""

    code: Refusal
    why: str
    record: TaskRecord


@dataclass(frozen=True, slots=True)
class TasksSettled:
    """The ids of the tasks that were returned, or failed, because their claims had ended."""

    returned: tuple[str, ...]


TaskOutcome = TasksAdded | TasksRefused | TaskClaimed | NoTask | TaskChanged | TaskRefused | TasksSettled
