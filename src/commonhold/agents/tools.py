"""The effects of an agent's tools, as data: which arguments of a call describe files, commands and reads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commonhold.agents.agent import Unreadable
from commonhold.agents.hook_events import (
    TO_THE_LETTER,
    AboutToEdit,
    AboutToRun,
    Caller,
    CellEdit,
    Edited,
    Happening,
    HasRead,
    Manner,
    Part,
    Ran,
    Removed,
    Swap,
    Unconcerned,
    Whole,
)
from commonhold.agents.patches import Asked, read_patch
from commonhold.agents.payloads import text
from commonhold.agents.unknown_tools import paths_read, wishes_of

Arguments = Mapping[str, Any]
Names = tuple[str, ...]
"""The possible names of an argument, the usual one first."""


@dataclass(frozen=True, slots=True)
class Edits:
    """A tool that writes files; `asks` reads the requested writes from its arguments."""

    asks: Callable[[Arguments], Asked]


@dataclass(frozen=True, slots=True)
class Runs:
    """A tool that runs the shell command in the argument `command`; without one it does nothing if it `may_idle`."""

    may_idle: bool = False


@dataclass(frozen=True, slots=True)
class Reads:
    """A tool that shows the file in this argument."""

    path: Names


Tool = Edits | Runs | Reads
Tools = Mapping[str, Tool]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool. `arguments` are as they were sent: they should be an object, or the text of a patch.

    `shown` is the text that it returned of a file that it read, if the program reports it; None if that is no part of
    the file.
    """

    caller: Caller
    cwd: str
    id: str
    tool: str
    arguments: Any
    shown: str | None = ""


def about_to(call: Call, tools: Tools) -> Happening:
    """Return the intended effect of a call.

    Raises Unreadable if it writes or runs something without saying where or what.
    """
    tool = tools.get(call.tool)
    if tool is None and call.cwd and (wishes := wishes_of(call.tool, call.arguments)):
        return AboutToEdit(call.caller, call.cwd, call.id, call.tool, wishes, is_guess=True)
    if isinstance(tool, Edits | Runs) and not call.cwd:
        raise Unreadable(f"it calls {call.tool} and does not say in which folder")
    match tool:
        case Edits() as edits:
            asked = _asked(edits, call)
            return AboutToEdit(call.caller, call.cwd, call.id, call.tool, asked.wishes, asked.trouble)
        case Runs() as runs:
            return _about_to_run(runs, call)
        case _:
            return Unconcerned(call.caller, call.cwd)


def has_done(call: Call, tools: Tools, *, has_failed: bool) -> Happening:
    """Return the effect of a call that has ended."""
    tool = tools.get(call.tool)
    if tool is None and call.cwd:
        return _has_done_somehow(call, has_failed=has_failed)
    match tool:
        case Edits() as edits:
            wishes = _asked(edits, call).wishes
            return Edited(call.caller, call.cwd, call.id, call.tool, wishes, has_failed=has_failed)
        case Runs():
            return Ran(call.caller, call.cwd, call.id, _text(call, ("command",)), has_failed=has_failed)
        case Reads(names) if not has_failed and call.shown is not None and (path := _text(call, names)):
            return HasRead(call.caller, call.cwd, (path,), call.shown)
        case _:
            return Unconcerned(call.caller, call.cwd)


def _has_done_somehow(call: Call, *, has_failed: bool) -> Happening:
    """Return the effects of a call of an unknown tool."""
    if wishes := wishes_of(call.tool, call.arguments):
        return Edited(call.caller, call.cwd, call.id, call.tool, wishes, has_failed, is_guess=True)
    read = () if has_failed else paths_read(call.tool, call.arguments)
    return HasRead(call.caller, call.cwd, read) if read else Unconcerned(call.caller, call.cwd)


def swap(path: Names, old: Names, new: Names, everywhere: str = "", manner: Manner = TO_THE_LETTER) -> Edits:
    """Return a tool that exchanges one text for another."""
    return Edits(lambda arguments: _swaps(arguments, [arguments], path, old, new, everywhere, manner))


