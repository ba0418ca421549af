"""The private working trees in which hooks of commits run: one is kept for each working tree, until it is unused.

A note in the state folder holds the path of each. The note lies in the working tree's folder while the private tree is
free, and in a session's folder while its commit uses the tree. A commit takes the note before it updates the tree, so a
tree that a dead call left half updated is never used again.
"""

import contextlib
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from commonhold.kernel.errors import StoreError
from commonhold.workspace.git.differences import Tree
from commonhold.workspace.git.indexes import Index
from commonhold.workspace.git.private_tree import PREFIX, PrivateTree, folder_of, remove

UNUSED_SECONDS: Final = 3_600.0
"""How long a private tree is kept after the last commit that used it."""
LEFT_SECONDS: Final = 86_400.0
"""No commit takes so long: a tree in use for longer was left by a dead call."""
_KEPT: Final = "private"


class PrivateTrees:
    """The private trees of one working tree, for one session."""

    def __init__(self, tree: Tree, folder_of_tree: Path, folder_of_session: Path) -> None:
        """Keep notes in these folders; both must exist."""
        self._tree = tree
        self._kept = folder_of_tree / _KEPT
        self._folder = folder_of_session

    def take(self, index: Index, content: str, temporary: str = "") -> "Taken":
        """Take a private tree with the content of the tree `content`, in a folder in `temporary` (empty: the system's).

        Use it with `index`, which has that content. Raises StoreError `GIT_FAILED` and OSError, and leaves nothing.
        """
        note = self._folder / f"{_KEPT}-{secrets.token_hex(4)}"
        with contextlib.suppress(FileNotFoundError):
            self._kept.rename(note)
            kept = PrivateTree(self._tree, note.read_text(encoding="utf-8"))
            if kept.is_usable and str(Path(kept.place).parent) == folder_of(temporary):
                with contextlib.suppress(StoreError, OSError):  # then a new one is made, which no hook has touched
                    kept.bring_up(index, content)
                    return Taken(kept, note, self._kept)
            kept.remove()
        private = PrivateTree.new(self._tree, temporary)
        try:
            note.write_text(private.place, encoding="utf-8")
            private.bring_up(index, content)
        except BaseException:  # no other call knows of it
            Taken(private, note, self._kept).remove()
            raise
        return Taken(private, note, self._kept)


class Taken:
    """A private tree that one commit uses."""

    def __init__(self, private: PrivateTree, note: Path, kept: Path) -> None:
        """`note` holds the path of the tree; at `kept` the note lies while the tree is free."""
        self.private = private
        self._note = note
        self._kept = kept

    def give_back(self) -> None:
        """Keep the tree for the next commit, unless another is kept, or the disk is nearly full."""
        if self.private.may_stay:
            with contextlib.suppress(OSError):  # another is kept already, or the note was removed
                os.utime(self._note)
                self._kept.hardlink_to(self._note)
                self._note.unlink()
                return
        self.remove()

    def remove(self) -> None:
        """Remove the tree and its note."""
        self.private.remove()
        self._note.unlink(missing_ok=True)


def remove_left(folder_of_session: Path) -> None:
    """Remove the trees that dead calls of a session left; the caller must hold the session's lock."""
    for note in folder_of_session.glob(f"{_KEPT}-*"):
        _remove(note)


def remove_unused(folder_of_all: Path, unused_seconds: float = UNUSED_SECONDS) -> None:
    """Remove the trees that no commit has used for `unused_seconds`, and those that dead calls left long ago."""
    for note in _older(folder_of_all.glob(f"*/{_KEPT}"), unused_seconds):
        taken = note.with_name(f"{_KEPT}-{secrets.token_hex(4)}")
        with contextlib.suppress(FileNotFoundError):  # a commit was quicker
            note.rename(taken)
            _remove(taken)
    for pattern in (f"*/{_KEPT}-*", f"*/*/{_KEPT}-*"):
        for note in _older(folder_of_all.glob(pattern), LEFT_SECONDS):
            _remove(note)
    for folder in _older(Path(folder_of("")).glob(f"{PREFIX}*"), LEFT_SECONDS):
        remove(str(folder))  # its repository is gone


def _older(places: Iterator[Path], seconds: float) -> Iterator[Path]:
    oldest = time.time() - seconds
    for place in places:
        with contextlib.suppress(OSError):
            if place.lstat().st_mtime <= oldest:
                yield place


def _remove(note: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        remove(note.read_text(encoding="utf-8"))
        note.unlink()
