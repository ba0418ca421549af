"""The files that a shell command shows: for agents that read with programs, not with a tool of their own."""

from collections.abc import Sequence
from typing import Final

from commonhold.shell.commands import commands_in, joined

_SHOWING: Final = frozenset({"cat", "bat", "batcat", "nl", "less", "more", "head", "tail", "sed"})
"""Programs that show a file's text. A part counts as the whole: its reader knows that there is more."""


def shown_by(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the paths that a command shows, relative to the folder in which it runs; some may be no files.

    Nothing is returned if any of its output goes to a file.
    """
    commands = commands_in(argv)
    if any(not target.text.startswith("/dev/") for command in commands for target in command.targets):
        return ()
    found = []
    for command in commands:
        words = [word.text for word in command.words if word and not word.is_pattern]
        is_edit = command.name == "sed" and any(word.startswith(("-i", "--in-place")) for word in words)
        if command.name in _SHOWING and not is_edit:
            found += [joined(command.folder, word) for word in words if not word.startswith("-")]
    return tuple(dict.fromkeys(path for path in found if path is not None))
