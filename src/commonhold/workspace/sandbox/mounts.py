"""Files that are read-only for this process and all that it starts, while everything else stays as it is.

A user that may mount does so. Others enter a user namespace for it, in which they keep their own ids, but files of
other users seem to have no owner: programs that need other users' rights (`sudo`) do not work there.
"""

import ctypes
import os

from . import kernel

_NEW_MOUNTS, _NEW_USERS = 0x00020000, 0x10000000
_BIND, _RECURSIVE, _FOLLOWING = 1 << 12, 1 << 14, 1 << 19
_SET_ATTRIBUTES = 442
_HERE = -100
_READ_ONLY = 1


class _Attributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("added", "taken", "propagation", "namespace"))


def mask(paths: list[str], kept: list[str]) -> None:
    """Make these absolute paths read-only, except the `kept` ones in them. Raises OSError if that is impossible.

    It holds for this process, which has one thread, and for all programs that it becomes or starts; it cannot be
    undone, not even after an error. Links and missing paths stay as they are.
    """
    _enter()
    kernel.mount(None, b"/", _RECURSIVE | _FOLLOWING)
    # A path that is already a mount of its own does not become read-only with the folder around it.
    for path in filter(_is_there, kept):
        _bind(path)
    for path in filter(_is_there, paths):
        _bind(path)
        attributes = _Attributes(_READ_ONLY, 0, 0, 0)
        kernel.call(_SET_ATTRIBUTES, _HERE, os.fsencode(path), 0, attributes, ctypes.sizeof(_Attributes))
    # The folder that this process is in is still the one below the mount.
    os.chdir(os.getcwd())


def _enter() -> None:
    """Enter a mount namespace of this process's own."""
    try:
        kernel.unshare(_NEW_MOUNTS)
    except PermissionError:
        user, group = os.geteuid(), os.getegid()
        kernel.unshare(_NEW_USERS | _NEW_MOUNTS)
        # A user other than root must give up setting its groups before it may map its own.
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            _tell(f"/proc/self/{name}", text)


def _tell(path: str, text: str) -> None:
    file = os.open(path, os.O_WRONLY)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)


def _is_there(path: str) -> bool:
    return os.path.exists(path) and not os.path.islink(path)


def _bind(path: str) -> None:
    kernel.mount(os.fsencode(path), os.fsencode(path), _BIND | _RECURSIVE)
