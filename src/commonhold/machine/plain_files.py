"""Plain files, opened so that no pipe is waited for and no folder taken for one."""

import os
import stat
from typing import Final

from commonhold.kernel.resource_exhaustion import is_exhaustion

MOST_BYTES: Final = 1_000_000
"""A larger file is not a settings file."""
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


def opened(path: str, flags: int = 0) -> int | None:
    """Return a descriptor of the plain file at a path, opened with these flags, too; None if there is no readable one.

    Raises OSError if there is no free descriptor: it is not known then whether the file exists.
    """
    try:
        descriptor = os.open(path, _FLAGS | flags)
    except OSError as fault:
        if is_exhaustion(fault):
            raise
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


def read(path: str, most_bytes: int = MOST_BYTES) -> bytes | None:
    """Return the bytes of the plain file at a path; None if there is no readable one, or a larger one.

    Raises OSError as `opened` does.
    """
    descriptor = opened(path)
    if descriptor is None:
        return None
    try:
        with os.fdopen(descriptor, "rb") as file:
            content = file.read(most_bytes + 1)
    except OSError as fault:
        if is_exhaustion(fault):
            raise
        return None
    return content if len(content) <= most_bytes else None
