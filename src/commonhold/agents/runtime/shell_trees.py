"""The other working trees of the repository that a shell command goes to, or creates and then goes to."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from commonhold.agents.runtime.working_trees import Trees
from commonhold.kernel.keys import can_be_named
from commonhold.shell.commands import ShellCommand, commands_in
from commonhold.shell.git_words import placed, read_call
from commonhold.workspace.git.process import Git
from commonhold.workspace.repository import find_repository
from commonhold.workspace.survey import Survey

_REGULAR: Final = ("100644", "100755")
_TICK_NS: Final = 20_000_000
"""File systems take the time of a change from a clock that ticks every few milliseconds."""


def trees_visited(command: Sequence[str], cwd: str, root: str) -> tuple[str, ...]:
    """Return the roots of the existing working trees, beside the one at `root`, that a command goes to."""
    folders = dict.fromkeys(Path(cwd, each).resolve() for each in _folders(command))
    if not folders:
        return ()
    trees = Trees(find_repository(root))
    found = dict.fromkeys(trees.around(str(folder)) for folder in folders if folder.is_dir())
    return tuple(each for each in found if each and each != root)


def _folders(command: Sequence[str]) -> Iterator[str]:
    for each in commands_in(command):
        folder = _folder_of(each)
        if folder:
            yield folder


def _folder_of(command: ShellCommand) -> str:
    """Return the folder in which a command works, seen from the start of its line; empty: the start, or unknown."""
    if command.name != "git" or command.folder is None:
        return command.folder or ""
    words = tuple("" if word is None else word.text for word in command.words)
    return placed(read_call(words), command.folder)[1]


def is_made_since(root: str, begun_ns: int) -> bool:
    """Whether a linked working tree was created after this moment (wall time)."""
    try:
        return Path(root, ".git").lstat().st_ctime_ns >= begun_ns - _TICK_NS
    except OSError:
        return False


def as_checked_out(root: str) -> Survey:
    """Return a survey of a working tree as git created it: all files as in HEAD. Raises StoreError `GIT_FAILED`."""
    clean = {}
    for entry in Git(root).ask("ls-tree", "-r", "-z", "HEAD").split(b"\0")[:-1]:
        told, _, name = entry.partition(b"\t")
        mode, _, content = told.decode("ascii").split(" ")
        path = os.fsdecode(name)
        if mode in _REGULAR and can_be_named(path):
            clean[path] = content
    return Survey(clean, {})
