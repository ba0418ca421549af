"""Which files and folders of a working tree changed, as Linux reports it, so that not all of them must be checked.

The kernel queues an inotify event before the system call that changed something returns. A caller that reads the queue
first and then checks the named files therefore misses no change that was finished before. Two changes are reported late
or never: a write through a memory mapping is reported when its file is closed, and a write through a hard link in
another folder is not reported (callers check files with several links themselves). A file system that other machines,
or programs of user space, can change is not watched.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from commonhold.machine.file_systems import device_of, kind_of, mounted_below, read_mounts, unsafe

_MODIFY: Final = 0x2
_ATTRIBUTES: Final = 0x4
_CLOSE_WRITE: Final = 0x8
_MOVED_FROM: Final = 0x40
_MOVED: Final = _MOVED_FROM | 0x80
_CREATE: Final = 0x100
_DELETE: Final = 0x200
_SELF_DELETED: Final = 0x400
_SELF_MOVED: Final = 0x800
_UNMOUNTED: Final = 0x2000
_OVERFLOW: Final = 0x4000
_IGNORED: Final = 0x8000
_IS_FOLDER: Final = 0x40000000
_ONLY_FOLDERS: Final = 0x1000000
_FOLLOW_NO_LINK: Final = 0x2000000
_WATCHED: Final = _MODIFY | _ATTRIBUTES | _CLOSE_WRITE | _MOVED | _CREATE | _DELETE | _SELF_DELETED | _SELF_MOVED
_FLAGS: Final = _WATCHED | _ONLY_FOLDERS | _FOLLOW_NO_LINK
_NAMES_CHANGED: Final = _MOVED | _CREATE | _DELETE
_ALL_LOST: Final = _SELF_DELETED | _SELF_MOVED | _UNMOUNTED | _OVERFLOW | _IGNORED
_EVENT: Final = struct.Struct("iIII")
_READ_BYTES: Final = 65_536
_USER_SPACE: Final = "fuse"


@dataclass(frozen=True, slots=True)
class Changes:
    """The paths of files that may have changed, and of folders in which names came or went; the root is empty.

    `gone` are folders that were deleted or moved away, and are watched no longer, nor is their content. One of the
    same name may be there by now.
    """

    files: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()


class FolderWatch:
    """Watches the folders of one working tree. Not safe for threads: callers take turns."""

    def __init__(self, root: str) -> None:
        """Watch nothing yet. A watch that cannot be set up at all is not tried again."""
        self._root = root
        self._descriptor = -1
        self._process = 0
        self._folders: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._dropped: set[int] = set()
        self._mounted: frozenset[str] = frozenset()
        self._is_possible = sys.platform == "linux"

    def begin(self, folders: Iterable[str]) -> bool:
        """Watch these folders, and no others; return whether all of them are watched now.

        After one look at all of them a caller can rely on `changes` until it returns None.
        """
        wanted = set(folders)
        if self._is_open() and wanted >= self._numbers.keys():
            return self._added(wanted.difference(self._numbers))
        self.close()
        return self._is_possible and self._opened() and self._added(wanted)

    def changes(self) -> Changes | None:
        """Return the changes since the last call; None if everything must be checked, or nothing is watched."""
        if not self._is_open():
            return None
        if mounted_below(self._root, read_mounts()) != self._mounted:  # no report comes from a hidden folder
            self.close()
            return None
        files: set[str] = set()
        folders: set[str] = set()
        gone: set[str] = set()
        is_told = True
        for number, mask, name in self._events():
            folder = self._folders.get(number)
            if folder is None and number in self._dropped:
                self._dropped.difference_update([number] if mask & _IGNORED else [])  # it gets no more events
                continue
            if folder and mask & _SELF_DELETED:
                gone.add(folder)
                self._drop([folder])
                continue
            if mask & _ALL_LOST or folder is None:
                self.close()
                return None
            if not name:
                is_told = False  # the folder's permissions, say: its content may have become readable, or unreadable
                continue
            path = f"{folder}/{name}" if folder else name
            files.add(path)
            if mask & _NAMES_CHANGED:
                folders.add(folder)
            if mask & _IS_FOLDER and mask & (_MOVED_FROM | _DELETE) and path in self._numbers:
                gone.add(path)
                self._drop(self._at_and_below(path) if mask & _MOVED_FROM else [path])
        return Changes(frozenset(files), frozenset(folders), frozenset(gone)) if is_told else None

    def _at_and_below(self, folder: str) -> list[str]:
        """The folders watched there: the content of a folder that is moved away goes with it."""
        return [path for path in self._numbers if path == folder or path.startswith(f"{folder}/")]

    def _drop(self, folders: Iterable[str]) -> None:
        """Stop watching these folders, and ignore later reports about them."""
        for folder in folders:
            number = self._numbers.pop(folder)
            del self._folders[number]
            self._dropped.add(number)
            _libc().inotify_rm_watch(self._descriptor, number)  # it fails for one that the kernel has dropped itself

    def close(self) -> None:
        """Watch nothing any more; idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1
        self._folders.clear()
        self._numbers.clear()
        self._dropped.clear()

    def _is_open(self) -> bool:
        """Whether there is a queue of this very process: its parent would miss events that a forked child read."""
        return self._descriptor >= 0 and self._process == os.getpid()

    def _opened(self) -> bool:
        mounts = read_mounts()
        kind = kind_of(self._root, mounts, device_of(self._root))
        self._mounted = mounted_below(self._root, mounts)
        self._is_possible = kind is not None and not unsafe(kind) and not kind.startswith(_USER_SPACE)
        if not self._is_possible:
            return False
        self._descriptor = _libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self._process = os.getpid()
        self._is_possible = self._descriptor >= 0
        return self._is_possible

    def _added(self, folders: Iterable[str]) -> bool:
        try:
            device = os.stat(self._root).st_dev
            for folder in folders:
                place = f"{self._root}/{folder}" if folder else self._root
                number = _watched(self._descriptor, place)
                self._folders[number], self._numbers[folder] = folder, number
                # Nothing is known of another file system that is mounted there.
                self._is_possible = self._is_possible and os.lstat(place).st_dev == device
        except (FileNotFoundError, NotADirectoryError):
            self.close()  # it was deleted a moment ago: the next look shows the present folders
            return False
        except OSError:  # the user has no more watches, or may not read a folder
            self._is_possible = False
        if not self._is_possible:
            self.close()
        return self._is_possible

    def _events(self) -> Iterator[tuple[int, int, str]]:
        while True:
            try:
                data = os.read(self._descriptor, _READ_BYTES)
            except BlockingIOError:
                return
            start = 0
            while start < len(data):
                number, mask, _, size = _EVENT.unpack_from(data, start)
                start += _EVENT.size
                yield number, mask, os.fsdecode(data[start : start + size].rstrip(b"\0"))
                start += size
                if self._descriptor < 0:
                    return


def _watched(descriptor: int, place: str) -> int:
    """Watch a folder; the number that its events have. Raises OSError."""
    number = int(_libc().inotify_add_watch(descriptor, os.fsencode(place), _FLAGS))
    if number < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), place)
    return number


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
