"""The stored state of a working tree: its files, its folders, and the rules by which files count."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from commonhold.machine import file_stamps
from commonhold.machine.file_stamps import Stamp


@dataclass(frozen=True, slots=True)
class File:
    """A file as it was read: without a stamp it has to be read again. `summary` is the number of its summary."""

    stamp: Stamp | None
    summary: int


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder as it was listed: without a stamp it has to be listed again.

    `marks` are the names in it that say something about all of it. `others` are the names that might have counted and
    do not (ignored, say); those of folders end in a slash.
    """

    stamp: Stamp | None
    marks: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()

    def packed(self) -> tuple[bytes | None, bytes, bytes]:
        """Return the stored form of the folder."""
        return file_stamps.packed(self.stamp), _joined(self.marks), _joined(self.others)

    @classmethod
    def unpacked(cls, stamp: bytes | None, marks: bytes, others: bytes) -> "Folder":
        """Return the stored folder."""
        return cls(file_stamps.unpacked(stamp), _split(marks), _split(others))


@dataclass(frozen=True, slots=True)
class Tree:
    """A working tree at one moment. `rules` decided which files count; `turn` is the number of the write behind it."""

    files: Mapping[str, File] = field(default_factory=dict)
    folders: Mapping[str, Folder] = field(default_factory=dict)
    rules: bytes = b""
    turn: int = 0


def _joined(names: Iterable[str]) -> bytes:
    return b"\0".join(sorted(map(os.fsencode, names)))


def _split(data: bytes) -> frozenset[str]:
    return frozenset(map(os.fsdecode, data.split(b"\0"))) if data else frozenset()
