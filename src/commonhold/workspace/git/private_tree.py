"""A working tree for commits alone: it contains exactly the files of one index, so a commit's hooks see only those.

It is kept from one commit to the next, and then updated by the differences.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonhold.workspace.git.differences import Tree
from commonhold.workspace.git.ignored_links import RULES, IgnoredLinks
from commonhold.workspace.git.indexes import Index
from commonhold.workspace.git.objects import INDEX
from commonhold.workspace.git.process import Git, failed, run

PREFIX: Final = "commonhold-commit-"
_MOST_OF_DISK: Final = 0.9
_WORK: Final = "work"
_AT_ONCE: Final = ("-c", "checkout.workers=4")
_AS_IT_IS: Final = ("-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "core.splitIndex=false")
_OTHERS: Final = ("ls-files", "-z", "--others", "--directory")
_STATUS: Final = (
    *("status", "--porcelain", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames"),
    "--ignore-submodules=all",
)
_IGNORED: Final = "!"


def has_hook(tree: Tree, name: str) -> bool:
    """Whether git would run a hook of that name in a working tree."""
    done = run("-C", tree.root, "rev-parse", "--git-path", f"hooks/{name}")
    place = Path(tree.root, os.fsdecode(done.stdout).removesuffix("\n"))
    return done.returncode == 0 and os.access(place, os.X_OK) and place.is_file()


@dataclass(frozen=True, slots=True)
class Made:
    """A changed file in there: its bytes before and after (None: not there)."""

    path: str
    before: bytes | None
    after: bytes | None


class PrivateTree:
    """A copy of the files of an index, which git uses as its working tree: with the same HEAD, branches and settings.

    Ignored files of the true working tree (`node_modules`, `.venv`, caches) are there by links, since hooks need them.
    One commit at a time may use it.
    """

    def __init__(self, tree: Tree, folder: str) -> None:
        """Stand for `tree` in `folder`, which has no other use. It is empty until it is brought up."""
        self._tree = tree
        self.place = folder
        self.root = os.path.join(folder, _WORK, os.path.basename(tree.root) or _WORK)
        self._git = Git(self.root)
        self._kept = Index(self._git, os.path.join(folder, "index"))

    @classmethod
    def new(cls, tree: Tree, temporary: str = "") -> "PrivateTree":
        """One in a new folder in `temporary` (empty: the system's)."""
        return cls(tree, tempfile.mkdtemp(prefix=PREFIX, dir=folder_of(temporary)))

    @property
    def is_usable(self) -> bool:
        """Whether the folder is there, and only this user may write it: others may write beside it."""
        try:
            found = os.lstat(self.place)
        except OSError:
            return False
        return os.path.isdir(self.place) and found.st_uid == os.geteuid() and found.st_mode & 0o077 == 0

    @property
    def may_stay(self) -> bool:
        """Whether the disk has enough room to keep it until the next commit."""
        with suppress(OSError):
            found = shutil.disk_usage(self.place)
            return found.used < found.total * _MOST_OF_DISK
        return False

    def bring_up(self, index: Index, content: str) -> None:
        """Make it contain just the tree `content`. `index`, which has that tree, must be used with it from now on.

        Correct files stay as they are; files that a hook changed, made or removed are restored. Raises StoreError
        `GIT_FAILED` and OSError; after an error its content is unknown.
        """
        if self._tree.git_dir != self._tree.common:
            # Git would record this path as that of the linked working tree, if it has recorded none for a day.
            os.utime(os.path.join(self._tree.git_dir, "gitdir"))
        os.makedirs(self.root, exist_ok=True)
        settings = self.settings(self._kept.path)
        has_files = self._kept.exists
        self._put_git_file()
        links = IgnoredLinks(self._tree.root, self.root, index.settings, settings)
        if has_files:
            done = self._git.run(*_AS_IT_IS, *_OTHERS, settings=settings)
            if done.returncode:
                raise failed(_OTHERS[0], done)
            links.clear(os.fsdecode(each) for each in done.stdout.split(b"\0") if each)
        self._git.ask(*_AS_IT_IS, *_AT_ONCE, "read-tree", "--reset", "-u", content, settings=settings)
        links.make()
        self._kept.copied_to(index.path)

    def _put_git_file(self) -> None:
        place, text = Path(self.root, ".git"), f"gitdir: {self._tree.git_dir}\n"
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        elif place.is_symlink():
            place.unlink()
        place.write_text(text, encoding="utf-8")

    def settings(self, index: str) -> dict[str, str]:
        """The environment in which git uses it, with the index at that path."""
        return {INDEX: index, "GIT_DIR": self._tree.git_dir, "GIT_WORK_TREE": self.root}

    @property
    def options(self) -> tuple[str, ...]:
        """Options of git: it must not ask the true working tree's monitor for changes here."""
        return _AS_IT_IS

    def folder(self, folder: str) -> str:
        """Return the folder here that stands for one of the true working tree; the root if there is none."""
        place = os.path.join(self.root, os.path.relpath(os.path.realpath(folder), self._tree.root))
        return os.path.normpath(place) if os.path.isdir(place) else self.root

    def ended(self) -> tuple[Made, ...]:
        """Return the changes in here since it was brought up. Changes that git ignores are handed over.

        Such a file is moved to its path in the true working tree, if nothing is there.
        """
        found = list(self._changed())
        for path in (path for state, path in found if state == _IGNORED and os.path.basename(path) != RULES):
            place, there = Path(self.root, path), Path(self._tree.root, path)
            with suppress(OSError):
                if not place.is_symlink() and there.parent.is_dir() and not os.path.lexists(there):
                    shutil.move(place, there)
        made = (Made(path, self._before(path), self._now(path)) for state, path in found if state != _IGNORED)
        return tuple(each for each in made if each.before != each.after)

    def _changed(self) -> Iterator[tuple[str, str]]:
        """Yield each changed file: how it differs, by one letter of `git status`, and its path."""
        done = self._git.run(*_AS_IT_IS, *_STATUS, settings=self.settings(self._kept.path))
        for each in done.stdout.split(b"\0"):
            state, path = os.fsdecode(each[1:2]), os.fsdecode(each[3:])
            if path and state != " ":
                yield state, path

    def _before(self, path: str) -> bytes | None:
        words = ("cat-file", "--filters", f":{path}")
        done = self._git.run(*words, settings=self.settings(self._kept.path))
        return done.stdout if done.returncode == 0 else None

    def _now(self, path: str) -> bytes | None:
        place = Path(self.root, path)
        return place.read_bytes() if place.is_file() and not place.is_symlink() else None

    def remove(self) -> None:
        """Remove it."""
        remove(self.place)


def folder_of(temporary: str) -> str:
    """Return the folder for new private trees, if the folder for temporary files is `temporary`."""
    return os.path.realpath(temporary or tempfile.gettempdir())


def remove(folder: str) -> None:
    """Remove the folder of a private tree; nothing else."""
    if os.path.basename(folder).startswith(PREFIX):
        shutil.rmtree(folder, ignore_errors=True)
