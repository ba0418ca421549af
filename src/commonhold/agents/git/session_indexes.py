"""Git's files for the sessions of one working tree: the index of each, and the makers of commits and stashes."""

import fcntl
import hashlib
import os
import shlex
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonhold.agents.git.private_trees import PrivateTrees, remove_left, remove_unused
from commonhold.agents.runtime.shell_programs import with_program_alone
from commonhold.client.launcher import STAND_IN
from commonhold.kernel.options import CONTENT_RETENTION_SECONDS
from commonhold.workspace.git.differences import Tree

FOLDER: Final = "git"
INDEX_NAME: Final = "index"
_NAME_LENGTH: Final = 16


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of git that is under way in a working tree: its holder, and whether it began in the shared index."""

    holder: str
    is_in_shared_index: bool


class Home:
    """The folder of one session in one working tree."""

    def __init__(self, state_folder: str, tree: Tree, holder: str) -> None:
        """Use a folder in the state folder; its name is a hash of the holder's and the working tree's.

        A holder's shell may write its own folder, since it may go to a working tree that is created after the shell
        began.
        """
        self.tree = tree
        self._folder_of_all = Path(state_folder, FOLDER)
        self.tree_folder = self._folder_of_all / _name(tree.root)
        self._folder_of_holder = self._folder_of_all / _name(holder)
        self.folder = self._folder_of_holder / _name(tree.root)

    def prepare(self) -> None:
        """Create the folders, and the lock files in them."""
        if not self.folder.exists():
            self._sweep()
        # Never the state folder itself: if that was moved away, it must not be created again.
        for folder in (self._folder_of_all, self._folder_of_holder, self.folder, self.tree_folder):
            folder.mkdir(exist_ok=True)
        for turn in self.turns:
            Path(turn).touch()

    def _sweep(self) -> None:
        """Remove folders that no session has used for as long as contents are kept: each new session makes an index.

        Git drops the objects that such an index names before that.
        """
        oldest = time.time() - CONTENT_RETENTION_SECONDS
        for turn in self._folder_of_all.glob("*/*/turn"):
            with suppress(OSError):  # another session sweeps, too
                if turn.stat().st_mtime < oldest:
                    shutil.rmtree(turn.parent)

    @property
    def index(self) -> str:
        """The path of the session's index."""
        return str(self.folder / INDEX_NAME)

    def is_beside(self, index: str) -> bool:
        """Whether `index` is the session's index in another working tree: a shell that moved here still names that."""
        place = Path(index)
        return place.name == INDEX_NAME and place.parent.parent == self._folder_of_holder and index != self.index

    @property
    def turns(self) -> tuple[str, str]:
        """The files to lock (flock) before writing the session's index and before moving HEAD: in this order."""
        return str(self.folder / "turn"), str(self.tree_folder / "turn")

    @property
    def head(self) -> str | None:
        """The commit that the index is in step with; empty if there is no commit yet, None if there is no index."""
        return _read(self.folder / "head")

    @head.setter
    def head(self, commit: str) -> None:
        _write(self.folder / "head", commit)

    @property
    def owed(self) -> str | None:
        """The commit that the shared index was last in step with, if it could not be updated since."""
        return _read(self.tree_folder / "owed")

    @owed.setter
    def owed(self, commit: str | None) -> None:
        _write(self.tree_folder / "owed", commit)

    @property
    def operation(self) -> Operation | None:
        """The operation under way, as far as is known."""
        how, _, holder = (_read(self.tree_folder / "operation") or "").partition(" ")
        return Operation(holder, how == "shared") if how else None

    @operation.setter
    def operation(self, operation: Operation | None) -> None:
        how = "shared" if operation and operation.is_in_shared_index else "own"
        _write(self.tree_folder / "operation", f"{how} {operation.holder}" if operation else None)

    def note(self, what: str, ids: tuple[str, ...], holder: str) -> None:
        """Record the maker of commits or stashes; a maker already recorded stays."""
        known = self.makers(what)
        lines = "".join(f"{each} {holder}\n" for each in ids if each not in known)
        if lines:
            with (self._folder_of_all / what).open("a", encoding="utf-8") as file:
                file.write(lines)

    def makers(self, what: str) -> dict[str, str]:
        """Return the makers of commits or stashes, by id."""
        lines = (_read(self._folder_of_all / what) or "").splitlines()
        parts = [line.split(" ", 1) for line in reversed(lines)]
        return {each[0]: each[1] for each in parts if len(each) == len(("id", "holder"))}

    def scratch(self, token: str) -> str:
        """Return the path of the index of one call."""
        return str(self.folder / f"scratch-{token}")

    @contextmanager
    def turn(self) -> Iterator[bool]:
        """Try to lock the session's index for writing; yield False if another call holds the lock."""
        descriptor = os.open(self.turns[0], os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            yield _took(descriptor)
        finally:
            os.close(descriptor)

    def clear(self) -> None:
        """Remove the files that dead calls left; the caller must hold the lock."""
        remove_left(self.folder)
        for pattern in ("scratch-*", "*.lock"):
            for place in self.folder.glob(pattern):
                place.unlink(missing_ok=True)

    @property
    def private_trees(self) -> PrivateTrees:
        """The private trees, in which hooks of the session's commits run apart from others' work."""
        return PrivateTrees(self.tree, self.tree_folder, self.folder)


def remove_private_trees(state_folder: str, unused_seconds: float = 0) -> None:
    """Remove the private trees that no commit has used for `unused_seconds`, in all working trees."""
    remove_unused(Path(state_folder, FOLDER), unused_seconds)


def programs(state_folder: str) -> Path:
    """Return the folder with the program that stands in for git in sessions' shells; create it if necessary."""
    folder = Path(state_folder, FOLDER, "bin")
    folder.parent.mkdir(exist_ok=True)
    words = (sys.executable, "-I", "-S", STAND_IN, str(folder))
    return with_program_alone(folder, "git", f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')


def _took(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _name(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_NAME_LENGTH]


def _read(place: Path) -> str | None:
    """Return the text of a file; None if there is none."""
    try:
        return place.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def _write(place: Path, text: str | None) -> None:
    """Replace the text of a file atomically; None removes the file."""
    if text is None:
        place.unlink(missing_ok=True)
        return
    beside = place.with_name(f"{place.name}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(place)
