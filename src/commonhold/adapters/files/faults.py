"""The operating system's complaints about files, in our words."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from commonhold.domain.errors import Code, StoreError

_FAULTS: Final = {
    errno.ENOSPC: (Code.DISK_FULL, "the disk is full", "free some space, then repeat the same call"),
    errno.EDQUOT: (Code.DISK_FULL, "the disk quota is used up", "free some space, then repeat the same call"),
    errno.EACCES: (Code.PERMISSION_DENIED, "this user may not", "mend the permissions, then repeat the same call"),
    errno.EPERM: (
        Code.PERMISSION_DENIED,
        "the file may not be replaced, or its owner not be kept",
        "mend its owner, permissions or attributes, then repeat the same call",
    ),
    errno.EROFS: (Code.PERMISSION_DENIED, "the file system is read-only", "remount it writable, then repeat the call"),
    errno.ELOOP: (Code.IO_FAILED, "a link was put in its way", "look at the path, then repeat the same call"),
}


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Raise StoreError for what the system raises about `path`, but let "not there" through."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as fault:
        code, why, hint = _FAULTS.get(
            fault.errno or 0, (Code.IO_FAILED, fault.strerror or str(fault), "look at the path, then repeat the call")
        )
        message = f"{path!r} could not be read or written: {why}"
        raise StoreError(code, message, hint=hint, fields={"path": path}) from fault
