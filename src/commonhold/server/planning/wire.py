"""The messages between the daemon and its planners: requests and answers, pickled.

Both ends are processes of one user; one has started the other, with pipes that no other process can open.
"""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass

from commonhold.code.type_checkers import TypeReport
from commonhold.commits.plan import CommitRequest, CrossFileEffects, Plan, Rejected
from commonhold.config import Settings
from commonhold.kernel.errors import CommonholdError


@dataclass(frozen=True, slots=True)
class Tree:
    """The target of a plan: a working tree, its settings, and the umask for new files there."""

    root: str
    settings: Settings
    umask: int


@dataclass(frozen=True, slots=True)
class PlanAsked:
    """A request for the plan of a commit. `earlier` holds the findings of its last plan in other files.

    `correlation` is the id of the client's request.
    """

    tree: Tree
    request: CommitRequest
    earlier: CrossFileEffects | None
    correlation: str = ""


@dataclass(frozen=True, slots=True)
class LinksAsked:
    """A request to check that the plan with that number still finds the same in other files."""

    tree: Tree
    number: int
    correlation: str = ""


@dataclass(frozen=True, slots=True)
class TypesAsked:
    """A planner's question: the new findings of the daemon's type checkers once files are changed so."""

    changes: Mapping[str, bytes | None]
    also: tuple[str, ...]
    confined: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TestsBegin:
    """A planner's announcement: it runs tests now, which may take so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Defect:
    """An unexpected exception was raised; `words` are its type and message. The planner has logged its traceback."""

    words: str


Asked = PlanAsked | LinksAsked
Question = TypesAsked | TestsBegin
Answer = Plan | Rejected | bool | CommonholdError | Defect


def packed(value: Asked | Answer | Question | TypeReport) -> bytes:
    """Return the bytes of a message."""
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def asked(data: bytes) -> Asked:
    """Return the request in these bytes."""
    request: Asked = pickle.loads(data)  # noqa: S301 - from the process that started this one
    return request


def answer(data: bytes) -> Answer:
    """Return the answer in these bytes."""
    answered: Answer = pickle.loads(data)  # noqa: S301 - from a process that this one started
    return answered


def question(data: bytes) -> Question:
    """Return the question of a planner in these bytes."""
    asked: Question = pickle.loads(data)  # noqa: S301 - from a process that this one started
    return asked


def type_report(data: bytes) -> TypeReport:
    """Return the reply to a type question in these bytes."""
    report: TypeReport = pickle.loads(data)  # noqa: S301 - from the process that started this one
    return report
