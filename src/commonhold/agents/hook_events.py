"""The events that agents' hooks report, and the responses: the same types for every agent."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from commonhold.kernel.texts import MAX_HOLDER_LENGTH


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a hook: an agent's session, or a subagent of it.

    `agent` is the name of the program ("claude"), `session` the program's name for its run, `subagent` the name of an
    independent part of it (empty: the session itself). `process` distinguishes two runs with the same name, if it is
    known: a resumed session is not the one that crashed.
    """

    agent: str
    session: str
    subagent: str = ""
    process: str = ""

    @property
    def holder(self) -> str:
        """Return the name under which it holds leases."""
        name = f"{self.agent}:{self.session}"
        return (f"{name}/{self.subagent}" if self.subagent else name)[:MAX_HOLDER_LENGTH]


class Part(StrEnum):
    """How a notebook's cell is edited."""

    REPLACE = "replace"
    INSERT = "insert"
    DELETE = "delete"


class Ends(StrEnum):
    """How a program's tool treats line endings."""

    AS_GIVEN = "as given"
    """It finds and writes text exactly as sent."""
    MOST = "most"
    """It reads all endings as line feeds, and writes CRLF throughout if most endings were CRLF."""
    ANY = "any"
    """It reads all endings as line feeds, and writes CRLF throughout if any ending was CRLF."""
    SPOKEN = "spoken"
    """It converts both the text to find and its replacement to CRLF if any ending in the file is CRLF."""
    FIRST = "first"
    """A new line gets the ending of the file's first line; all others keep theirs."""


class Deleting(StrEnum):
    """The text that a program's tool deletes along with a text that it replaces with nothing."""

    AS_GIVEN = "as given"
    """Nothing."""
    LINE_END = "line end"
    """The line ending, if it follows."""
    WHOLE_LINES = "whole lines"
    """The line ending, if it follows and nothing would be left of the line."""


@dataclass(frozen=True, slots=True)
class Manner:
    """The additional changes of a program's tool beyond the request: the result depends on them.

    `keeps_mark`: a file that began with a byte order mark still does. `keeps_last_end`: the file ends in a line ending
    if and only if it did before. `bends_quotes`: straight quotes also find curly ones. `keeps_context`: a context line
    of a patch stays as the file has it, even if the patch spells it with other blanks. `reindents`: if a patch has
    other indents than the file, new lines are indented again. `heeds_end`: lines that a patch marks as the end of the
    file are sought only there.
    """

    ends: Ends = Ends.AS_GIVEN
    deleting: Deleting = Deleting.AS_GIVEN
    keeps_mark: bool = False
    keeps_last_end: bool = False
    bends_quotes: bool = False
    keeps_context: bool = False
    reindents: bool = False
    heeds_end: bool = True


TO_THE_LETTER: Final = Manner()


@dataclass(frozen=True, slots=True)
class Swap:
    """Replace `old` with `new` in the file at `path`: once, or everywhere. An empty `old` makes the file."""

    path: str
    old: str
    new: str
    everywhere: bool = False
    manner: Manner = TO_THE_LETTER


@dataclass(frozen=True, slots=True)
class Whole:
    """Give the file at `path` this content, regardless of its present one."""

    path: str
    content: str
    manner: Manner = TO_THE_LETTER


@dataclass(frozen=True, slots=True)
class CellEdit:
    """Replace or delete a cell of the notebook at `path`, or insert one after `cell` (empty: first)."""

    path: str
    cell: str
    source: str
    part: Part = Part.REPLACE
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that a patch finds, and their replacement; `anchors` are lines that come before them, in order.

    `at_end`: it is meant for the end of the file. `kept` are the context lines: the index of each in `before`, and in
    `after`.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    anchors: tuple[str, ...] = ()
    at_end: bool = False
    kept: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Patched:
    """Change the file at `path` by hunks, in order, and move it to `to` if that is another path."""

    path: str
    hunks: tuple[Hunk, ...]
    to: str = ""
    manner: Manner = TO_THE_LETTER


@dataclass(frozen=True, slots=True)
class Removed:
    """Delete the file at `path`."""

    path: str