def swaps(
    each: str, path: Names, old: Names, new: Names, everywhere: str = "", manner: Manner = TO_THE_LETTER
) -> Edits:
    """Return a tool that does so several times in order: a list in `each`, whose items may leave the path out."""
    return Edits(lambda arguments: _swaps(arguments, arguments.get(each), path, old, new, everywhere, manner))


def whole(path: Names, content: Names, manner: Manner = TO_THE_LETTER) -> Edits:
    """Return a tool that writes a whole file."""

    def asks(arguments: Arguments) -> Asked:
        missing = _missing(arguments, path, content)
        return missing or Asked((Whole(text(arguments, *path), text(arguments, *content), manner),))

    return Edits(asks)


def removal(path: Names) -> Edits:
    """Return a tool that deletes a file."""
    return Edits(lambda arguments: _missing(arguments, path) or Asked((Removed(text(arguments, *path)),)))


def patch(names: Names, manner: Manner = TO_THE_LETTER) -> Edits:
    """Return a tool that applies a patch, which may be its whole input."""

    def asks(arguments: Arguments) -> Asked:
        return _missing(arguments, names) or read_patch(text(arguments, *names), manner)

    return Edits(asks)


def cell(path: Names, name: Names, source: Names, part: Names, kind: Names) -> Edits:
    """Return a tool that edits a cell of a notebook."""

    def asks(arguments: Arguments) -> Asked:
        try:
            what = Part(text(arguments, *part) or Part.REPLACE)
        except ValueError:
            return Asked((), f"it edits a cell in a way that is not known: {text(arguments, *part)!r}")
        missing = _missing(arguments, path) if what is Part.DELETE else _missing(arguments, path, source)
        edit = CellEdit(
            text(arguments, *path), text(arguments, *name), text(arguments, *source), what, text(arguments, *kind)
        )
        return missing or Asked((edit,))

    return Edits(asks)


def opaque(why: str) -> Edits:
    """Return a tool that writes files and does not describe its writes."""
    return Edits(lambda _: Asked((), why))


def _asked(edits: Edits, call: Call) -> Asked:
    if isinstance(call.arguments, str):
        return edits.asks({"": call.arguments})
    return edits.asks(call.arguments if isinstance(call.arguments, Mapping) else {})


def _about_to_run(runs: Runs, call: Call) -> Happening:
    command = _text(call, ("command",))
    if command:
        return AboutToRun(call.caller, call.cwd, call.id, call.tool, command)
    if runs.may_idle and isinstance(call.arguments, Mapping) and "command" not in call.arguments:
        return Unconcerned(call.caller, call.cwd)
    raise Unreadable(f"it calls {call.tool} and does not say which command is to be run")


def _text(call: Call, names: Names) -> str:
    return text(call.arguments, *names) if isinstance(call.arguments, Mapping) else ""


def _swaps(
    shared: Arguments, each: object, path: Names, old: Names, new: Names, everywhere: str, manner: Manner
) -> Asked:
    if not isinstance(each, Sequence) or not each:
        return Asked((), "it does not name the text to replace")
    found: list[Swap] = []
    for one in each:
        arguments = {**shared, **one} if isinstance(one, Mapping) else {}
        missing = _missing(arguments, path, old, new)
        if missing:
            return Asked(tuple(found), missing.trouble)
        at, was, becomes = (text(arguments, *names) for names in (path, old, new))
        found.append(Swap(at, was, becomes, arguments.get(everywhere) is True, manner))
    return Asked(tuple(found))


def _missing(arguments: Arguments, *wanted: Names) -> Asked | None:
    """Return the complaint if an argument is absent or no string; the first is a path, which must not be empty."""
    for names in wanted:
        if not any(isinstance(arguments.get(name), str) for name in names):
            return Asked((), f"the call lacks {names[0] or 'arguments'}")
    return None if text(arguments, *wanted[0]) else Asked((), f"its {wanted[0][0]} is empty")
