"""Runs as the log records them: plans being carried out, their work items, and the events that change both.

`RUN_TRANSITIONS` and `ITEM_TRANSITIONS` are the only places that say which state follows which; the diagrams in
docs/runs.md are drawn from them. A work item is a task of the run. The lease of its claim says which session holds it;
the item adds the posts of the roles.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

MOST_KEPT: Final = 50
"""How many messages an item keeps; the log has all of them."""


class RunState(StrEnum):
    """The states of a run. A run whose coordinator has died is still `running`: its lease ends, and it is resumed."""

    RUNNING = "running"
    STOPPED = "stopped"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class RunMove(StrEnum):
    """The transitions of a run, each named for its cause."""

    RESUME = "resume"
    STOP = "stop"
    COMPLETE = "complete"
    FAIL = "fail"
    CANCEL = "cancel"


RUN_TRANSITIONS: Final[Mapping[tuple[RunState, RunMove], RunState]] = {
    (RunState.RUNNING, RunMove.RESUME): RunState.RUNNING,
    (RunState.RUNNING, RunMove.STOP): RunState.STOPPED,
    (RunState.RUNNING, RunMove.COMPLETE): RunState.COMPLETED,
    (RunState.RUNNING, RunMove.FAIL): RunState.FAILED,
    (RunState.STOPPED, RunMove.RESUME): RunState.RUNNING,
    (RunState.FAILED, RunMove.RESUME): RunState.RUNNING,
    (RunState.RUNNING, RunMove.CANCEL): RunState.CANCELLED,
    (RunState.STOPPED, RunMove.CANCEL): RunState.CANCELLED,
    (RunState.FAILED, RunMove.CANCEL): RunState.CANCELLED,
}


class ItemState(StrEnum):
    """The states of a work item.

    OPEN: no editor has it. EDITING: an editor makes a candidate. PROPOSED: the candidate is kept, and is being
    committed. REFUSED: it was refused, and waits for a new lock plan. WRITTEN: its change is in the files, and waits
    for the validator. ACCEPTED: its task has landed.
    """

    OPEN = "open"
    EDITING = "editing"
    PROPOSED = "proposed"
    REFUSED = "refused"
    WRITTEN = "written"
    ACCEPTED = "accepted"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ItemStep(StrEnum):
    """The transitions of a work item, each named for its cause.

    GIVE_BACK ends a claim without counting an attempt, FAIL counts it, REJECT is a failure that the validator found.
    LAND, EXHAUST, CANCEL and REOPEN follow a task that was changed otherwise: ended elsewhere, out of attempts, or open
    again (an accepted one after its commits were undone). RECOMMIT and REVALIDATE reopen an item that had a candidate
    or a change in the files by then: it goes on from there, so that its change is not made twice.
    """

    TAKE = "take"
    PROPOSE = "propose"
    REFUSE = "refuse"
    REPLAN = "replan"
    WRITE = "write"
    ACCEPT = "accept"
    REJECT = "reject"
    GIVE_BACK = "give_back"
    FAIL = "fail"
    EXHAUST = "exhaust"
    LAND = "land"
    CANCEL = "cancel"
    REOPEN = "reopen"
    RECOMMIT = "recommit"
    REVALIDATE = "revalidate"


IN_PROGRESS: Final = (ItemState.EDITING, ItemState.PROPOSED, ItemState.REFUSED, ItemState.WRITTEN)
ENDED: Final = (ItemState.FAILED, ItemState.CANCELLED)
ITEM_TRANSITIONS: Final[Mapping[tuple[ItemState, ItemStep], ItemState]] = {
    (ItemState.OPEN, ItemStep.TAKE): ItemState.EDITING,
    # An item in progress is taken up again where it stopped: nothing is done twice.
    **{(state, ItemStep.TAKE): state for state in IN_PROGRESS},
    (ItemState.EDITING, ItemStep.PROPOSE): ItemState.PROPOSED,
    (ItemState.EDITING, ItemStep.WRITE): ItemState.WRITTEN,
    (ItemState.EDITING, ItemStep.REFUSE): ItemState.REFUSED,
    (ItemState.PROPOSED, ItemStep.WRITE): ItemState.WRITTEN,
    (ItemState.PROPOSED, ItemStep.REFUSE): ItemState.REFUSED,
    (ItemState.REFUSED, ItemStep.REPLAN): ItemState.EDITING,
    (ItemState.WRITTEN, ItemStep.ACCEPT): ItemState.ACCEPTED,
    (ItemState.WRITTEN, ItemStep.REJECT): ItemState.OPEN,
    (ItemState.EDITING, ItemStep.GIVE_BACK): ItemState.OPEN,
    (ItemState.REFUSED, ItemStep.GIVE_BACK): ItemState.OPEN,
    (ItemState.PROPOSED, ItemStep.GIVE_BACK): ItemState.PROPOSED,
    (ItemState.WRITTEN, ItemStep.GIVE_BACK): ItemState.WRITTEN,
    **{(state, ItemStep.FAIL): ItemState.OPEN for state in IN_PROGRESS},
    **{(state, ItemStep.EXHAUST): ItemState.FAILED for state in (ItemState.OPEN, *IN_PROGRESS)},
    **{(state, ItemStep.LAND): ItemState.ACCEPTED for state in (ItemState.OPEN, *IN_PROGRESS)},
    **{(state, ItemStep.CANCEL): ItemState.CANCELLED for state in (ItemState.OPEN, *IN_PROGRESS)},
    **{(state, ItemStep.REOPEN): ItemState.OPEN for state in ENDED},
    **{(state, ItemStep.RECOMMIT): ItemState.PROPOSED for state in ENDED},
    **{(state, ItemStep.REVALIDATE): ItemState.WRITTEN for state in ENDED},
    (ItemState.ACCEPTED, ItemStep.REOPEN): ItemState.OPEN,
}


class Role(StrEnum):
    """The roles of a run. They never call each other: each reads the blackboard, and posts to it."""

    PLANNER = "planner"
    EDITOR = "editor"
    RECOVERY = "recovery"
    VALIDATOR = "validator"


class Locking(StrEnum):
    """How an item is protected while its editor works.

    OPTIMISTIC: by nothing; its commit is validated. LEASED: the keys are leased before they are read. SERIAL: leased,
    and no other item of the run is edited meanwhile.
    """

    OPTIMISTIC = "optimistic"
    LEASED = "leased"
    SERIAL = "serial"


@dataclass(frozen=True, slots=True)
class LockPlan:
    """The keys (canonical texts) that an item is expected to write, how they are protected, and why."""

    locking: Locking = Locking.OPTIMISTIC
    keys: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """The usage that an agent reports for a call: tokens in and out, and the cost in US dollars.

    `tokens_cached` is the part of the tokens in that came from a cache.
    """

    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    tokens_cached: int = 0

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        """Return the sum."""
        return TokenUsage(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.cost + other.cost,
            self.tokens_cached + other.tokens_cached,
        )


NOTHING_USED: Final = TokenUsage()


@dataclass(frozen=True, slots=True)
class Spent:
    """The usage of one call of a role in a round; a round after a refusal or a failure `is_repair`."""

    role: Role
    round: int
    usage: TokenUsage
    is_repair: bool = False


@dataclass(frozen=True, slots=True)
class RoleMessage:
    """A message to a role about a work item, which is part of that role's next request about it."""

    to: Role
    text: str
    by: Role


