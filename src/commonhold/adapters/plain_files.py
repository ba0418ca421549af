"""Plain files, opened so that no pipe is waited for and no folder taken for one."""

import os
import stat
from typing import Final

_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


def opened(path: str, flags: int = 0) -> int | None:
    """A descriptor of the plain file at a path, opened with these flags, too; None where none is that can be read."""
    try:
        descriptor = os.open(path, _FLAGS | flags)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None
