"""Pieces of files that set a project up for an agent: each is put in and taken out by itself."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from commonhold.agents import json_entries, marked_block
from commonhold.agents.hook_commands import is_ours
from commonhold.agents.json_entries import Entry, InTheWayError
from commonhold.agents.json_text import NotJsonError
from commonhold.agents.marked_block import Marks, UnendedError
from commonhold.code.regions.toml import parse_toml
from commonhold.kernel.texts import MARK, counted

_KINDS: Final[Mapping[str, str]] = {"hooks": "hook", "env": "variable"}
_MARKS: Final = 2


class Obstacle(ValueError):  # noqa: N818 - the installer handles it
    """The file as it is cannot take the piece, or give it back; the message says why, in a few words."""


class Piece(Protocol):
    """One file, and our part of it. `text` is None if the file does not exist; so is an answer.

    `paths` are the possible names of the file: the first that exists, else the first. `is_local` says that the piece
    holds for this machine alone, `holds_secret` that no other user may read it. `put` and `take` raise Obstacle.
    """

    @property
    def paths(self) -> tuple[str, ...]: ...  # noqa: D102 - as above

    @property
    def is_local(self) -> bool: ...  # noqa: D102 - as above

    @property
    def holds_secret(self) -> bool: ...  # noqa: D102 - as above

    @property
    def what(self) -> str:
        """Return its size, in a few words: `9 hooks`."""

    def put(self, text: str | None) -> str | None:
        """Return the file with the piece in it."""

    def take(self, text: str | None) -> str | None:
        """Return the file without it."""

    def trouble(self, text: str | None) -> str:
        """Return why the piece does not work; empty if it is there as it is wanted."""

    def left_out(self, text: str | None) -> tuple[str, ...]:
        """Return names in the file that another author has used, and that we leave alone."""


@dataclass(frozen=True, slots=True)
class JsonPiece:
    """Entries in a JSON file. `alone` means nothing by itself: a file that contains only this is deleted.

    `is_strict`: the agent silently ignores a whole file with comments or trailing commas; `minds_mark`: it also does so
    if the file begins with a byte order mark.
    """

    paths: tuple[str, ...]
    entries: tuple[Entry, ...]
    alone: Mapping[str, Any] = field(default_factory=dict)
    is_strict: bool = False
    minds_mark: bool = False
    is_local: bool = True
    holds_secret: bool = False

    @property
    def what(self) -> str:
        """Return the entries, counted by their kind."""
        kinds = [_KINDS.get(each.path[0], "MCP server") for each in self.entries]
        return ", ".join(counted(kinds.count(kind), kind) for kind in dict.fromkeys(kinds))

    def put(self, text: str | None) -> str | None:
        """Return the file with the entries in it."""
        if why := self._looseness(text):
            raise Obstacle(why)
        try:
            made = json_entries.installed(text, self.entries, is_ours)
            if text is not None:
                return made
            return json.dumps({**self.alone, **json.loads(made)}, indent=2, ensure_ascii=False) + "\n"
        except (NotJsonError, InTheWayError) as fault:
            raise Obstacle(str(fault)) from fault

    def _looseness(self, text: str | None) -> str:
        """Return why the agent cannot read the file at all; empty if it can."""
        plain = (text or "").removeprefix("" if self.minds_mark else MARK)
        if not self.is_strict or not plain.strip():
            return ""
        try:
            json.loads(plain, parse_constant=_no_constant)
        except (ValueError, RecursionError) as fault:
            return f"it is not plain JSON ({fault}), and the agent ignores such a file; JSON has no comments"
        return ""

    def take(self, text: str | None) -> str | None:
        """Return the file without any entry of ours, even from an earlier version."""
        if text is None:
            return None
        try:
            bare = json_entries.removed(text, self.entries, is_ours)
        except NotJsonError as fault:
            raise Obstacle(str(fault)) from fault
        nothing = json.dumps(self.alone, indent=2) + "\n" if self.alone else None
        return None if bare != text and bare == nothing else bare

    def trouble(self, text: str | None) -> str:
        """Return which entries are missing or changed, or why the file cannot be read; empty if all is well."""
        if text is None:
            return "it does not exist"
        if why := self._looseness(text):
            return why
        try:
            is_there = json_entries.is_installed(text, self.entries, is_ours)
        except NotJsonError as fault:
            return str(fault)
        return "" if is_there else "the installed part was removed or changed"

    def left_out(self, text: str | None) -> tuple[str, ...]:
        """Return another author's members under our names."""
        return tuple(".".join((*each.path, each.key or "")) for each in json_entries.taken(text, self.entries, is_ours))


@dataclass(frozen=True, slots=True)
class BlockPiece:
    """Lines between marks at the end of a text file; no marks if there are no lines.

    `is_toml`: the result must be valid TOML.
    """

    paths: tuple[str, ...]
    body: str
    marks: Marks
    is_local: bool = True
    is_toml: bool = False
    holds_secret: bool = False

    @property
    def what(self) -> str:
        """Return how many lines it has, marks included."""
        return counted(len(self.body.splitlines()) + _MARKS, "line") if self.body else ""

    def put(self, text: str | None) -> str | None:
        """Return the file with the block at its end."""
        try:
            made = marked_block.replaced(text, self.body, self.marks)
        except UnendedError as fault:
            raise Obstacle(str(fault)) from fault
        if self.is_toml:
            _check_toml(text or "", "it is no TOML")
            _check_toml(made or "", "it has a table of that name already, which is not ours")
        return made

    def take(self, text: str | None) -> str | None:
        """Return the file without the block."""
        try:
            return None if text is None else marked_block.removed(text, self.marks)
        except UnendedError as fault:
            raise Obstacle(str(fault)) from fault

    def trouble(self, text: str | None) -> str:
        """Return whether the block is missing or changed; empty if it is there word by word, or has no lines."""
        if text is None or not self.body:
            return "it does not exist" if self.body else ""
        try:
            return (
                "" if marked_block.block_in(text, self.marks) == self.body else "our part of it is missing or changed"
            )
        except UnendedError as fault:
            return str(fault)

    def left_out(self, text: str | None) -> tuple[str, ...]:  # noqa: ARG002 - a taken name is an obstacle here
        """Return nothing."""
        return ()


def _no_constant(name: str) -> None:
    """Refuse a constant that Python reads as a number, and no other reader of JSON does."""
    raise ValueError(f"{name} is no number")


def _check_toml(text: str, why: str) -> None:
    try:
        parse_toml(text.removeprefix(MARK))
    except ValueError as fault:
        raise Obstacle(f"{why}: {fault}") from fault


@dataclass(frozen=True, slots=True)
class FilePiece:
    """A file that is all ours; `is_mine` recognizes it, also one from an earlier version."""

    paths: tuple[str, ...]
    text: str
    is_mine: Callable[[str], bool]
    what: str = "1 file"
    is_local: bool = True
    holds_secret: bool = False

    def put(self, text: str | None) -> str | None:
        """Return the file."""
        if text is not None and not self.is_mine(text):
            raise Obstacle("a file of that name is there already, and it is not ours")
        return self.text

    def take(self, text: str | None) -> str | None:
        """Return None; a file that is not ours stays, and is returned."""
        return None if text is not None and self.is_mine(text) else text

    def trouble(self, text: str | None) -> str:
        """Return whether it is missing or changed; empty if it is there byte for byte."""
        if text is None:
            return "it does not exist"
        return "" if text == self.text else "it is not as it was installed"

    def left_out(self, text: str | None) -> tuple[str, ...]:  # noqa: ARG002 - a file of another's is an obstacle here
        """Return nothing."""
        return ()
