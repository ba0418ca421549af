"""The answers to calls about runs."""

from dataclasses import dataclass
from typing import Literal

from commonhold.kernel.answers import Next
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.run import ItemRecord, RunRecord
from commonhold.kernel.task import TaskRecord
from commonhold.tasks.board import Waiting


@dataclass(frozen=True, slots=True)
class ItemView:
    """A work item with its task.

    `why` says, of an open one, why it cannot be taken now, or, in an isolated run, which session is at it, and of one
    in progress, whose leases its editor waits for; it is empty if the item can be taken, or is worked on.
    """

    item: ItemRecord
    task: TaskRecord
    why: str = ""


@dataclass(frozen=True, slots=True)
class RunView:
    """A run with its items. `is_coordinated`: a process holds the lease on it."""

    run: RunRecord
    items: tuple[ItemView, ...] = ()
    is_coordinated: bool = False


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """The answer to every call about runs; a refusal has a code and a reason.

    `taken` and `posted` have one item. `none`: no item can be taken now; with `is_over` none ever can be, unless a
    person steps in; `waiting` says why for each. `tasks` are the tasks that a refusal is about, or, in an isolated run,
    those that a managed session could claim.
    """

    outcome: Literal["started", "changed", "taken", "none", "posted", "listed", "refused"]
    runs: tuple[RunView, ...] = ()
    item: ItemView | None = None
    is_over: bool = False
    waiting: tuple[Waiting, ...] = ()
    code: Refusal | None = None
    why: str = ""
    tasks: tuple[str, ...] = ()
    retry_after_seconds: float | None = None
    next: Next | None = None