@dataclass(frozen=True, slots=True)
class Somehow:
    """Write the file or folder at `path` in a way that cannot be predicted."""

    path: str


IntendedWrite = Swap | Whole | CellEdit | Patched | Removed | Somehow
"""An intended write of a tool to one file. Paths are absolute, or relative to the agent's working folder."""


@dataclass(frozen=True, slots=True)
class Unclear:
    """Why the result of an intended write to the file at `path` is unknown; the next `step` (empty: read again)."""

    why: str
    path: str = ""
    step: str = ""


@dataclass(frozen=True, slots=True)
class SessionBegan:
    """An agent's session begins, or goes on."""

    caller: Caller
    cwd: str


@dataclass(frozen=True, slots=True)
class PromptGiven:
    """A person gave a prompt: others see it as the session's intent."""

    caller: Caller
    cwd: str
    prompt: str


@dataclass(frozen=True, slots=True)
class AboutToEdit:
    """A tool is about to write files. `call` is the program's id of the call, if any; `tool` is the tool's own name.

    `trouble` says why the input cannot be parsed: then the intended writes are unknown. `is_guess`: the tool is
    unknown, and may do something other than its input suggests.
    """

    caller: Caller
    cwd: str
    call: str
    tool: str
    wishes: tuple[IntendedWrite, ...]
    trouble: str = ""
    is_guess: bool = False


@dataclass(frozen=True, slots=True)
class Edited:
    """The tool has written, or failed. `is_guess` is as in AboutToEdit."""

    caller: Caller
    cwd: str
    call: str
    tool: str
    wishes: tuple[IntendedWrite, ...]
    has_failed: bool = False
    is_guess: bool = False


@dataclass(frozen=True, slots=True)
class HasRead:
    """The session has read these files with a tool of its own.

    `shown` is the tool's output for a single file, equal to its text except for each CUT, if it is known.
    """

    caller: Caller
    cwd: str
    paths: tuple[str, ...]
    shown: str = ""


@dataclass(frozen=True, slots=True)
class AboutToRun:
    """A tool is about to run a shell command."""

    caller: Caller
    cwd: str
    call: str
    tool: str
    command: str


@dataclass(frozen=True, slots=True)
class Ran:
    """The command has ended. `has_failed` is the program's judgement."""

    caller: Caller
    cwd: str
    call: str
    command: str
    has_failed: bool = False


@dataclass(frozen=True, slots=True)
class SubagentBegan:
    """A subagent of the session begins to work on its own; `task` is its task."""

    caller: Caller
    cwd: str
    task: str = ""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The session, or the subagent, has finished its work and waits.

    `may_go_on`: a reason in the response makes the agent go on, for which it has not been made to go on before.
    """

    caller: Caller
    cwd: str
    may_go_on: bool = False


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """The session, or the subagent, is over."""

    caller: Caller
    cwd: str


@dataclass(frozen=True, slots=True)
class Unconcerned:
    """An event without relevance here."""

    caller: Caller
    cwd: str


Happening = (
    SessionBegan
    | PromptGiven
    | AboutToEdit
    | Edited
    | HasRead
    | AboutToRun
    | Ran
    | SubagentBegan
    | TurnEnded
    | SessionEnded
    | Unconcerned
)


class Stance(StrEnum):
    """The decision about a tool that is about to act.

    `PASS` has no opinion: the program asks its user or not, as it would without Commonhold. There is no value that
    allows: permission is a matter between the agent and its user.
    """

    PASS = "pass"  # noqa: S105 - no password
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Response:
    """The response to an event.

    `reason` is for the model, if the action is denied, or if an action that is already done has a problem; `context`
    gives it further information. `notice` is for the person who watches.
    """

    stance: Stance = Stance.PASS
    reason: str = ""
    context: str = ""
    notice: str = ""


NOTHING: Final = Response()


def told(*parts: str) -> str:
    """Return several messages as one, each on its own line."""
    return "\n".join(part for part in parts if part)


def is_about(wishes: Sequence[IntendedWrite]) -> tuple[str, ...]:
    """Return the paths of intended writes, each once."""
    paths = (path for wish in wishes for path in (wish.path, wish.to if isinstance(wish, Patched) else "") if path)
    return tuple(dict.fromkeys(paths))
