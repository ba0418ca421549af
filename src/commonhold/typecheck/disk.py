"""The files of a working tree as a type checker should see them: their texts, and changes since the last look."""

import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from enum import IntEnum
from glob import glob
from typing import Final

from commonhold.machine.plain_files import opened
from commonhold.workspace.folder_watch import FolderWatch

LARGEST_TEXT_BYTES: Final = 4_000_000
_NOT_OURS: Final = frozenset({"node_modules", "__pycache__", "site-packages"})
_ENVIRONMENT: Final = "pyvenv.cfg"

Stamp = tuple[int, int, int]
"""The identity of a file's state: its time of change, its length, its inode."""


class Change(IntEnum):
    """The kind of a file's change, numbered as in the protocol."""

    CREATED = 1
    CHANGED = 2
    DELETED = 3


class Disk:
    """Watches the files of a few suffixes under `root`, and remembers their stamps. Not safe for threads."""

    def __init__(self, root: str, suffixes: Collection[str], ground: Collection[str] = ()) -> None:
        """Take the present files as seen. `ground` are patterns of the files that the server reads once."""
        self._root = root
        self._suffixes = tuple(suffixes)
        self._ground = tuple(ground)
        self._watch = FolderWatch(root)
        self._has_told = self._is_watched = False
        self._unsure: set[str] = set()
        self._folders, self._files = self._look()
        self._ground_seen = self._look_at_ground()

    def changes(self) -> dict[str, Change]:
        """Return the changes since the last call. A caller that asks only once is spared the watches."""
        named = self._watch.changes() if self._is_watched else None
        if named is not None and not named.gone and not any(map(self._opens_or_shuts, named.files)):
            paths = {path for path in named.files if path.endswith(self._suffixes)} | self._unsure
            return self._taken_in({path: self._stamp_at(path) for path in paths})
        watched = self._folders
        is_watched = self._has_told and self._watch.begin(watched)
        self._folders, now = self._look()
        self._has_told, self._is_watched = True, is_watched and self._folders <= watched
        return self._taken_in({path: now.get(path) for path in self._files.keys() | now.keys()})

    def close(self) -> None:
        """Stop watching: from then on everything is read."""
        self._watch.close()

    def is_on_other_ground(self) -> bool:
        """Whether the files that the server reads only once have changed."""
        return self._look_at_ground() != self._ground_seen

    def _taken_in(self, seen: Mapping[str, Stamp | None]) -> dict[str, Change]:
        """Remember the stamps of these files, None for no file; return their changes since the last look."""
        found: dict[str, Change] = {}
        for path, stamp in seen.items():
            before = self._files.get(path)
            if stamp is None:
                if self._files.pop(path, None) is not None:
                    found[path] = Change.DELETED
            elif stamp != before:
                self._files[path] = stamp
                found[path] = Change.CREATED if before is None else Change.CHANGED
        return found

    def _opens_or_shuts(self, path: str) -> bool:
        """Whether other folders may have to be read, now that something at `path` changed, came or went."""
        place = os.path.join(self._root, path)
        if path in self._folders or os.path.basename(path) == _ENVIRONMENT:
            return True
        return not path.endswith(self._suffixes) and os.path.isdir(place) and not os.path.islink(place)

    def _look(self) -> tuple[set[str], dict[str, Stamp]]:
        """The folders that hold sources, and the files in them."""
        seen, files, unsure = set[str](), dict[str, Stamp](), set[str]()
        folders = [""]
        while folders:
            folder = folders.pop()
            seen.add(folder)
            for entry in _entries(os.path.join(self._root, folder)):
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.name.endswith(self._suffixes):
                    with suppress(OSError):
                        status = entry.stat()
                        files[path] = _stamp(status)
                        # It can be changed by another name, and no event reports that here.
                        if status.st_nlink > 1 or entry.is_symlink():
                            unsure.add(path)
                    if path not in files:  # a broken link may get a target later
                        unsure.add(path)
                elif _may_hold_sources(entry):
                    folders.append(path)
        self._unsure = unsure
        return seen, files

    def _stamp_at(self, path: str) -> Stamp | None:
        place = os.path.join(self._root, path)
        try:
            status = os.stat(place)
        except OSError:
            status = None
        if status is None or status.st_nlink > 1 or os.path.islink(place):
            self._unsure.add(path)
        return _stamp(status) if status else None

    def _look_at_ground(self) -> dict[str, Stamp]:
        found = {}
        for pattern in self._ground:
            for path in glob(pattern, root_dir=self._root):
                with suppress(OSError):
                    found[path] = _stamp(os.stat(os.path.join(self._root, path)))
        return found


def text_of(content: bytes) -> str | None:
    """Return the text of a file; None for one that is not UTF-8, or too long to be checked."""
    if len(content) > LARGEST_TEXT_BYTES:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def read(root: str, path: str) -> bytes | None:
    """Return the bytes of a regular file; None if there is none."""
    descriptor = opened(os.path.join(root, path))
    if descriptor is None:
        return None
    with open(descriptor, "rb") as file:
        return file.read(LARGEST_TEXT_BYTES + 1)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """Return the entries of a folder of the project's own; of an environment, nothing."""
    found = []
    with suppress(OSError), os.scandir(folder) as entries:
        found = list(entries)
    return [] if any(entry.name == _ENVIRONMENT for entry in found) else found


def _may_hold_sources(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder that is neither hidden nor for installed packages."""
    name = entry.name
    return not name.startswith(".") and name not in _NOT_OURS and entry.is_dir(follow_symlinks=False)


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_mtime_ns, status.st_size, status.st_ino
