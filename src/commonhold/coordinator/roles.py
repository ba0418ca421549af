"""The roles of a run, as interfaces: the request to each, and its answer.

A role is plain Python, or a command (`command_roles.py`), or an agent's program (`agents/prompt_editor.py`). Roles
never call each other: the coordinator posts each answer to the blackboard, and the next role reads it there. An answer
may be `RoleFailed`; a role raises nothing.
"""

from dataclasses import dataclass
from typing import Protocol

from commonhold.kernel.answers import RegionText
from commonhold.kernel.changeset import Changeset, LeaseRef
from commonhold.kernel.run import ItemRecord, LockPlan, Role, RoleMessage, Run, TokenUsage
from commonhold.kernel.task import Task
from commonhold.runs.recovery import next_plan


class Stop(Protocol):
    """A sign that a role should end early, such as a `threading.Event`."""

    def is_set(self) -> bool:
        """Whether to end."""
        ...

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the sign for so many seconds; return whether it is there."""
        ...


@dataclass(frozen=True, slots=True)
class RoleFailed:
    """A role gave no answer; `why` is a clause. `usage` counts even so, as do the commits `admitted` of an editor."""

    why: str
    usage: TokenUsage | None = None
    admitted: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemRequest:
    """A request about a work item: the run, the task, and the item as it stands on the blackboard.

    `root` is the path of the working tree. For the editor, `regions` are the regions of the lock plan as they are now,
    `absent` the keys of those that do not exist (yet), and `leases` those that protect them.
    """

    run: Run
    task: Task
    item: ItemRecord
    root: str
    regions: tuple[RegionText, ...] = ()
    absent: tuple[str, ...] = ()
    leases: tuple[LeaseRef, ...] = ()

    def messages(self, role: Role) -> tuple[RoleMessage, ...]:
        """Return the messages to a role."""
        return tuple(each for each in self.item.messages if each.to is role)


@dataclass(frozen=True, slots=True)
class Planned:
    """The tasks that the planner makes of a goal, keys as written."""

    tasks: tuple[Task, ...]
    usage: TokenUsage | None = None


@dataclass(frozen=True, slots=True)
class Edited:
    """The editor's answer: a changeset, or None if nothing has to change, or if the agent has written by itself.

    `admitted` are the commits that such an agent has made, by sequence; `note` says why nothing had to change.
    """

    changeset: Changeset | None
    note: str = ""
    usage: TokenUsage | None = None
    messages: tuple[RoleMessage, ...] = ()
    admitted: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Replanned:
    """The recovery coordinator's answer: the next lock plan, or None to end the attempt, for the reason `note`."""

    locks: LockPlan | None
    note: str = ""
    usage: TokenUsage | None = None
    messages: tuple[RoleMessage, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The validator's answer. `why` is the failure, for the next editor; `locks` its lock plan, if it is another."""

    passed: bool
    why: str = ""
    usage: TokenUsage | None = None
    messages: tuple[RoleMessage, ...] = ()
    locks: LockPlan | None = None


class Planner(Protocol):
    """Makes work items of a goal."""

    def plan(self, goal: str, root: str, stop: Stop) -> Planned | RoleFailed:
        """Return the tasks for a goal in the working tree at `root`."""
        ...


class Editor(Protocol):
    """Makes candidates."""

    def edit(self, request: ItemRequest, stop: Stop) -> Edited | RoleFailed:
        """Return a candidate for the intent of an item, made for the present text of its regions."""
        ...


class Recovery(Protocol):
    """Makes lock plans of refusals."""

    def replan(self, request: ItemRequest, stop: Stop) -> Replanned | RoleFailed:
        """Return the lock plan for the next candidate of a refused item."""
        ...


class Validator(Protocol):
    """Judges the written result of an item."""

    def validate(self, request: ItemRequest, stop: Stop) -> Verdict | RoleFailed:
        """Return whether the result of an item is right."""
        ...


class RecoveryByRules:
    """The default recovery coordinator; see `runs.recovery`."""

    def replan(self, request: ItemRequest, stop: Stop) -> Replanned:  # noqa: ARG002 - rules need no time
        """Return the lock plan that follows from the outcome."""
        locks = next_plan(request.item)
        return Replanned(locks, locks.why if locks else f"{request.item.refusals} candidates were refused")


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of a run. The planner is needed only for a run that begins without tasks.

    `editor_writes`: the editor writes files by itself, in sessions of its own. Commonhold decides on each of its
    writes, so no leases are acquired for it: they would keep it out.
    """

    editor: Editor
    validator: Validator
    recovery: Recovery
    planner: Planner | None = None
    editor_writes: bool = False
