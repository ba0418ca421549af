"""The operating system's errors about files, as errors of ours."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from commonhold.kernel.errors import StoreError
from commonhold.machine.os_errors import code_of

_WORDS: Final = {
    errno.ENOSPC: ("the disk is full", "free some space, then repeat the same call"),
    errno.EDQUOT: ("the disk quota is used up", "free some space, then repeat the same call"),
    errno.EACCES: ("this user may not", "fix the permissions, then repeat the same call"),
    errno.EPERM: (
        "the file may not be replaced, or its owner not be kept",
        "fix its owner, permissions or attributes, then repeat the same call",
    ),
    errno.EROFS: ("the file system is read-only", "remount it writable, then repeat the call"),
    errno.ELOOP: ("a link was put in its way", "look at the path, then repeat the same call"),
}


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Raise StoreError for the system's errors about `path`, but let "not found" through."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as fault:
        why, hint = _WORDS.get(
            fault.errno or 0, (fault.strerror or str(fault), "look at the path, then repeat the call")
        )
        message = f"{path!r} could not be read or written: {why}"
        raise StoreError(code_of(fault), message, hint=hint, fields={"path": path}) from fault
