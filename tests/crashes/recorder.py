"""Writing down everything that a process does to the disk below one folder: through SQLite, and through `os`.

SQLite comes in by a VFS that is made the default one, so nothing under test needs to know. It passes all on to the
real one; so shared memory, which no power failure leaves and every opening rebuilds, stays the real one's business.
Files of other makers (`open(path, "w")`) are not seen: what is under test uses `os`.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast
from unittest.mock import patch

import apsw
from tests.crashes.disk import (
    FOLDER,
    Bind,
    Deed,
    Flush,
    FlushNames,
    Image,
    Mark,
    Resize,
    Write,
    folder_of,
    number,
    read_tree,
)

REAL_VFS: Final = "unix"
# SQLite flushes the folder at the first flush of such a file, where it may have been made.
LOGS: Final = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL
# The functions of `os` that change files, and those that they are other names of.
WATCHED: Final = {
    **{name: name for name in ("open", "write", "pwrite", "fsync", "mkdir", "unlink", "rmdir", "replace")},
    "fdatasync": "fsync",
    "remove": "unlink",
    "rename": "replace",
}


@dataclass(slots=True)
class Recorder:
    """What was done below `root`, in order, and which number the file behind each name has now."""

    root: Path
    before: Image
    deeds: list[Deed] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    made: int = 0

    @classmethod
    def at(cls, root: Path) -> "Recorder":
        """Begin with what is there."""
        before = read_tree(root)
        return cls(root, before, [], number(before), len(before))

    def name(self, path: str | Path) -> str | None:
        """A path as it is called from the root; None for one elsewhere."""
        path = Path(path)
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else None

    def add(self, *deeds: Deed) -> None:
        """One thing after the other happened."""
        self.deeds += deeds

    def mark(self, what: object) -> None:
        """Something happened outside of the disk."""
        self.add(Mark(what))

    def opened(self, name: str) -> int:
        """The number of the file that was opened; it is new if its name led nowhere."""
        if name not in self.numbers:
            self.made += 1
            self.bind((name, self.made))
        return self.numbers[name]

    def bind(self, *moves: tuple[str, int | None]) -> None:
        """Names lead somewhere else."""
        self.add(Bind(moves))
        for name, file in moves:
            if file is None:
                self.numbers.pop(name, None)
            else:
                self.numbers[name] = file


class RecordingFile(apsw.VFSFile):
    """A file of SQLite's: its real self, and a witness."""

    def __init__(self, recorder: Recorder, path: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__(REAL_VFS, path, flags)
        self._recorder = recorder
        self._name = recorder.name(path.filename() if isinstance(path, apsw.URIFilename) else str(path)) or ""
        self._file = recorder.opened(self._name)
        self._is_fresh_log = bool(flags[0] & LOGS)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802 - SQLite's name
        self._recorder.add(Write(self._file, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - SQLite's name
        self._recorder.add(Resize(self._file, newsize))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        super().xSync(flags)
        self._recorder.add(Flush(self._file))
        if self._is_fresh_log:
            self._recorder.add(FlushNames(folder_of(self._name)))
        self._is_fresh_log = False


class RecordingVFS(apsw.VFS):
    """SQLite's way to the disk, watched. Salts are counted, not drawn, so that a story can be told again."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__("recording", REAL_VFS, makedefault=True)
        self._recorder = recorder
        self._drawn = 0

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        if name is None:
            return apsw.VFSFile(REAL_VFS, name, flags)
        return RecordingFile(self._recorder, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: FBT001, N802 - SQLite's name and order
        super().xDelete(filename, syncdir)
        name = self._recorder.name(filename) or ""
        self._recorder.bind((name, None))
        if syncdir:
            self._recorder.add(FlushNames(folder_of(name)))

    def xRandomness(self, numbytes: int) -> bytes:  # noqa: N802 - SQLite's name
        self._drawn += 1
        return self._drawn.to_bytes(numbytes, "little")


@dataclass(slots=True)
class RecordingSystem:
    """The functions of `os` that change files, watched."""

    recorder: Recorder
    real: dict[str, Callable[..., Any]]
    names: dict[int, str] = field(default_factory=dict)

    def place(self, path: str, folder: int | None = None) -> str | None:
        """The name of a path, given from a folder or from anywhere."""
        if folder is None:
            return self.recorder.name(Path(path).absolute())
        above = self.names.get(folder)
        return None if above is None else os.path.normpath(f"{above}/{path}")

    def open(self, path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        descriptor = cast("int", self.real["open"](path, flags, mode, dir_fd=dir_fd))
        self.names.pop(descriptor, None)
        name = self.place(path, dir_fd)
        if name is not None:
            self.names[descriptor] = name
            if flags & os.O_CREAT:
                self.recorder.opened(name)
        return descriptor

    def write(self, descriptor: int, data: Any) -> int:
        offset = os.lseek(descriptor, 0, os.SEEK_CUR) if descriptor in self.names else 0
        written = cast("int", self.real["write"](descriptor, data))
        if descriptor in self.names:
            file = self.recorder.numbers[self.names[descriptor]]
            self.recorder.add(Write(file, offset, bytes(data[:written])))
        return written

    def pwrite(self, descriptor: int, data: Any, offset: int) -> int:
        written = cast("int", self.real["pwrite"](descriptor, data, offset))
        if descriptor in self.names:
            self.recorder.add(Write(self.recorder.numbers[self.names[descriptor]], offset, bytes(data[:written])))
        return written

    def fsync(self, descriptor: int) -> None:
        self.real["fsync"](descriptor)
        name = self.names.get(descriptor)
        if name is not None:
            file = self.recorder.numbers.get(name, FOLDER)
            self.recorder.add(FlushNames(name) if file == FOLDER else Flush(file))

    def mkdir(self, path: str, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        self.real["mkdir"](path, mode, dir_fd=dir_fd)
        self._bind(self.place(path, dir_fd), FOLDER)

    def unlink(self, path: str, *, dir_fd: int | None = None) -> None:
        self.real["unlink"](path, dir_fd=dir_fd)
        self._bind(self.place(path, dir_fd), None)

    def rmdir(self, path: str, *, dir_fd: int | None = None) -> None:
        self.real["rmdir"](path, dir_fd=dir_fd)
        self._bind(self.place(path, dir_fd), None)

    def replace(self, src: str, dst: str, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
        self.real["replace"](src, dst, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        old, new = self.place(src, src_dir_fd), self.place(dst, dst_dir_fd)
        if old is not None and new is not None:
            self.recorder.bind((old, None), (new, self.recorder.numbers[old]))

    def _bind(self, name: str | None, file: int | None) -> None:
        if name is not None:
            self.recorder.bind((name, file))


@contextmanager
def recording(root: Path) -> Iterator[Recorder]:
    """Write down what this process does to the disk below `root`. Once a process: SQLite keeps the VFS as default."""
    recorder = Recorder.at(root)
    vfs = RecordingVFS(recorder)
    system = RecordingSystem(recorder, {name: getattr(os, name) for name in WATCHED.values()})
    with ExitStack() as patches:
        for name, watched in WATCHED.items():
            patches.enter_context(patch.object(os, name, getattr(system, watched)))
        yield recorder
    vfs.unregister()
