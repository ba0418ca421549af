"""The file system of a folder, and the room that is left there."""

import os
from pathlib import Path
from typing import Final

from commonhold.diagnostics.finding import Finding, fail, ok, warn
from commonhold.machine.file_systems import device_of, kind_of, unsafe
from commonhold.machine.file_systems import read_mounts as _read_mounts

__all__ = ["file_system", "free_space", "kind_of"]

_FULL_BYTES: Final = 1_000_000
_SCARCE_BYTES: Final = 200_000_000


def file_system(folder: str) -> Finding:
    """Return the file system that `folder` is on, or will be: the store refuses those that are called failing here."""
    device = device_of(folder)
    kind = kind_of(folder, _read_mounts(), device)
    if kind is None:
        return warn("file system", "its type cannot be found here", "keep the repository on a local disk")
    if reason := unsafe(kind):
        return fail("file system", reason, "move the repository to a local disk", type=kind)
    if kind.startswith("fuse"):
        return warn(
            "file system", f"{kind}: locks may not hold there", "keep the repository on a local disk", type=kind
        )
    return ok("file system", f"{kind}, local", type=kind)


def free_space(folder: str) -> Finding:
    """Return how much can still be written on the disk of `folder`, even if it does not exist yet."""
    place = Path(folder)
    while not place.exists():
        place = place.parent
    status = os.statvfs(place)
    free = status.f_bavail * status.f_frsize
    if free < _FULL_BYTES:
        return fail("disk space", f"{free:,} bytes are free", "free some space: commits are refused", bytes=free)
    if free < _SCARCE_BYTES:
        return warn("disk space", f"{free:,} bytes are free", "free some space (doctor --prune)", bytes=free)
    return ok("disk space", f"{free / 1e9:.1f} GB are free", bytes=free)
