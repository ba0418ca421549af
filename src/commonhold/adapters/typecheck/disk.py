"""The files of a working tree as a type checker should see them: their text, and what changed since the last look."""

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from enum import IntEnum
from glob import glob
from typing import Final

from commonhold.adapters.plain_files import opened

LARGEST_TEXT_BYTES: Final = 4_000_000
_NOT_OURS: Final = frozenset({"node_modules", "__pycache__", "site-packages"})
_ENVIRONMENT: Final = "pyvenv.cfg"

Stamp = tuple[int, int, int]
"""What tells one state of a file from another: when it was changed, its length, its inode."""


class Change(IntEnum):
    """What became of a file, numbered as the protocol does."""

    CREATED = 1
    CHANGED = 2
    DELETED = 3


class Disk:
    """Looks at the files of a few suffixes under `root`, and remembers what it saw."""

    def __init__(self, root: str, suffixes: Collection[str], ground: Collection[str] = ()) -> None:
        """Take what is there now as seen. `ground` are patterns of what is read once."""
        self._root = root
        self._suffixes = tuple(suffixes)
        self._ground = tuple(ground)
        self._files = dict(self._look())
        self._ground_seen = self._look_at_ground()

    def changes(self) -> dict[str, Change]:
        """What changed since this was last asked."""
        before, self._files = self._files, dict(self._look())
        gone = dict.fromkeys(before.keys() - self._files.keys(), Change.DELETED)
        come = dict.fromkeys(self._files.keys() - before.keys(), Change.CREATED)
        other = {path: Change.CHANGED for path, stamp in self._files.items() if before.get(path, stamp) != stamp}
        return gone | come | other

    def is_on_other_ground(self) -> bool:
        """Whether what is read once is not what it was."""
        return self._look_at_ground() != self._ground_seen

    def _look(self) -> Iterator[tuple[str, Stamp]]:
        folders = [""]
        while folders:
            folder = folders.pop()
            entries = _entries(os.path.join(self._root, folder))
            for entry in entries:
                if entry.name.endswith(self._suffixes):
                    with suppress(OSError):
                        yield f"{folder}{entry.name}", _stamp(entry.stat())
                elif _may_hold_sources(entry):
                    folders.append(f"{folder}{entry.name}/")

    def _look_at_ground(self) -> dict[str, Stamp]:
        found = {}
        for pattern in self._ground:
            for path in glob(pattern, root_dir=self._root):
                with suppress(OSError):
                    found[path] = _stamp(os.stat(os.path.join(self._root, path)))
        return found


def text_of(content: bytes) -> str | None:
    """The text of a file; None for one that is not UTF-8, or too long to be checked."""
    if len(content) > LARGEST_TEXT_BYTES:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def read(root: str, path: str) -> bytes | None:
    """The bytes of a regular file; None where there is none."""
    descriptor = opened(os.path.join(root, path))
    if descriptor is None:
        return None
    with open(descriptor, "rb") as file:
        return file.read(LARGEST_TEXT_BYTES + 1)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """What is in a folder of the project's own; of an environment, nothing."""
    found = []
    with suppress(OSError), os.scandir(folder) as entries:
        found = list(entries)
    return [] if any(entry.name == _ENVIRONMENT for entry in found) else found


def _may_hold_sources(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder that is neither hidden nor for what was installed."""
    name = entry.name
    return not name.startswith(".") and name not in _NOT_OURS and entry.is_dir(follow_symlinks=False)


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_mtime_ns, status.st_size, status.st_ino
