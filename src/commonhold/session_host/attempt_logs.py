"""The logs of attempts: files that an agent may delete, or put a link, a pipe or a device in the place of."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

from commonhold.machine import plain_files

_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def times_of(log: Path) -> Path:
    """Return the place of the times at which a log grew: a Unix time and its size, a line each."""
    return log.with_suffix(".times")


def open_log(log: Path) -> BinaryIO | None:
    """Open a log to read it; None if no file is there. Raises OSError if there is no free descriptor."""
    descriptor = plain_files.opened(str(log), os.O_NOFOLLOW)
    return None if descriptor is None else os.fdopen(descriptor, "rb")


def size_of(log: Path) -> int:
    """Return how many bytes a log has; 0 if no file is there."""
    try:
        found = log.lstat()
    except OSError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


def append_to(log: Path) -> BinaryIO:
    """Open a log to append to it, unbuffered, and create it if it is not there. Raises OSError if that is no file."""
    descriptor = os.open(log, _FLAGS, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "its log is not a file any more", str(log))
    os.set_blocking(descriptor, True)  # the commands inherit it
    return os.fdopen(descriptor, "ab", buffering=0)
