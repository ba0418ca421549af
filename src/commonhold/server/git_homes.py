"""What is kept of git for the sessions of one working tree: each one's index, and who made which commit or stash."""

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

from commonhold.adapters.git.differing import Tree
from commonhold.app.options import CONTENT_RETENTION_SECONDS
from commonhold.client.launcher import STAND_IN
from commonhold.server.git_private import PrivateTrees, remove_left, remove_unused
from commonhold.server.shell_programs import with_program_alone

FOLDER: Final = "git"
INDEX_NAME: Final = "index"
_NAME_LENGTH: Final = 16


@dataclass(frozen=True, slots=True)
class Operation:
    """What git is in the middle of in a working tree: whose it is, and whether it began in the index that all share."""

    holder: str
    is_in_shared_index: bool


class Home:
    """The folder of one session in one working tree."""

    def __init__(self, state_folder: str, tree: Tree, holder: str) -> None:
        """Lies in the state folder, under names made of those of the holder and the working tree.

        A holder's shell may write its own folder: it may go to a working tree that was not there as it began.
        """
        self.tree = tree
        self._folder_of_all = Path(state_folder, FOLDER)
        self.tree_folder = self._folder_of_all / _name(tree.root)
        self._folder_of_holder = self._folder_of_all / _name(holder)
        self.folder = self._folder_of_holder / _name(tree.root)

    def prepare(self) -> None:
        """Make the folders, and what is locked in them."""
        if not self.folder.exists():
            self._sweep()
        # Never the state folder itself: one that was moved away must not be made anew.
        for folder in (self._folder_of_all, self._folder_of_holder, self.folder, self.tree_folder):
            folder.mkdir(exist_ok=True)
        for turn in self.turns:
            Path(turn).touch()

    def _sweep(self) -> None:
        """Take away what no session has used for as long as contents are kept: each that comes makes an index.

        The objects that it names git drops before that.
        """
        oldest = time.time() - CONTENT_RETENTION_SECONDS
        for turn in self._folder_of_all.glob("*/*/turn"):
            with suppress(OSError):  # somebody else sweeps, too
                if turn.stat().st_mtime < oldest:
                    shutil.rmtree(turn.parent)

    @property
    def index(self) -> str:
        """Where the session's index is."""
        return str(self.folder / INDEX_NAME)

    def is_beside(self, index: str) -> bool:
        """Whether this is the session's index in another working tree: what a shell has that has gone from there."""
        place = Path(index)
        return place.name == INDEX_NAME and place.parent.parent == self._folder_of_holder and index != self.index

    @property
    def turns(self) -> tuple[str, str]:
        """Files that are locked (flock) by who writes the session's index, and by who moves HEAD: in this order."""
        return str(self.folder / "turn"), str(self.tree_folder / "turn")

    @property
    def head(self) -> str | None:
        """The commit that the index is in step with; empty: none yet. None: there is no index."""
        return _read(self.folder / "head")

    @head.setter
    def head(self, commit: str) -> None:
        _write(self.folder / "head", commit)

    @property
    def owed(self) -> str | None:
        """The commit that the shared index was last in step with, where it could not be brought up since."""
        return _read(self.tree_folder / "owed")

    @owed.setter
    def owed(self, commit: str | None) -> None:
        _write(self.tree_folder / "owed", commit)

    @property
    def operation(self) -> Operation | None:
        """Whose operation is under way, as far as is known."""
        how, _, holder = (_read(self.tree_folder / "operation") or "").partition(" ")
        return Operation(holder, how == "shared") if how else None

    @operation.setter
    def operation(self, operation: Operation | None) -> None:
        how = "shared" if operation and operation.is_in_shared_index else "own"
        _write(self.tree_folder / "operation", f"{how} {operation.holder}" if operation else None)

    def note(self, what: str, ids: tuple[str, ...], holder: str) -> None:
        """Write down who made commits or stashes; who is known to have made one already stays so."""
        known = self.makers(what)
        lines = "".join(f"{each} {holder}\n" for each in ids if each not in known)
        if lines:
            with (self._folder_of_all / what).open("a", encoding="utf-8") as file:
                file.write(lines)

    def makers(self, what: str) -> dict[str, str]:
        """Who made which commit or stash, by id."""
        lines = (_read(self._folder_of_all / what) or "").splitlines()
        parts = [line.split(" ", 1) for line in reversed(lines)]
        return {each[0]: each[1] for each in parts if len(each) == len(("id", "holder"))}

    def scratch(self, token: str) -> str:
        """Where the index of one call is."""
        return str(self.folder / f"scratch-{token}")

    @contextmanager
    def turn(self) -> Iterator[bool]:
        """Be the only one that writes the session's index; not so where somebody else is at it."""
        descriptor = os.open(self.turns[0], os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            yield _took(descriptor)
        finally:
            os.close(descriptor)

    def clear(self) -> None:
        """Take away what calls that died have left; only for who has the turn."""
        remove_left(self.folder)
        for pattern in ("scratch-*", "*.lock"):
            for place in self.folder.glob(pattern):
                place.unlink(missing_ok=True)

    @property
    def private_trees(self) -> PrivateTrees:
        """Where hooks of the session's commits run beside others' work."""
        return PrivateTrees(self.tree, self.tree_folder, self.folder)


def remove_private_trees(state_folder: str, unused_seconds: float = 0) -> None:
    """Take away the private trees of commits that none has used for so long, in all working trees."""
    remove_unused(Path(state_folder, FOLDER), unused_seconds)


def programs(state_folder: str) -> Path:
    """The folder with what stands in for git in the shells of sessions, made if need be."""
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
    """What a file says; None where there is none."""
    try:
        return place.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def _write(place: Path, text: str | None) -> None:
    """Let a file say this, all at once; None: there is none any more."""
    if text is None:
        place.unlink(missing_ok=True)
        return
    beside = place.with_name(f"{place.name}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(place)
