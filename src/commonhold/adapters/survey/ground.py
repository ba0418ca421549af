"""What a shell command finds: the working trees of its repository, what is free for all, what it is about to write."""

import glob
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from commonhold.adapters.git.running import Git
from commonhold.adapters.git.worktrees import worktrees
from commonhold.adapters.repository import Repository
from commonhold.adapters.survey.git_ground import OfGit, of_git
from commonhold.app.giving import ROOT, Given, Sought
from commonhold.app.shell_commands import commands_in
from commonhold.app.shell_writes import Target, folders_made_by, targets_of

_MAX_TARGETS: Final = 500
"""Of more files that are written their folders are sought: one lease is on so many at most, and each costs time."""
_MAX_FREE: Final = 2000
_ANY_IGNORED: Final = (0, 1)
_PRIVATE: Final = 0o700
_SPEAKING_GIT: Final = frozenset({"git", "gh", "hub", "pre-commit", "jj"})


@dataclass(frozen=True)
class Ground:
    """One working tree, for a command that runs in the folder `cwd` of it.

    `reserved` are files that are given to none, nor are their folders for being ignored: what keeps agents to all this.
    """

    repository: Repository
    cwd: str
    command: tuple[str, ...]
    writable: tuple[str, ...] = ()
    reserved: tuple[str, ...] = ()

    @property
    def root(self) -> str:
        """The working tree."""
        return self.repository.root

    @property
    def common(self) -> str | None:
        """The folder that git keeps for all working trees of the repository."""
        return os.path.dirname(self.repository.state_folder) if self.repository.git_dir else None

    @property
    def git(self) -> Git | None:
        """How git is asked here."""
        return Git(self.root) if self.repository.git_dir else None

    def protected(self) -> tuple[str, ...]:
        """All that commands of agents may not write unless it is given to them."""
        common = self.common
        return tuple(dict.fromkeys((self.root, *(worktrees(common) if common else ()), *((common,) if common else ()))))

    def of_git(self, *, can_mask: bool) -> tuple[str, ...]:
        """What git must be able to write for itself.

        In its own folder it makes new files all the time, so that is given, less our state where that can be taken out
        of it again; else only to commands that run git, and to others what is in it.
        """
        common = self.common
        if common is None or self.repository.git_dir is None:
            return ()
        if can_mask or any(each.name in _SPEAKING_GIT for each in commands_in(self.command)):
            return common, self.repository.git_dir
        state = os.path.basename(self.repository.state_folder)
        return tuple(os.path.join(common, name) for name in sorted(os.listdir(common)) if name != state)

    def free(self) -> tuple[str, ...]:
        """What anybody may write at any time: what git ignores, and what the settings name, which is made if need be.

        What the command's programs are about to make there is made for them: Landlock grants no name that is not there.
        """
        trees = [path for path in map(self._inside, self._made_for_trees()) if path]
        made = [self._inside(os.path.join(self.cwd, name)) for name in folders_made_by(self.command)]
        missing = [path for path in made if path and not os.path.lexists(self.place(path))]
        # A repository may hold a link of that name, which leads anywhere.
        named = filter(None, (self._inside(self.place(path)) for path in self.writable))
        wanted = [*named, *self.ignored(missing)]
        for path in wanted:
            with suppress(FileExistsError, NotADirectoryError):
                os.makedirs(self.place(path))
        return tuple(dict.fromkeys((*(f"{path}/" for path in (*wanted, *trees)), *self._ignored_now())))

    def _made_for_trees(self) -> Iterator[str]:
        """The empty folders of new working trees: git takes one that is there, and here it could not make it."""
        for place in self._of_git.made:
            if not os.path.lexists(place):
                with suppress(OSError):
                    os.makedirs(place)
                    yield place

    def _ignored_now(self) -> Iterator[str]:
        """What is there and ignored: whole folders by their names alone."""
        if self.git is None:
            return
        told = self.git.ask("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
        for path in told.split(b"\0")[:_MAX_FREE]:
            if path and not self._is_reserved(os.fsdecode(path)):
                yield os.fsdecode(path)

    def _is_reserved(self, path: str) -> bool:
        """Whether it is a file that is reserved, or a folder with one in it."""
        return any(each == path or (path.endswith("/") and each.startswith(path)) for each in self.reserved)

    def withheld(self, given: Given) -> list[str]:
        """The reserved files inside of what a command is given; not those that git has, and must be able to change."""
        found = [path for path in self.reserved if given.reaches(path) and os.path.lexists(self.place(path))]
        if not found or self.git is None:
            return found
        tracked = {os.fsdecode(path) for path in self.git.ask("ls-files", "-z", "--", *found).split(b"\0")}
        return [path for path in found if path not in tracked]

    def ignored(self, paths: Sequence[str]) -> list[str]:
        """Those of some paths that git would ignore, as files or, where nothing is there yet, as folders."""
        if self.git is None or not paths:
            return []
        forms = [form for path in paths for form in (path, f"{path.rstrip('/')}/")]
        done = self.git.run("check-ignore", "-z", "--stdin", given="\0".join(forms).encode("utf-8", "surrogateescape"))
        told = done.stdout if done.returncode in _ANY_IGNORED else b""
        found = {form for path in told.split(b"\0") for form in (os.fsdecode(path), os.fsdecode(path).rstrip("/"))}
        return [path for path in paths if path in found]

    @cached_property
    def _of_git(self) -> OfGit:
        """What git does here beside; asked once."""
        is_called = any(each.name == "git" for each in commands_in(self.command))
        return of_git(self.git, self.cwd, self.command) if self.git and is_called else OfGit()

    def welcome(self) -> tuple[Sought, ...]:
        """What it may write if nobody else is there, and need not: what a commit's hooks may want to mend."""
        paths = filter(None, map(self._inside, self._of_git.by_hooks[:_MAX_TARGETS]))
        return tuple(filter(None, map(self.seek, paths)))

    @cached_property
    def sought(self) -> tuple[Sought, ...]:
        """What the command plainly writes in this working tree; also by git, beside git's own folder. Found once."""
        targets = (*targets_of(self.command), *self._of_git.targets)
        found = list(dict.fromkeys((path, target) for target in targets for path in self._paths(target)))
        folders = (self.nearest(path) for path, _ in found[_MAX_TARGETS:])
        named = (self._sought(path, target) for path, target in found[:_MAX_TARGETS])
        beside = (Sought(folder, folder, in_place=False) for folder in dict.fromkeys(folders) if folder is not None)
        return tuple(dict.fromkeys(filter(None, (*named, *beside))))

    def _paths(self, target: Target) -> Iterator[str]:
        place = os.path.join(self.cwd, target.path)
        for each in sorted(glob.glob(place)) if target.is_pattern else [place]:
            path = self._inside(each)
            if path is not None:
                yield path

    def _sought(self, path: str, target: Target) -> Sought | None:
        place = self.place(path)
        if own := self._own_repository(path):
            return Sought(own, own, in_place=False)
        if os.path.isdir(place) and not (target.is_replaced and path):
            return Sought(f"{path}/" if path else ROOT, f"{path}/" if path else ROOT, in_place=False)
        folder = self.nearest(path)
        if folder is None:
            return None
        is_here = os.path.isfile(place) and not target.is_replaced
        return Sought(f"{path}/" if os.path.isdir(place) else path, folder, is_here)

    def _own_repository(self, path: str) -> str | None:
        """The repository inside of this one that a path is in: that is its own concern."""
        parts = path.split("/")
        folders = ("/".join(parts[:size]) for size in range(1, len(parts) + 1))
        return next((f"{each}/" for each in folders if os.path.lexists(self.place(f"{each}/.git"))), None)

    def seek(self, path: str) -> Sought | None:
        """How to get to write a path of this working tree."""
        folder = self.nearest(path.rstrip("/"))
        return None if folder is None else Sought(path, folder, os.path.isfile(self.place(path)))

    def nearest(self, path: str) -> str | None:
        """The nearest folder above a path that is there; None where something else is in its place."""
        folder = path.rpartition("/")[0]
        while folder and not os.path.lexists(self.place(folder)):
            folder = folder.rpartition("/")[0]
        if not folder:
            return ROOT
        return f"{folder}/" if os.path.isdir(self.place(folder)) else None

    def place(self, path: str) -> str:
        """Where a path of this working tree is on the disk."""
        return os.path.join(self.root, path.rstrip("/")) if path else self.root

    def _inside(self, place: str) -> str | None:
        """The path in this working tree, links followed; None of what is elsewhere, git's own, or reserved."""
        real = os.path.join(
            os.path.realpath(os.path.dirname(os.path.normpath(place))), os.path.basename(place.rstrip("/"))
        )
        real = os.path.realpath(real)
        if real != self.root and not real.startswith(f"{self.root}/"):
            return None
        path = real[len(self.root) + 1 :]
        return None if path.partition("/")[0] in (".git", ".commonhold") or self._is_reserved(path) else path

    def temporary(self, chosen: str) -> str | None:
        """A folder for temporary files in place of the one that is `chosen`, where nothing new can be made in that.

        So it is where the working tree itself lies somewhere below it.
        """
        usual = os.path.realpath(chosen or tempfile.gettempdir())
        if not any(path.startswith(f"{usual}/") for path in self.protected()):
            return None
        folder = os.path.join(usual, f"commonhold-{os.geteuid()}-temporary")
        os.makedirs(folder, mode=_PRIVATE, exist_ok=True)
        status = os.lstat(folder)
        return (
            folder if os.path.isdir(folder) and not os.path.islink(folder) and status.st_uid == os.geteuid() else None
        )
