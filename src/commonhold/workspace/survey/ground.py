"""The surroundings of a shell command: the working tree around it, and the files that it is about to write there."""

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

from commonhold.kernel.keys import can_be_named
from commonhold.shell.commands import commands_in
from commonhold.shell.held_paths import ROOT
from commonhold.shell.writes import Target, targets_of
from commonhold.workspace import generated_folders
from commonhold.workspace.git.process import Git
from commonhold.workspace.repository import Repository

_MAX_TARGETS: Final = 500
"""Files beyond this number are not leased: one lease covers at most this many."""
_MAX_KEPT: Final = 2000
_ANY_IGNORED: Final = (0, 1)


@dataclass(frozen=True, slots=True)
class Named:
    """A path that a command plainly writes; `is_within`: any file in this folder, which stays."""

    path: str
    is_within: bool = False


@dataclass(frozen=True)
class ScanScope:
    """One working tree, for a command that runs in the folder `cwd` of it."""

    repository: Repository
    cwd: str
    command: tuple[str, ...]

    @property
    def root(self) -> str:
        """The working tree."""
        return self.repository.root

    @property
    def git(self) -> Git | None:
        """Return git for this working tree."""
        return Git(self.root) if self.repository.git_dir else None

    @cached_property
    def named(self) -> tuple[Named, ...]:
        """Return the paths that the command plainly writes here; also by git, but outside of its folder. Found once."""
        targets = (*targets_of(self.command), *self._by_git())
        found = dict.fromkeys((path, target) for target in targets for path in self._paths(target))
        return tuple(dict.fromkeys(filter(None, (self._named(path, target) for path, target in found))))

    def _by_git(self) -> Sequence[Target]:
        is_called = any(each.name == "git" for each in commands_in(self.command))
        if not (self.git and is_called):
            return ()
        # Loaded here: most commands call no git, and finding git's writes takes much code.
        from commonhold.workspace.survey.git_ground import of_git  # noqa: PLC0415

        return of_git(self.git, self.cwd, self.command)

    def _paths(self, target: Target) -> Iterator[str]:
        place = os.path.join(self.cwd, target.path)
        for each in sorted(glob.glob(place)) if target.is_pattern else [place]:
            path = self._inside(each)
            if path is not None:
                yield path

    def _named(self, path: str, target: Target) -> Named | None:
        if own := self._own_repository(path):
            return Named(own, is_within=True)
        is_folder = os.path.isdir(self.place(path))
        name = f"{path}/" if is_folder and path else path
        if name == ROOT or (is_folder and not target.is_replaced):
            return Named(name, is_within=True)
        return Named(name) if self._can_be_there(path) else None

    def _own_repository(self, path: str) -> str | None:
        """Return the repository inside of this one that a path is in: the path belongs to that one."""
        parts = path.split("/")
        folders = ("/".join(parts[:size]) for size in range(1, len(parts) + 1))
        return next((f"{each}/" for each in folders if os.path.lexists(self.place(f"{each}/.git"))), None)

    def _can_be_there(self, path: str) -> bool:
        """Whether the nearest existing parent of a path is a folder."""
        folder = path.rpartition("/")[0]
        while folder and not os.path.lexists(self.place(folder)):
            folder = folder.rpartition("/")[0]
        return os.path.isdir(self.place(folder))

    @cached_property
    def concern(self) -> tuple[Named, ...]:
        """Return the same without the paths that git ignores."""
        ignored = set(self._ignored([each.path for each in self.named if each.path]))
        return tuple(each for each in self.named if each.path not in ignored)

    @property
    def leasable(self) -> tuple[str, ...]:
        """The paths to lease: without folders that are only read, and without paths that no key can name."""
        named = (each.path for each in self.concern if not each.is_within and can_be_named(each.path))
        return tuple(islice(named, _MAX_TARGETS))

    def _ignored(self, paths: Sequence[str]) -> list[str]:
        """Return those of some paths that git would ignore, as files or, if nothing is there yet, as folders."""
        if self.git is None or not paths:
            return []
        forms = [form for path in paths for form in (path, f"{path.rstrip('/')}/")]
        done = self.git.run("check-ignore", "-z", "--stdin", given="\0".join(forms).encode("utf-8", "surrogateescape"))
        told = done.stdout if done.returncode in _ANY_IGNORED else b""
        found = {form for path in told.split(b"\0") for form in (os.fsdecode(path), os.fsdecode(path).rstrip("/"))}
        return [path for path in paths if path in found]

    def nobodys_in(self, folder: str) -> list[str]:
        """Return the paths in a held folder that stay writable: git's own files, and ignored files."""
        if self.git is None or self.repository.git_dir is None:
            return []
        told = self.git.ask(
            *(
                "ls-files",
                "-z",
                "--others",
                "--ignored",
                *generated_folders.TOLD_TO_GIT,
                "--exclude-standard",
                "--directory",
            ),
            *("--", folder or "."),
        )
        ignored = [self.place(os.fsdecode(path)) for path in told.split(b"\0")[:_MAX_KEPT] if path]
        return [*ignored, *([self.place(".git")] if folder == ROOT else [])]

    def is_there(self, path: str) -> bool:
        """Whether there is a file or folder at a path, and no link."""
        place = self.place(path)
        return os.path.exists(place) and not os.path.islink(place)

    def place(self, path: str) -> str:
        """Return the place on the disk of a path of this working tree."""
        return os.path.join(self.root, path.rstrip("/")) if path else self.root

    def _inside(self, place: str) -> str | None:
        """Return the path in this working tree, links followed; None if it is outside, or git's own."""
        plain = os.path.normpath(place)
        real = os.path.realpath(os.path.join(os.path.realpath(os.path.dirname(plain)), os.path.basename(plain)))
        if real != self.root and not real.startswith(f"{self.root}/"):
            return None
        path = real[len(self.root) + 1 :]
        return None if path.partition("/")[0] in (".git", ".commonhold") else path
