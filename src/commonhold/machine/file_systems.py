"""The file system under a state folder, and whether a state is safe there.

SQLite's log needs memory that all its processes share and locks that all of them see. The kernel of one machine gives
both; neither several machines nor a machine and its guest have them together.
"""

import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from commonhold.kernel.errors import Code, StoreError

# By their types, those of user space without `fuse.`. Types that are missing here are taken for local: a file system in
# user space that only this machine mounts is as good as any, since its kernel keeps the locks and the pages.
_SHARED: Final = frozenset(
    {
        *("9p", "acfs", "afpfs", "afs", "auristorfs", "beegfs", "ceph", "cifs", "coda", "davfs", "fakeowner", "fhgfs"),
        *("gfs2", "glusterfs", "gpfs", "ibrix", "lustre", "ncp", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "panfs"),
        *("prl_fs", "pvfs2", "quobyte", "smb2", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs", "webdav", "wekafs"),
        *("blobfuse", "blobfuse2", "ceph-fuse", "curlftpfs", "davfs2", "gcsfuse", "goofys", "grpcfuse", "gvfsd-fuse"),
        *("juicefs", "lizardfs", "mfs", "nfs-fuse", "osxfs", "rclone", "s3fs", "seaweedfs", "smbnetfs", "sshfs"),
        *("vmhgfs-fuse",),
    }
)
_USER_SPACE: Final = "fuse."
_REMOTE: Final = "remote "
_LINUX: Final = "/proc/self/mountinfo"
_DARWIN: Final = "/sbin/mount"
_DARWIN_LINE: Final = r".+? on (/.*) \(([^()]*)\)"
_OCTAL: Final = r"\\([0-7]{3})"
_LINUX_FIELDS: Final = 6


class _Mount(NamedTuple):
    device: str
    point: str
    kind: str


@lru_cache(maxsize=64)
def check_ground(folder: str) -> None:
    """Refuse a state in `folder` if it would not be safe; looked up once a process. Raises `STORE_UNSAFE`."""
    # First the device: a look at a folder may be the event that mounts it.
    device = device_of(folder)
    kind = kind_of(folder, read_mounts(), device)
    if reason := unsafe(kind):
        raise StoreError(
            Code.STORE_UNSAFE,
            f"the state folder {folder!r} is on {reason}",
            hint="put the repository on a local disk, or use a store that is made to be shared, by its URL: "
            "postgresql:// or redis://",
            fields={"folder": folder, "type": kind},
        )


def unsafe(kind: str | None) -> str:
    """The reason why a state is not safe on a file system of this kind; empty if it is safe, or unknown."""
    if kind is None or not (kind.startswith(_REMOTE) or kind.removeprefix(_USER_SPACE) in _SHARED):
        return ""
    return f"{kind}: several machines, or a machine and its guest, share it; SQLite's log is not safe there"


def read_mounts() -> str:
    """Return the system's table of mounts as text; empty if it cannot be read."""
    try:
        if sys.platform == "darwin":
            return _told_by_darwin()
        with open(_LINUX, encoding="utf-8", errors="surrogateescape") as table:
            return table.read()
    except OSError:
        return ""


def _told_by_darwin() -> str:
    import subprocess  # noqa: PLC0415 - loaded here, since Linux tells without it

    try:
        return subprocess.run([_DARWIN], capture_output=True, check=True, text=True, timeout=5).stdout
    except subprocess.SubprocessError:
        return ""


def device_of(folder: str) -> str:
    """The device of `folder`, existing or to be made, as the table names it; empty if unknown."""
    place = os.path.realpath(folder)
    while not os.path.lexists(place):
        place = os.path.dirname(place)
    try:
        number = os.stat(place).st_dev
    except OSError:
        return ""
    return f"{os.major(number)}:{os.minor(number)}"


def kind_of(folder: str, mounts: str, device: str = "") -> str | None:
    """Return the type of the file system of `folder`, by a table of mounts; None if the table does not show it.

    The longest mount point above the folder decides, the last of equals; but one that has the folder's own device comes
    first, since a longer one may be hidden under a later mount.
    """
    place = os.path.realpath(folder)
    above = [mount for mount in _mounts(mounts) if mount.point in ("/", place) or place.startswith(f"{mount.point}/")]
    ranks = ((mount.device == device != "", len(mount.point), order) for order, mount in enumerate(above))
    best = max(ranks, default=None)
    return above[best[-1]].kind if best else None


def mounted_below(folder: str, mounts: str) -> frozenset[str]:
    """The lines of a table of mounts that are about places inside a folder, whose path is a real one."""
    return frozenset(
        line for line in mounts.splitlines() for mount in _mounts(line) if mount.point.startswith(f"{folder}/")
    )


def mount_points(mounts: str) -> Iterator[str]:
    """Yield the places of a table of mounts."""
    return (mount.point for mount in _mounts(mounts))


def _mounts(table: str) -> Iterator[_Mount]:
    for line in table.splitlines():
        if mount := _of_linux(line) or _of_darwin(line):
            yield mount


def _of_linux(line: str) -> _Mount | None:
    """The mount of a line such as `36 35 98:0 /inside /point options extra:1 - kind source more`."""
    before, separator, after = line.partition(" - ")
    fields = before.split(" ")
    if not (separator and len(fields) >= _LINUX_FIELDS and fields[0].isdecimal() and ":" in fields[2]):
        return None
    return _Mount(fields[2], _with_spaces(fields[4]), after.split(" ")[0])


def _with_spaces(text: str) -> str:
    """Return a path of the table, in which blanks are written by their octal numbers."""
    if "\\" not in text:
        return text
    import re  # noqa: PLC0415 - loaded here, as below: it takes longer than all else that is done here

    return re.sub(_OCTAL, lambda octal: chr(int(octal[1], 8)), text)


def _of_darwin(line: str) -> _Mount | None:
    if " on /" not in line:
        return None
    import re  # noqa: PLC0415

    match = re.fullmatch(_DARWIN_LINE, line)
    if match is None:
        return None
    kind, *options = match[2].split(", ")
    return _Mount("", match[1], kind if "local" in options or kind in _SHARED else _REMOTE + kind)
