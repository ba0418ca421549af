"""The files that git, called by a shell command, writes outside of its own folder. All paths are absolute."""

import glob
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from commonhold.shell.git_calls_in_shell import git_calls_of
from commonhold.shell.git_words import GitCall, placed, read_call
from commonhold.shell.git_writes import KNOWN, Written, written_by
from commonhold.shell.writes import Target
from commonhold.workspace.git.aliases import resolved
from commonhold.workspace.git.differences import find_tree, is_revision
from commonhold.workspace.git.process import Git

_MAGIC: Final = re.compile(r"[:!^(]")
_MOST: Final = 100
"""If there are more files, the answer is that any file may be written."""
_UNKNOWN: Final = "."
_STATUS: Final = ("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
_BEFORE_PATH: Final = 3
"""The number of bytes before a path in the answer of `git status`: two letters, and a blank."""
_BEFORE_NAME: Final = 2
"""The number of columns before a file's name: how many lines are new, and gone."""


@dataclass
class _Look:
    """One view of the working tree; its differences from HEAD are read once, and only if they matter."""

    git: Git
    _changed: list[str] | None = field(default=None)

    @property
    def changed(self) -> list[str]:
        """The files that differ from HEAD, and those that git does not have yet."""
        if self._changed is None:
            # `git diff` would lock the index and write it again, even beside a command of git that the user runs.
            entries = self.git.run("--no-optional-locks", *_STATUS).stdout.split(b"\0")
            self._changed = self._places(*(entry[_BEFORE_PATH:] for entry in entries))
        return self._changed

    def _differing(self, pair: str) -> list[str] | None:
        """Return the files that differ between two commits; None if git cannot answer."""
        done = self.git.run("diff", "--name-only", "--no-renames", "-z", pair, "--")
        if done.returncode == 0:
            return self._places(done.stdout)
        # A stash that is not there yet is made by the same command, of the present differences.
        return self.changed if pair.startswith("stash@") else None

    def _places(self, *told: bytes) -> list[str]:
        names = (os.fsdecode(name) for each in told for name in each.split(b"\0") if name)
        return [os.path.join(self.git.root, name) for name in names]

    def _patched(self, words: tuple[str, ...], folder: str) -> list[str] | None:
        """Return the files of some patches, also by their old names; None if git cannot answer."""
        here = Git(folder)
        told = [here.run("apply", "--numstat", "-z", *way, *words) for way in ((), ("--reverse",))]
        if any(done.returncode for done in told):
            return None
        lines = b"".join(done.stdout for done in told).split(b"\0")
        return self._places(*(line.split(b"\t", _BEFORE_NAME)[-1] for line in lines))

    def of(self, call: GitCall, folder: str) -> Written:
        here = Git(folder)
        return written_by(call, lambda word: is_revision(here, word))

    def moved(self, written: Written, folder: str) -> list[str] | None:
        """Return the files that a move of the whole working tree writes; None if they are unknown."""
        is_wider = written.anywhere or written.changed or written.paths
        if is_wider or not (written.compared or written.patched):
            return None
        patched = [self._patched(written.patched, folder)] if written.patched else []
        found = [*map(self._differing, written.compared), *patched]
        return None if None in found else [place for places in found for place in places or ()]

    def targets(self, written: Written, folder: str) -> Iterator[Target]:
        if written.anywhere or any(_MAGIC.match(path) for path in written.paths):
            yield Target(self.git.root)
        found = [self.changed] if written.changed else []
        patched = [self._patched(written.patched, folder)] if written.patched else []
        for names in [*found, *map(self._differing, written.compared), *patched]:
            is_told = names is not None and len(names) <= _MOST
            yield from (Target(name, is_replaced=True) for name in names or ()) if is_told else [Target(self.git.root)]
        for path in written.paths:
            place = os.path.normpath(os.path.join(folder, path))
            yield Target(place, glob.has_magic(path), is_replaced=not os.path.isdir(place))


def of_git(git: Git, cwd: str, command: Sequence[str]) -> tuple[Target, ...]:
    """Return the paths in the working tree of `git` that a command's git calls write; it runs in the folder `cwd`."""
    look = _Look(git)
    targets: list[Target] = []
    for call, folder in _calls(git, cwd, command):
        targets += [Target(folder)] if call is None else look.targets(look.of(call, folder), folder)
    return tuple(dict.fromkeys(targets))


def moved_paths(git: Git, call: GitCall, folder: str) -> frozenset[str] | None:
    """Return the paths that a call of `git` in a folder writes as it moves to, or joins, another commit.

    The paths are in the working tree of `git`. None if they are unknown.
    """
    look = _Look(git)
    places = look.moved(look.of(call, folder), folder)
    return None if places is None else frozenset(os.path.relpath(place, git.root) for place in places)


def _calls(git: Git, cwd: str, command: Sequence[str]) -> Iterator[tuple[GitCall | None, str]]:
    """The calls in this working tree, and their folders; None for one in a repository inside of it."""
    for found in git_calls_of(command):
        # A word that is known only when the command runs may be anything.
        argv = tuple(_UNKNOWN if word is None else word for word in found.argv)
        call, folder = placed(read_call(argv), os.path.join(cwd, found.folder or ""))
        if not os.path.isdir(folder):
            continue
        tree = find_tree(Git(folder))
        if tree is None:
            continue
        if tree.root == git.root:
            yield resolved(git, call, KNOWN), folder
        elif tree.root.startswith(f"{git.root}/"):
            yield None, tree.root
