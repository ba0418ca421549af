"""Landlock: what this process, and all that it starts, may write from now on. There is no way back.

The kernel only knows grants, and what is granted for a folder is granted for all below it. That all but a folder may be
written is said by granting whatever stands beside the way to it; so nothing new can be made in the folders on that way.
Reading and running are not restricted. What a process has open stays open.
"""

import ctypes
import os
import stat
import sys

from . import kernel

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_BENEATH = 1
_WRITE_FILE, _TRUNCATE, _REFER = 1 << 1, 1 << 14, 1 << 13
# To remove folders and files, and to make devices, folders, files, sockets, pipes, links.
_ENTRIES = sum(1 << bit for bit in range(4, 13))
_LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC if sys.platform == "linux" else 0


class _Ruleset(ctypes.Structure):
    _fields_ = (("handled", ctypes.c_uint64),)


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def version() -> int:
    """The version of Landlock that this kernel has; 0 where it has none, or has it switched off."""
    if sys.platform != "linux":
        return 0
    try:
        return kernel.call(_CREATE_RULESET, None, 0, _ASK_VERSION)
    except OSError:
        return 0


def restrict(protected: list[str], writable: list[str]) -> None:
    """Write nothing below the folders `protected`, except below the folders and in the files `writable`.

    All paths are absolute, and no part of them is a link. Raises OSError.
    """
    handled = _rights(version())
    ruleset = kernel.call(_CREATE_RULESET, _Ruleset(handled), ctypes.sizeof(_Ruleset), 0)
    try:
        for path in [*beside(protected), *writable]:
            _grant(ruleset, path, handled)
        kernel.gain_no_privileges()
        kernel.call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def beside(protected: list[str]) -> list[str]:
    """What stands beside the ways from the root to these folders."""
    ways = {parent for path in protected for parent in _parents(path)}
    inside = tuple(f"{path}/" for path in protected)
    ends = {*ways, *protected}
    return [
        path
        for way in sorted(ways)
        if way not in protected and not way.startswith(inside)
        for path in (f"{way.rstrip('/')}/{name}" for name in _names(way))
        if path not in ends
    ]


def _parents(path: str) -> list[str]:
    parts = path.strip("/").split("/")
    return ["/" + "/".join(parts[:size]) for size in range(len(parts))]


def _names(folder: str) -> list[str]:
    # A folder that may not be listed has nothing that could be granted, and the way through it goes on.
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _rights(known: int) -> int:
    """What counts as writing, as far as a kernel of this version can restrict it."""
    return _WRITE_FILE | _ENTRIES | (_REFER if known > 1 else 0) | (_TRUNCATE if known > 2 else 0)  # noqa: PLR2004


def _grant(ruleset: int, path: str, handled: int) -> None:
    """Grant what is at a path, if anything is. A link is not followed: it may lead into what is protected."""
    try:
        place = os.open(path, _LOOK)
    except OSError:
        return
    try:
        mode = os.fstat(place).st_mode
        if not stat.S_ISLNK(mode):
            allowed = handled if stat.S_ISDIR(mode) else handled & (_WRITE_FILE | _TRUNCATE)
            kernel.call(_ADD_RULE, ruleset, _BENEATH, _Beneath(allowed, place), 0)
    finally:
        os.close(place)
