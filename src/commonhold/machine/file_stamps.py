"""Stamps: metadata of a file or folder that reveal a change without reading it, and when to trust them."""

import os
import struct
from collections.abc import Iterable
from typing import Final

Stamp = tuple[int, int, int, int]
"""When it was written and when anything about it changed (nanoseconds), its size, and its number on the disk."""
Stamps = tuple[Stamp | None, ...]

# The coarsest clock of a disk that is in use. A file that changed this recently may change again and look the same.
_TICK_NANOSECONDS: Final = 2_000_000_000
_PACKED: Final = struct.Struct("<qqqQ")


def of_status(status: os.stat_result) -> Stamp:
    """The stamp of a status result."""
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def settled(stamp: Stamp, now_nanoseconds: int) -> Stamp | None:
    """Return the stamp, if every change from that moment on will show in it; None if it could stay as it is.

    `now_nanoseconds` is no later than when the content was read.
    """
    written, changed, _, _ = stamp
    is_recent = changed > now_nanoseconds - _TICK_NANOSECONDS or abs(written - now_nanoseconds) < _TICK_NANOSECONDS
    return None if is_recent else stamp


def at(place: str) -> Stamp | None:
    """Return the stamp of the file at a path, links not followed; None if there is none, or it cannot be read."""
    try:
        return of_status(os.lstat(place))
    except (OSError, ValueError):
        return None


def behind(places: Iterable[str]) -> Stamps:
    """Return the stamps of some paths, links followed; None for a path without a file, or if it cannot be read."""
    return tuple(map(_behind, places))


def _behind(place: str) -> Stamp | None:
    try:
        return of_status(os.stat(place))
    except (OSError, ValueError):
        return None


def all_settled(seen: Stamps, now_nanoseconds: int) -> Stamps | None:
    """Return the stamps, if all of them are settled; missing files will show when they come."""
    is_settled = all(each is None or settled(each, now_nanoseconds) for each in seen)
    return seen if is_settled else None


def changed(root: str, known: Iterable[tuple[str, Stamp | None]], linked: set[str] | None = None) -> list[str]:
    """Return the paths below `root` that have changed, or may have. Written out: it is done for thousands.

    `linked` gets the paths of files with several links, which can be changed by another name.
    """
    found, prefix, lstat, several = [], f"{root}/", os.lstat, set() if linked is None else linked
    for path, stamp in known:
        try:
            now = lstat(prefix + path)
            if stamp != (now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino):
                found.append(path)
            if now.st_nlink > 1:
                several.add(path)
        except OSError:
            found.append(path)
    return found


def packed(stamp: Stamp | None) -> bytes | None:
    """Return the stored form of the stamp."""
    return None if stamp is None else _PACKED.pack(*stamp)


def unpacked(data: bytes | None) -> Stamp | None:
    """Return the stored stamp."""
    return None if data is None else _PACKED.unpack(data)
