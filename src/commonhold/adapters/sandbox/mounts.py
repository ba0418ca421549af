"""Files and folders that are read-only for this process and all that it starts, while everything else stays as it is.

Whoever may mount mounts. Others enter a namespace of users for it, in which they are who they are, but files of other
users seem to be nobody's: programs that need rights of others (`sudo`) do not work there.
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
    """Make what is at these absolute paths read-only, but for what is `kept` in it. Raises OSError if that cannot be.

    It is for this process, which has one thread, and all that it becomes and starts; there is no way back, nor after
    an error. Links, and what is not there, stay as they are.
    """
    _enter()
    kernel.mount(None, b"/", _RECURSIVE | _FOLLOWING)
    # What is a mount of its own before is none of those that become read-only.
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
        # Whoever is no root must give up to set its groups before it may say which one is its own.
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