@dataclass(frozen=True, slots=True)
class EditCandidate:
    """A proposed change: a changeset as JSON text, kept before it is committed. `round` is the round that made it."""

    round: int
    changeset: str


@dataclass(frozen=True, slots=True)
class CandidateOutcome:
    """The result of a candidate: its commits by sequence (none if nothing had to change), or why it was refused.

    `code` is the reason of the refusal as a stable word, empty for a candidate that was written.

    `keys` are the regions that the refusal names: those to lease, or those that have changed. `repair` is the answer
    as JSON text, for the editor that makes the next candidate.
    """

    code: str = ""
    why: str = ""
    keys: tuple[str, ...] = ()
    admitted: tuple[int, ...] = ()
    repair: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """A goal that is carried out. `checks` are commands that must pass after each item; `editor` names its sessions.

    In one that is `isolated` a managed session does each item, in a workspace of its own, and claims its task.
    """

    id: str
    goal: str
    checks: tuple[str, ...] = ()
    editor: str = "editor"
    isolated: bool = False

    def session(self, task_id: str) -> str:
        """Return the name of the session that edits an item: one for each item, so that answers can be repeated."""
        return f"{self.editor}:{self.id}.{task_id}"


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run began; `lease_id` and `fence` are those of its coordinator's lease on `run:ID`."""

    holder: str
    run: Run
    lease_id: str | None
    fence: int


