"""Which file system a folder is on, and whether locks and shared memory can be relied on there."""

import os
import sys
from pathlib import Path
from typing import Final

from commonhold.adapters.probes.finding import Finding, fail, ok, warn

_NETWORK: Final = frozenset(
    {
        *("9p", "afs", "beegfs", "ceph", "cifs", "davfs", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs"),
        *("gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs"),
    }
)
_MOUNTS: Final = Path("/proc/self/mountinfo")
_FULL_BYTES: Final = 1_000_000
_SCARCE_BYTES: Final = 200_000_000
_POINT, _AFTER_DASH = 4, 1


def file_system(folder: str) -> Finding:
    """The file system that `folder` is on, or will be."""
    kind = kind_of(folder, _read_mounts())
    if kind is None:
        return warn("file system", "its type cannot be told here", "keep the repository on a local disk")
    if kind in _NETWORK:
        found = f"{kind}: several machines, or a machine and its guest, share it; SQLite's log is not safe there"
        return fail("file system", found, "move the repository to a local disk", type=kind)
    if kind.startswith("fuse"):
        return warn(
            "file system", f"{kind}: locks may not hold there", "keep the repository on a local disk", type=kind
        )
    return ok("file system", f"{kind}, local", type=kind)


def free_space(folder: str) -> Finding:
    """How much can still be written where `folder` is, or will be."""
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


def _read_mounts() -> str:
    if sys.platform != "linux":
        return ""
    try:
        return _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def kind_of(folder: str, mounts: str) -> str | None:
    """The type of the mount that `folder` is under, from the text of `mountinfo`; the last mount on a point wins."""
    best, kind = "", None
    place = os.path.realpath(folder)
    for line in mounts.splitlines():
        words = line.split(" ")
        point = _unescaped(words[_POINT])
        if len(point) >= len(best) and _is_under(place, point):
            best, kind = point, words[words.index("-") + _AFTER_DASH]
    return kind


def _is_under(place: str, point: str) -> bool:
    return point in ("/", place) or place.startswith(point + "/")


def _unescaped(point: str) -> str:
    for octal, char in ((r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", "\\")):
        point = point.replace(octal, char)
    return point
