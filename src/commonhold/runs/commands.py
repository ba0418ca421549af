"""Commands on runs and their outcomes, as values.

Every command of a coordinator names the fence of the coordinator's lease on `run:ID`: a coordinator that
was replaced cannot post any more. A post also names the sequence of the item's last event (`expected`), so that it
takes effect only on the state that its author has seen.
"""

from dataclasses import dataclass

from commonhold.kernel.refusals import Refusal
from commonhold.kernel.run import (
    CandidateOutcome,
    EditCandidate,
    ItemRecord,
    ItemStep,
    LockPlan,
    Role,
    RoleMessage,
    RunMove,
    RunRecord,
    TokenUsage,
)
from commonhold.kernel.task import Task, TaskRecord
from commonhold.tasks.board import Waiting


@dataclass(frozen=True, slots=True)
class StartRun:
    """Begin a run, with a lease on its key for `ttl_seconds` under `lease_id`. `tasks` become its items.

    Without tasks its planner adds them later. Tasks that exist with the same definition are taken as they are.
    """

    holder: str
    lease_id: str
    ttl_seconds: float
    goal: str
    tasks: tuple[Task, ...] = ()
    checks: tuple[str, ...] = ()
    editor: str = "editor"
    isolated: bool = False


@dataclass(frozen=True, slots=True)
class PlanRun:
    """Add the tasks that the planner has made, and record what its call has used."""

    holder: str
    run_id: str
    fence: int
    tasks: tuple[Task, ...]
    usage: TokenUsage | None = None


@dataclass(frozen=True, slots=True)
class ResumeRun:
    """Take over a run that was stopped or has failed, or whose coordinator's lease has ended."""

    holder: str
    run_id: str
    lease_id: str
    ttl_seconds: float


@dataclass(frozen=True, slots=True)
class EndRun:
    """End the coordination of a run: STOP gives all claims back; COMPLETE and FAIL record its result."""

    holder: str
    run_id: str
    fence: int
    move: RunMove
    note: str = ""


@dataclass(frozen=True, slots=True)
class CancelRun:
    """Give a run up. A coordinator that is still at work loses its lease by force, on the record."""

    holder: str
    run_id: str
    note: str


@dataclass(frozen=True, slots=True)
class TakeItem:
    """Take the best item: one in progress that no coordinator attends to, or an open one, which it claims.

    The claim is a lease on the task's key by the item's session, for `ttl_seconds` under `lease_id`. In an isolated run
    nothing is taken: managed sessions claim the tasks.
    """

    holder: str
    run_id: str
    fence: int
    lease_id: str
    ttl_seconds: float


@dataclass(frozen=True, slots=True)
class Post:
    """A step of an item, posted by a role; see `ItemMoved` for the fields that a step has.

    `expected` is the sequence of the last event of the item that the role has seen.
    """

    task: str
    step: ItemStep
    expected: int
    role: Role
    note: str = ""
    locks: LockPlan | None = None
    candidate: EditCandidate | None = None
    outcome: CandidateOutcome | None = None
    usage: TokenUsage | None = None
    messages: tuple[RoleMessage, ...] = ()


@dataclass(frozen=True, slots=True)
class PostStep:
    """Post a step of an item to the blackboard."""

    holder: str
    run_id: str
    fence: int
    post: Post


RunCommand = StartRun | PlanRun | ResumeRun | EndRun | CancelRun | TakeItem | PostStep


@dataclass(frozen=True, slots=True)
class RunChanged:
    """The run began, was planned, resumed or ended as asked."""

    run: RunRecord
    items: tuple[ItemRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemTaken:
    """The item is the coordinator's; `task` is its task, claimed by the item's session."""

    item: ItemRecord
    task: TaskRecord


@dataclass(frozen=True, slots=True)
class NoItem:
    """No item can be taken now. `is_over`: none ever can be, unless a person steps in; `waiting` says why for each.

    `ready` are the tasks of an isolated run that a managed session could claim, the best first.
    """

    why: str
    is_over: bool
    waiting: tuple[Waiting, ...] = ()
    ready: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemChanged:
    """The step was recorded."""

    item: ItemRecord


@dataclass(frozen=True, slots=True)
class RunRefused:
    """Nothing was changed: a code, a sentence, and the tasks in question."""

    code: Refusal
    why: str
    tasks: tuple[str, ...] = ()
    retry_after_seconds: float | None = None


RunOutcome = RunChanged | ItemTaken | NoItem | ItemChanged | RunRefused
