"""Folders and files that are read-only for this process and all that it starts, whatever it may write around them.

Mounts can take away what Landlock has granted for a whole folder, and Landlock keeps them from being undone: neither is
enough alone. Only who may mount anyway can have it. Others would have to enter a namespace of users, where what belongs
to root seems to be nobody's, and ssh for one refuses to work.
"""

import ctypes
import os

from . import kernel

TYPE_CHECKING = False  # the module for types takes long to load
if TYPE_CHECKING:
    from collections.abc import Iterable

_NEW_MOUNTS = 0x00020000
_BIND, _RECURSIVE, _FOLLOWING = 1 << 12, 1 << 14, 1 << 19
_SET_ATTRIBUTES = 442
_HERE = -100
_READ_ONLY = 1


class _Attributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("added", "taken", "propagation", "namespace"))


def mask(paths: list[str], kept: list[str], fixed: list[str]) -> None:
    """Make what is at these absolute paths read-only, but for what is `kept`. Raises OSError where that cannot be.

    The folders `fixed` stay where they are: what is mounted can be neither renamed nor removed.
    """
    kernel.unshare(_NEW_MOUNTS)
    kernel.mount(None, b"/", _RECURSIVE | _FOLLOWING)
    # What is a mount of its own before is none of those that become read-only.
    for path in filter(os.path.lexists, [*fixed, *kept]):
        _bind(path)
    for path in filter(os.path.lexists, paths):
        _bind(path)
        attributes = _Attributes(_READ_ONLY, 0, 0, 0)
        kernel.call(_SET_ATTRIBUTES, _HERE, os.fsencode(path), 0, attributes, ctypes.sizeof(_Attributes))
    # The folder that this process is in is still the one below the mount.
    os.chdir(os.getcwd())


def ways(writable: "Iterable[str]", paths: "Iterable[str]") -> list[str]:
    """The folders on the way to some paths that could be renamed with them, being inside of what is writable."""
    found: set[str] = set()
    for path in paths:
        around = min((each for each in writable if path.startswith(f"{each}/")), key=len, default=path)
        way = path.rpartition("/")[0]
        while len(way) > len(around):
            found.add(way)
            way = way.rpartition("/")[0]
    return sorted(found)


def _bind(path: str) -> None:
    kernel.mount(os.fsencode(path), os.fsencode(path), _BIND | _RECURSIVE)
