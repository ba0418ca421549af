"""The files of a working tree by their stamps: a stamp that differs at the next look shows a change."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from commonhold.kernel.keys import can_be_named
from commonhold.kernel.resource_exhaustion import is_exhaustion
from commonhold.machine import file_stamps
from commonhold.workspace.files.canonical_paths import RESERVED

ROOT: Final = ""

IsIgnored = Callable[[str], bool]
"""Whether a path from the root is ignored; a folder's ends in `/`."""


@dataclass(frozen=True, slots=True)
class _Folder:
    """The content of a folder: the stamps of its files, and the names of its folders that are read, too."""

    files: dict[str, file_stamps.Stamp] = field(default_factory=dict)
    folders: frozenset[str] = frozenset()


class Snapshot:
    """The files at the last look. Links are not followed; ignored folders and other repositories not entered.

    Files that no key can name are left out.
    """

    def __init__(self, root: str, is_ignored: IsIgnored) -> None:
        """Begin without knowing any content of `root`."""
        self._root = root
        self._is_ignored = is_ignored
        self._known: dict[str, _Folder] = {}
        self._changed: set[str] = set()

    @property
    def folders(self) -> frozenset[str]:
        """The folders that are read, from the root, which is empty."""
        return frozenset(self._known)

    def has(self, path: str) -> bool:
        """Whether there was a file at a path."""
        folder, _, name = path.rpartition("/")
        return folder in self._known and name in self._known[folder].files

    def look_at_all(self) -> set[str]:
        """Read everything; return the paths of files that changed, came, or are gone."""
        return self.look([ROOT, *self._known])

    def look(self, folders: Iterable[str]) -> set[str]:
        """Read these folders, if they are known, and all new ones in them.

        Raises OSError if the system has no file to open left; the next look returns what this one has found.
        """
        for folder in folders:
            if folder in self._known or folder == ROOT:
                self._changed.update(self._looked_at(folder))
        found, self._changed = self._changed, set()
        return found

    def _looked_at(self, folder: str) -> Iterator[str]:
        was = self._known.get(folder, _Folder())
        files, there = self._entries(folder)
        now = self._known[folder] = _Folder(files, frozenset(self._entered(folder, there, was)))
        for name in was.files.keys() | files.keys():
            if was.files.get(name) != files.get(name):
                yield _join(folder, name)
        for name in was.folders - now.folders:
            yield from self._gone(_join(folder, name))
        for name in now.folders - was.folders:
            yield from self._looked_at(_join(folder, name))

    def _entries(self, folder: str) -> tuple[dict[str, file_stamps.Stamp], list[str]]:
        files, folders = {}, []
        try:
            with os.scandir(os.path.join(self._root, folder)) as entries:
                for entry in entries:
                    if not can_be_named(entry.name):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name)
                    elif entry.is_file(follow_symlinks=False) and (stamp := file_stamps.at(entry.path)):
                        files[entry.name] = stamp
        except OSError as fault:  # it is gone, or not readable for us: it counts as empty
            if is_exhaustion(fault):
                raise
            return {}, []
        return files, folders

    def _entered(self, folder: str, there: Iterable[str], was: _Folder) -> Iterator[str]:
        for name in there:
            path = _join(folder, name)
            if self._is_open(path) and (name in was.folders or not self._is_ignored(f"{path}/")):
                yield name

    def _is_open(self, folder: str) -> bool:
        """Whether it may be read, and is no repository of its own."""
        whole = os.path.join(self._root, folder)
        is_other = any(os.path.lexists(f"{whole}/{name}") for name in RESERVED)
        return folder not in RESERVED and not is_other and os.access(whole, os.R_OK | os.X_OK)

    def _gone(self, folder: str) -> Iterator[str]:
        was = self._known.pop(folder, _Folder())
        yield from (_join(folder, name) for name in was.files)
        for name in was.folders:
            yield from self._gone(_join(folder, name))


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
