"""The calls of git in a line of shell."""

from collections.abc import Sequence
from dataclasses import dataclass

from commonhold.shell.commands import commands_in
from commonhold.shell.git_words import placed, read_call
from commonhold.shell.scripts import Word


@dataclass(frozen=True, slots=True)
class ShellCall:
    """A call of git: its words, if they are literal in the text (None: known only when it runs).

    `folder` is where the shell went before, relative to its start; None if that is unknown.
    """

    argv: tuple[str | None, ...]
    folder: str | None = ""


def git_calls_of(argv: Sequence[str]) -> tuple[ShellCall, ...]:
    """Return the calls of git that a command makes, in order, including those in `bash -c '…'` and substitutions."""
    calls = (each for each in commands_in(argv) if each.name == "git")
    return tuple(ShellCall(tuple(map(_text, each.words)), each.folder) for each in calls)


def goes_to(argv: Sequence[str]) -> str:
    """Return the folder of the first command, relative to the start; empty if that is the start, or unknown."""
    first = next(iter(commands_in(argv)), None)
    if first is None or first.folder is None:
        return ""
    if first.name != "git":
        return first.folder
    words = tuple(_text(word) or "" for word in first.words)
    return placed(read_call(words), first.folder)[1]


def _text(word: Word | None) -> str | None:
    return None if word is None or word.is_pattern else word.text
