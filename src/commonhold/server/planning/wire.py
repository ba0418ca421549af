"""What goes between the daemon and its planners: requests and answers, pickled.

Both ends are processes of one user, one started by the other with pipes that nobody else can open.
"""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass

from commonhold.app.plan import CommitRequest, Crossed, Plan, Rejected
from commonhold.app.typing import TypeReport
from commonhold.config import Settings
from commonhold.domain.errors import CommonholdError


@dataclass(frozen=True, slots=True)
class Tree:
    """For whom a plan is made: a working tree, its settings, and the umask that new files there get."""

    root: str
    settings: Settings
    umask: int


@dataclass(frozen=True, slots=True)
class PlanAsked:
    """Make the plan of a commit. `earlier` is what its last plan found in other files."""

    tree: Tree
    request: CommitRequest
    earlier: Crossed | None


@dataclass(frozen=True, slots=True)
class LinksAsked:
    """Say whether the plan with that number still finds the same in other files."""

    tree: Tree
    number: int


@dataclass(frozen=True, slots=True)
class TypesAsked:
    """What a planner asks in turn: what the daemon's type checkers newly say once files are changed so."""

    changes: Mapping[str, bytes | None]
    also: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TestsBegin:
    """What a planner tells: it runs tests now, which may take so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Defect:
    """Something was raised that should not have been; `traceback` says what, and where."""

    traceback: str


Asked = PlanAsked | LinksAsked
Question = TypesAsked | TestsBegin
Answer = Plan | Rejected | bool | CommonholdError | Defect


def packed(value: Asked | Answer | Question | TypeReport) -> bytes:
    """The bytes of a request or an answer."""
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def asked(data: bytes) -> Asked:
    """The request in these bytes."""
    request: Asked = pickle.loads(data)  # noqa: S301 - from the process that started this one
    return request


def answer(data: bytes) -> Answer:
    """The answer in these bytes."""
    answered: Answer = pickle.loads(data)  # noqa: S301 - from a process that this one started
    return answered


def question(data: bytes) -> Question:
    """The question of a planner in these bytes."""
    asked: Question = pickle.loads(data)  # noqa: S301 - from a process that this one started
    return asked


def type_report(data: bytes) -> TypeReport:
    """The reply to it in these bytes."""
    report: TypeReport = pickle.loads(data)  # noqa: S301 - from the process that started this one
    return report
