"""The questions of our own programs over HTTP, field by field: a malformed question is answered with its fault."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec

from commonhold.machine.decoding import from_plain

Call = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Answers a question: its fields in, an answer out. Raises CommonholdError."""
Words = Annotated[list[str], msgspec.Meta(min_length=1)]
Process = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
Status = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
Nanoseconds = Annotated[int, msgspec.Meta(ge=0, lt=2**62)]
Switch = Literal[0, 1] | bool


class Unfit(ValueError):  # noqa: N818 - it is answered, never shown
    """A malformed question."""


class GitBegins(TypedDict):
    """`/git`: a call of git is about to be made. See `git_calls.Asked`."""

    holder: str
    cwd: str
    argv: list[str]
    index: NotRequired[str]
    git_dir: NotRequired[str]
    work_tree: NotRequired[str]
    temporary: NotRequired[str]
    has_turn: NotRequired[Switch]
    has_fetched: NotRequired[Switch]


class GitEnds(TypedDict):
    """`/git/end`: the call with the name `after` has ended with this exit status."""

    after: str
    status: Status


class ShellBegins(TypedDict):
    """`/shell/begin`: a command is about to run. See `shell_leave.Asked`, and `ShellCalls.begin` for the rest."""

    cwd: str
    command: Words
    holder: NotRequired[str]
    process: NotRequired[Process]
    kept: NotRequired[Switch]
    root: NotRequired[str]
    call: NotRequired[str]
    agent: NotRequired[str]
    parent: NotRequired[Process]


class ShellEnds(TypedDict):
    """`/shell/end`: the command with this ticket has ended with this exit status; `ended_ns` says when, if long ago."""

    ticket: str
    status: NotRequired[Status]
    ended_ns: NotRequired[Nanoseconds]
    free: NotRequired[Switch]


@dataclass(frozen=True, slots=True)
class Route:
    """The form of a question, and the call that answers it."""

    form: type
    call: Call

    def answer(self, asked: object) -> Mapping[str, Any]:
        """Answer a question decoded from JSON. Raises Unfit, and all errors of the call."""
        try:
            fields: Mapping[str, Any] = from_plain(asked, self.form)
        except msgspec.ValidationError as fault:
            raise Unfit(str(fault)) from fault
        return self.call(fields)
