"""A disk whose power may fail: what was done to it, in order, and everything that it may hold afterwards.

What the model takes for granted, and what it does not:

- What was flushed is there: the bytes and the size of a file after its own flush, names after a flush of their folder.
- Each write and each change of size since the last flush of its file may be there or not, in any subset: disks and
  page caches keep no order. One that is there may be torn: any of its 512-byte sectors may be missing.
- Bytes outside a write are never harmed by it (SQLite assumes as much: "powersafe overwrite"). Where a file grew and
  the bytes did not arrive, there are zeros or noise.
- A new, removed or renamed name may be there or not until its folder is flushed, in any subset that keeps the order of
  what happened to any one name. A rename is one step. Flushing a file does not flush its name: POSIX promises no more,
  though most file systems give it.
- A folder that is lost takes all below it along.

Permission bits are left out.
"""

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Final

SECTOR: Final = 512
FOLDER: Final = 0

Image = dict[str, bytes | None]
"""A file tree: bytes by path; None for a folder."""


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes put into a file."""

    file: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Resize:
    """A file cut, or grown with zeros."""

    file: int
    size: int


@dataclass(frozen=True, slots=True)
class Flush:
    """All that was written to a file made durable."""

    file: int


@dataclass(frozen=True, slots=True)
class Bind:
    """Names, all of one folder, that lead somewhere else from now on, in one step; None: nowhere."""

    moves: tuple[tuple[str, int | None], ...]


@dataclass(frozen=True, slots=True)
class FlushNames:
    """All names in a folder made durable."""

    folder: str


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened outside of the disk at this moment."""

    what: object


Change = Write | Resize
Deed = Change | Flush | Bind | FlushNames | Mark


def folder_of(path: str) -> str:
    """The folder that a name is in; the root is `.`."""
    return str(PurePosixPath(path).parent)


@dataclass(frozen=True, slots=True)
class Luck:
    """How one power failure falls out: the dice, and how they are loaded."""

    dice: random.Random
    kept: float
    torn: float
    is_noisy: bool

    @classmethod
    def of(cls, dice: random.Random) -> "Luck":
        """Any luck, the extremes often."""
        kept, torn = dice.choice((0.0, 0.1, 0.5, 0.9, 1.0)), dice.choice((0.0, 0.0, 0.3, 1.0))
        return cls(dice, kept, torn, dice.random() < 0.5)

    @classmethod
    def best(cls) -> "Luck":
        """All arrives."""
        return cls(random.Random(), kept=1.0, torn=0.0, is_noisy=False)

    def keeps(self) -> bool:
        """Whether this one arrived."""
        return self.dice.random() < self.kept

    def tears(self) -> bool:
        """Whether this one arrived in part."""
        return self.dice.random() < self.torn

    def filling(self, size: int) -> bytes:
        """What stands where a file grew and nothing arrived."""
        return self.dice.randbytes(size) if self.is_noisy else bytes(size)


@dataclass(slots=True)
class Disk:
    """What is durable, and what is under way."""

    names: dict[str, int] = field(default_factory=dict)
    files: dict[int, bytearray] = field(default_factory=dict)
    changes: dict[int, list[Change]] = field(default_factory=dict)
    moves: dict[str, list[Bind]] = field(default_factory=dict)

    @classmethod
    def holding(cls, image: Image) -> "Disk":
        """A disk with a file tree, all durable. Its files have numbers in the order of the tree, from 1."""
        numbers = number(image)
        files = {numbers[path]: bytearray(data) for path, data in image.items() if data is not None}
        return cls(numbers, files)

    def do(self, deed: Deed) -> None:
        """Let something happen."""
        match deed:
            case Write(file) | Resize(file):
                self.changes.setdefault(file, []).append(deed)
            case Bind(moves):
                self.moves.setdefault(folder_of(moves[0][0]), []).append(deed)
            case Flush(file):
                self._flush(file)
            case FlushNames(folder):
                _move(self.names, self.moves.pop(folder, []))
            case Mark():
                pass

    def _flush(self, file: int) -> None:
        data = self.files.setdefault(file, bytearray())
        for change in self.changes.pop(file, []):
            _apply(data, change)

    def remains(self, luck: Luck) -> Image:
        """The file tree that is found after the power failed at this moment."""
        names = dict(self.names)
        for folder in sorted(self.moves):
            _move(names, _arrived(self.moves[folder], luck))
        return {path: self._content(file, luck) for path, file in sorted(names.items()) if _is_reached(path, names)}

    def _content(self, file: int, luck: Luck) -> bytes | None:
        if file == FOLDER:
            return None
        data = bytearray(self.files.get(file, b""))
        for change in self.changes.get(file, []):
            if luck.keeps():
                _apply_by_luck(data, change, luck)
        return bytes(data)


def number(image: Image) -> dict[str, int]:
    """The numbers of the files of a tree; folders have none of their own."""
    counted = iter(range(1, len(image) + 1))
    return {path: FOLDER if data is None else next(counted) for path, data in image.items()}


def _move(names: dict[str, int], binds: Iterable[Bind]) -> None:
    for bind in binds:
        for path, file in bind.moves:
            if file is None:
                names.pop(path, None)
            else:
                names[path] = file


def _arrived(binds: Iterable[Bind], luck: Luck) -> Iterator[Bind]:
    """Those changes of names that reached the disk: none overtakes an earlier one of the same name."""
    stuck: set[str] = set()
    for bind in binds:
        paths = {path for path, _ in bind.moves}
        if luck.keeps() and not paths & stuck:
            yield bind
        else:
            stuck |= paths


def _is_reached(path: str, names: Mapping[str, int]) -> bool:
    return all(str(above) in names for above in PurePosixPath(path).parents if str(above) != ".")


def _apply(data: bytearray, change: Change) -> None:
    match change:
        case Write(_, offset, new):
            _grow(data, bytes(max(0, offset - len(data))))
            data[offset : offset + len(new)] = new
        case Resize(_, size):
            _grow(data, bytes(max(0, size - len(data))))
            del data[size:]


def _grow(data: bytearray, filling: bytes) -> None:
    data += filling


def _apply_by_luck(data: bytearray, change: Change, luck: Luck) -> None:
    if isinstance(change, Resize):
        _apply(data, change)
        return
    is_torn = luck.tears()
    end = change.offset + (len(change.data) if is_torn else 0)
    _grow(data, luck.filling(max(0, end - len(data))))
    for piece in _sectors(change) if is_torn else [change]:
        if not is_torn or luck.dice.getrandbits(1):
            _apply(data, piece)


def _sectors(write: Write) -> Iterator[Write]:
    """The parts of a write, cut where the disk's sectors meet."""
    end = write.offset + len(write.data)
    edges = [write.offset, *range((write.offset // SECTOR + 1) * SECTOR, end, SECTOR), end]
    for start, stop in pairwise(edges):
        yield Write(write.file, start, write.data[start - write.offset : stop - write.offset])


def read_tree(root: Path) -> Image:
    """The file tree at `root`, parents first."""
    found = sorted(root.rglob("*"))
    return {str(path.relative_to(root)): None if path.is_dir() else path.read_bytes() for path in found}


def write_tree(root: Path, image: Image) -> None:
    """Lay a file tree out in the folder `root`, which is made."""
    root.mkdir()
    for name, data in sorted(image.items()):
        path = root / name
        if data is None:
            path.mkdir()
        else:
            path.write_bytes(data)
            path.chmod(0o644)
