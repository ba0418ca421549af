"""The answers to calls about tasks."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from commonhold.kernel.answers import Next
from commonhold.kernel.lease import Lease
from commonhold.kernel.partial_work import PartialWork
from commonhold.kernel.pictures import Change
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.task import TaskRecord
from commonhold.tasks.agents import Agent
from commonhold.tasks.board import Collision, Condition, Waiting


class TaskAction(StrEnum):
    """How a session changes a task.

    DONE ends a claim with a change, UNCHANGED without one, FAIL without success. REFUSE sends a done task back,
    CANCEL gives one up, REOPEN opens one that failed or was cancelled. ACCEPT opens a proposed task, DECLINE cancels
    it.
    """

    ACCEPT = "accept"
    DECLINE = "decline"
    DONE = "done"
    UNCHANGED = "unchanged"
    FAIL = "fail"
    REFUSE = "refuse"
    CANCEL = "cancel"
    REOPEN = "reopen"


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task with its derived condition, and the reason why it cannot be claimed (empty if it can).

    `is_late`: its deadline has passed and it has not landed. `age_seconds` counts from the last change of its state.
    """

    record: TaskRecord
    condition: Condition
    why: str
    is_late: bool
    age_seconds: float


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """The answer to every call about tasks; a refusal has a code and a reason.

    A claim has the `lease` and the `collisions` with others' work; `others` are tasks that the same session name holds
    already. A list has the `agents` that are known. `waiting` says what keeps tasks from being claimed, `instead` names
    one that is free. `works` and `changes` are the partial work and the commits of earlier attempts.
    """

    outcome: Literal["added", "claimed", "none", "changed", "listed", "refused"]
    tasks: tuple[TaskView, ...] = ()
    code: Refusal | None = None
    why: str = ""
    lease: Lease | None = None
    collisions: tuple[Collision, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    instead: str = ""
    others: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    circle: tuple[str, ...] = ()
    works: tuple[PartialWork, ...] = ()
    changes: tuple[Change, ...] = ()
    agents: tuple[Agent, ...] = ()
    next: Next | None = None
