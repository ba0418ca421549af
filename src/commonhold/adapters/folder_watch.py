"""Which files and folders of a working tree changed, as Linux reports it, so that not all of them must be looked at.

The kernel queues an inotify event before the system call that changed something returns. Who reads the queue first and
then looks at what the events name therefore misses nothing that was finished before. Two changes are reported late or
never: a write through a memory mapping is reported when its file is closed, and a write through a hard link in another
folder is not reported (callers look at files with several links themselves). A file system that other machines, or
programs of user space, can change is not watched.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final, NamedTuple

from commonhold.adapters.sqlite.ground import device_of, kind_of, read_mounts, unsafe

_MODIFY: Final = 0x2
_ATTRIBUTES: Final = 0x4
_CLOSE_WRITE: Final = 0x8
_MOVED: Final = 0x40 | 0x80
_CREATE: Final = 0x100
_DELETE: Final = 0x200
_SELF_GONE: Final = 0x400 | 0x800  # deleted, moved
_UNMOUNTED: Final = 0x2000
_OVERFLOW: Final = 0x4000
_IGNORED: Final = 0x8000
_ONLY_FOLDERS: Final = 0x1000000
_FOLLOW_NO_LINK: Final = 0x2000000
_WATCHED: Final = _MODIFY | _ATTRIBUTES | _CLOSE_WRITE | _MOVED | _CREATE | _DELETE | _SELF_GONE
_FLAGS: Final = _WATCHED | _ONLY_FOLDERS | _FOLLOW_NO_LINK
_NAMES_CHANGED: Final = _MOVED | _CREATE | _DELETE
_ALL_LOST: Final = _SELF_GONE | _UNMOUNTED | _OVERFLOW | _IGNORED
_EVENT: Final = struct.Struct("iIII")
_READ_BYTES: Final = 65_536
_USER_SPACE: Final = "fuse"


class Changes(NamedTuple):
    """The paths of files that may have changed, and of folders in which names came or went; the root is empty."""

    files: frozenset[str]
    folders: frozenset[str]


class FolderWatch:
    """Watches the folders of one working tree. Not safe for threads: callers take turns."""

    def __init__(self, root: str) -> None:
        """Watch nothing yet. A watch that cannot be set up at all is not tried again."""
        self._root = root
        self._descriptor = -1
        self._process = 0
        self._folders: dict[int, str] = {}
        self._is_possible = sys.platform == "linux"

    def begin(self, folders: Iterable[str]) -> bool:
        """Watch these folders, and no others; return whether all of them are watched now.

        Whoever then looks at all of them once can rely on `changes` until it says None.
        """
        wanted = set(folders)
        if self._is_open() and wanted >= set(self._folders.values()):
            return self._added(wanted.difference(self._folders.values()))
        self.close()
        return self._is_possible and self._opened() and self._added(wanted)

    def changes(self) -> Changes | None:
        """What changed since this was asked last; None where everything must be looked at, or nothing is watched."""
        if not self._is_open():
            return None
        files: set[str] = set()
        folders: set[str] = set()
        is_told = True
        for number, mask, name in self._events():
            folder = self._folders.get(number)
            if mask & _ALL_LOST or folder is None:
                self.close()
                return None
            if not name:
                is_told = False  # the folder's own permissions, say: what is in it may be readable now, or no more
                continue
            if mask & _NAMES_CHANGED:
                folders.add(folder)
            files.add(f"{folder}/{name}" if folder else name)
        return Changes(frozenset(files), frozenset(folders)) if is_told else None

    def close(self) -> None:
        """Watch nothing any more; idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1
        self._folders.clear()

    def _is_open(self) -> bool:
        """Whether there is a queue, and it is this process's: what a forked child read its parent would miss."""
        return self._descriptor >= 0 and self._process == os.getpid()

    def _opened(self) -> bool:
        kind = kind_of(self._root, read_mounts(), device_of(self._root))
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
                self._folders[_watched(self._descriptor, place)] = folder
                # Of another file system that is mounted there nothing is known.
                self._is_possible = self._is_possible and os.lstat(place).st_dev == device
        except (FileNotFoundError, NotADirectoryError):
            self.close()  # it went a moment ago: the next look shows which there are
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
