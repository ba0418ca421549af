"""What an agent's hooks report of its work, and what they answer: the same words for every agent."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from commonhold.domain.texts import MAX_HOLDER_LENGTH


@dataclass(frozen=True, slots=True)
class Caller:
    """Who works: an agent's session, or a subagent of it.

    `agent` is the word for the program ("claude"), `session` what the program calls its run, `subagent` its part of it
    that works by itself (empty: the session itself). `process` tells two runs apart that go by one name, where that is
    known: a session that was resumed is not the one that crashed.
    """

    agent: str
    session: str
    subagent: str = ""
    process: str = ""

    @property
    def holder(self) -> str:
        """The name that it holds leases by."""
        name = f"{self.agent}:{self.session}"
        return (f"{name}/{self.subagent}" if self.subagent else name)[:MAX_HOLDER_LENGTH]


class Part(StrEnum):
    """How a notebook's cell is edited."""

    REPLACE = "replace"
    INSERT = "insert"
    DELETE = "delete"


class Ends(StrEnum):
    """What a program's tool makes of the ends of lines."""

    AS_GIVEN = "as given"
    """Nothing: text is found and written as it was sent."""
    MOST = "most"
    """It sees line feeds alone, and writes CRLF throughout where most ends were that."""
    ANY = "any"
    """It sees line feeds alone, and writes CRLF throughout where any end was that."""
    SPOKEN = "spoken"
    """What is sought, and what replaces it, are said in CRLF where any end of the file is that."""
    FIRST = "first"
    """A line that is new ends as the first line of the file does; every other keeps its end."""


class Deleting(StrEnum):
    """What a program's tool takes along with a text that it replaces by nothing."""

    AS_GIVEN = "as given"
    """Nothing."""
    LINE_END = "line end"
    """The end of the line, if that follows."""
    WHOLE_LINES = "whole lines"
    """The end of the line, if that follows and nothing would be left of the line."""


@dataclass(frozen=True, slots=True)
class Manner:
    """What a program's tool does beside what it was asked for: what the file will hold depends on it.

    `keeps_mark`: a file that began with a byte order mark goes on doing so. `keeps_last_end`: the file ends in a line
    end if it did before, and only then. `bends_quotes`: curly quotes are found by straight ones. `keeps_context`: a
    line that a patch only finds stays as the file has it, even if the patch wrote it with other blanks. `reindents`:
    where a patch has other indents than the file, what is new is indented anew. `heeds_end`: what a patch says is at
    the end of the file is sought there alone.
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
    """In the file at `path`, `old` becomes `new`: at its one place, or everywhere. An empty `old` makes the file."""

    path: str
    old: str
    new: str
    everywhere: bool = False
    manner: Manner = TO_THE_LETTER


@dataclass(frozen=True, slots=True)
class Whole:
    """The file at `path` gets this content, whatever it held."""

    path: str
    content: str
    manner: Manner = TO_THE_LETTER


@dataclass(frozen=True, slots=True)
class CellEdit:
    """A cell of the notebook at `path`: replaced, inserted after `cell` (empty: first), or deleted."""

    path: str
    cell: str
    source: str
    part: Part = Part.REPLACE
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines as a patch finds them and as it leaves them; `anchors` are lines that stand before, in order.

    `at_end`: it is meant for the end of the file. `kept` are the lines that it only finds: which of `before` each is,
    and which of `after`.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    anchors: tuple[str, ...] = ()
    at_end: bool = False
    kept: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Patched:
    """The file at `path` is changed by hunks, in order, and goes to `to` if that is another path."""

    path: str
    hunks: tuple[Hunk, ...]
    to: str = ""
    manner: Manner = TO_THE_LETTER


@dataclass(frozen=True, slots=True)
class Removed:
    """The file at `path` is deleted."""

    path: str


@dataclass(frozen=True, slots=True)
class Somehow:
    """The file or folder at `path` is written in a way that cannot be predicted."""

    path: str


Wish = Swap | Whole | CellEdit | Patched | Removed | Somehow
"""What a tool is about to do to one file. Paths are absolute, or count from the folder that the agent works in."""


@dataclass(frozen=True, slots=True)
class Unclear:
    """Why the result of a wish for the file at `path` is unknown; the agent's next `step` (empty: read it again)."""

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
    """A person asked for something: others see it as the session's intent."""

    caller: Caller
    cwd: str
    prompt: str


@dataclass(frozen=True, slots=True)
class AboutToEdit:
    """A tool is about to write files. `call` names the call, where the program does; `tool` is its own name.

    `trouble` says why the wishes cannot be read from what was sent: nothing is known then of what will be written.
    `is_guess`: the tool is not known, and may do something else than its words say.
    """

    caller: Caller
    cwd: str
    call: str
    tool: str
    wishes: tuple[Wish, ...]
    trouble: str = ""
    is_guess: bool = False


@dataclass(frozen=True, slots=True)
class Edited:
    """The tool has written, or failed. `is_guess` is as in AboutToEdit."""

    caller: Caller
    cwd: str
    call: str
    tool: str
    wishes: tuple[Wish, ...]
    has_failed: bool = False
    is_guess: bool = False


CUT: Final = "\0"
"""Stands in a text that was shown of a file where the rest of a line was left out."""


@dataclass(frozen=True, slots=True)
class HasRead:
    """The session has read these files with a tool of its own.

    `shown` is what that gave of one, as the file has it but for a CUT, where it is known.
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
    """The command has ended. `has_failed` is as the program sees it."""

    caller: Caller
    cwd: str
    call: str
    command: str
    has_failed: bool = False


@dataclass(frozen=True, slots=True)
class SubagentBegan:
    """A part of the session begins to work by itself; `task` is what it is to do."""

    caller: Caller
    cwd: str
    task: str = ""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The session, or the subagent, has done what it was asked and waits."""

    caller: Caller
    cwd: str


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """The session, or the subagent, is over."""

    caller: Caller
    cwd: str


@dataclass(frozen=True, slots=True)
class Unconcerned:
    """Something that is no matter of ours."""

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
    """What we say to a tool that is about to act.

    `PASS` has no opinion: the program goes on to ask its user, or not, as it would without us. There is no word that
    allows: whether an agent may do something at all is between it and its user.
    """

    PASS = "pass"  # noqa: S105 - a word
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Response:
    """What we answer to a happening.

    `reason` is for the model, where it is denied, or where what a tool has done already is not as it should be;
    `context` tells it something beside. `notice` is for the person who watches.
    """

    stance: Stance = Stance.PASS
    reason: str = ""
    context: str = ""
    notice: str = ""


NOTHING: Final = Response()


def told(*parts: str) -> str:
    """Several things to say, one below the other."""
    return "\n".join(part for part in parts if part)


def is_about(wishes: Sequence[Wish]) -> tuple[str, ...]:
    """The paths that wishes are about, each once."""
    paths = (path for wish in wishes for path in (wish.path, wish.to if isinstance(wish, Patched) else "") if path)
    return tuple(dict.fromkeys(paths))
