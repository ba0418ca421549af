"""The files that a shell command shows: for agents that read with programs, not with a tool of their own."""

from collections.abc import Iterator, Sequence
from typing import Final

from commonhold.shell.commands import ShellCommand, commands_in, joined

_SHOWING: Final = frozenset({"cat", "bat", "batcat", "nl", "less", "more", "head", "tail", "sed"})
"""Programs that show a file's text. A part counts as the whole: its reader knows that there is more."""


def shown_by(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the paths that a command shows, relative to the folder in which it runs; some may be no files.

    Nothing is returned if any of its output goes to a file.
    """
    commands = commands_in(argv)
    if any(not target.text.startswith("/dev/") for command in commands for target in command.targets):
        return ()
    return tuple(dict.fromkeys(path for command in commands for path in _shown(command)))


def _shown(command: ShellCommand) -> Iterator[str]:
    if command.name not in _SHOWING:
        return
    words = [word.text for word in command.words if word and not word.is_pattern]
    if command.name == "sed" and any(word.startswith(("-i", "--in-place")) for word in words):
        return
    for word in words:
        path = None if word.startswith("-") else joined(command.folder, word)
        if path is not None:
            yield path