@dataclass(frozen=True, slots=True)
class RunPlanned:
    """Tasks became the work items of a run."""

    holder: str
    run_id: str
    tasks: tuple[str, ...]
    usage: TokenUsage | None = None


@dataclass(frozen=True, slots=True)
class RunMoved:
    """A run changed its state. A resumed one has a new coordinator, with a new lease and fence."""

    holder: str
    run_id: str
    move: RunMove
    note: str = ""
    lease_id: str | None = None
    fence: int = 0


@dataclass(frozen=True, slots=True)
class ItemMoved:
    """A role posted a step of a work item, in a round. Fields that the step does not need are empty.

    A TAKE has the session, the intent, the lock plan and the fence of the run; a PROPOSE the candidate; a REFUSE or
    WRITE the outcome; a REPLAN or GIVE_BACK the new lock plan. `usage` is that of the role's call. `left` is the state
    in which an item was left that follows a task out of attempts, or cancelled.
    """

    holder: str
    run_id: str
    task_id: str
    step: ItemStep
    round: int
    note: str = ""
    role: Role | None = None
    session: str = ""
    run_fence: int = 0
    intent: str = ""
    locks: LockPlan | None = None
    candidate: EditCandidate | None = None
    outcome: CandidateOutcome | None = None
    usage: TokenUsage | None = None
    messages: tuple[RoleMessage, ...] = ()
    left: ItemState | None = None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run with its state. `number` is the sequence of the event that began it; `since` a Unix time.

    `holder` is the coordinator, `lease_id` and `fence` those of its lease. `usage` is that of the planner.
    """

    run: Run
    number: int
    started_by: str
    started_at: float
    since: float
    holder: str
    lease_id: str
    fence: int
    state: RunState = RunState.RUNNING
    note: str = ""
    usage: TokenUsage = NOTHING_USED

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.run.id

    def can(self, move: RunMove) -> bool:
        """Whether the table has this transition from the present state."""
        return (self.state, move) in RUN_TRANSITIONS


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """A work item with its state; its definition and its claim are those of the task.

    `last` is the sequence of its last event, which a post names to say which state its author
    has seen. `round` counts the candidates that
    were asked for. `run_fence` is the fence of the coordinator that attends to it. `failure` is the reason of the last
    failure, `admitted` the commits of its candidates by sequence. `refusals` counts the refusals since it was taken.
    `left` is the state in which it was left when its task failed or was cancelled.
    """

    run_id: str
    task_id: str
    number: int
    last: int
    since: float
    state: ItemState = ItemState.OPEN
    round: int = 0
    session: str = ""
    run_fence: int = 0
    intent: str = ""
    locks: LockPlan | None = None
    candidate: EditCandidate | None = None
    outcome: CandidateOutcome | None = None
    failure: str = ""
    refusals: int = 0
    admitted: tuple[int, ...] = ()
    note: str = ""
    spent: tuple[Spent, ...] = ()
    messages: tuple[RoleMessage, ...] = ()
    left: ItemState | None = None

    @property
    def is_in_progress(self) -> bool:
        """Whether a role has begun work on it that is not ended."""
        return self.state in IN_PROGRESS

    @property
    def is_serial(self) -> bool:
        """Whether no other item of the run may be edited meanwhile."""
        return self.locks is not None and self.locks.locking is Locking.SERIAL

    @property
    def is_repair(self) -> bool:
        """Whether its present round follows a refusal or a failure."""
        return bool(self.refusals or self.failure)

    @property
    def usage(self) -> TokenUsage:
        """The sum of what its calls have used."""
        return sum((each.usage for each in self.spent), NOTHING_USED)

    @property
    def repair_usage(self) -> TokenUsage:
        """The part of it that went into repairs."""
        return sum((each.usage for each in self.spent if each.is_repair), NOTHING_USED)

    @property
    def reopening(self) -> ItemStep:
        """The step by which it follows a task that is open again."""
        again = {ItemState.PROPOSED: ItemStep.RECOMMIT, ItemState.WRITTEN: ItemStep.REVALIDATE}
        return again.get(self.left, ItemStep.REOPEN) if self.left else ItemStep.REOPEN

    def can(self, step: ItemStep) -> bool:
        """Whether the table has this transition from the present state."""
        return (self.state, step) in ITEM_TRANSITIONS


def started_run(event: RunStarted, sequence: int, at: float) -> RunRecord:
    """Return the record of a run that the event with this sequence began at a Unix time."""
    return RunRecord(event.run, sequence, event.holder, at, at, event.holder, event.lease_id or "", event.fence)


def planned_run(before: RunRecord, event: RunPlanned) -> RunRecord:
    """Return the record of a run after a call of its planner."""
    return replace(before, usage=before.usage + (event.usage or NOTHING_USED))


def moved_run(before: RunRecord, event: RunMoved, at: float) -> RunRecord:
    """Return the record after a transition at a Unix time. Raises KeyError for one that the table does not have."""
    state = RUN_TRANSITIONS[before.state, event.move]
    after = replace(before, state=state, since=at, note=event.note)
    if event.move is RunMove.RESUME:
        return replace(after, holder=event.holder, lease_id=event.lease_id or "", fence=event.fence)
    return replace(after, lease_id="", fence=0)


def planned_items(event: RunPlanned, sequence: int, at: float) -> tuple[ItemRecord, ...]:
    """Return the records of the items that the event with this sequence made."""
    return tuple(ItemRecord(event.run_id, task, sequence, sequence, at) for task in event.tasks)


def moved_item(before: ItemRecord, event: ItemMoved, sequence: int, at: float) -> ItemRecord:
    """Return the record after a step at a Unix time. Raises KeyError for one that the table does not have."""
    after = replace(
        before,
        state=ITEM_TRANSITIONS[before.state, event.step],
        last=sequence,
        since=at,
        round=event.round,
        note=event.note,
        locks=event.locks or before.locks,
        candidate=event.candidate or before.candidate,
        outcome=event.outcome or before.outcome,
        left=event.left,
        messages=(*before.messages, *event.messages)[-MOST_KEPT:],
        admitted=(*before.admitted, *(event.outcome.admitted if event.outcome else ())),
    )
    if event.usage is not None and event.role is not None:
        spent = Spent(event.role, before.round, event.usage, before.is_repair)
        after = replace(after, spent=(*before.spent, spent))
    match event.step:
        case ItemStep.TAKE:
            return replace(after, session=event.session, run_fence=event.run_fence, intent=event.intent)
        case ItemStep.REFUSE:
            return replace(after, refusals=before.refusals + 1)
        case ItemStep.REOPEN if before.state is ItemState.ACCEPTED:
            return replace(after, failure=event.note, refusals=0, admitted=())
        case ItemStep.FAIL | ItemStep.REJECT | ItemStep.EXHAUST:
            return replace(after, failure=event.note, refusals=0)
        case _:
            return after
