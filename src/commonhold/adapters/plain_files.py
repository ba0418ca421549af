"""Plain files, opened so that no pipe is waited for and no folder taken for one."""

import os
import stat
from typing import Final

from commonhold.domain.exhaustion import is_exhaustion

_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


def opened(path: str, flags: int = 0) -> int | None:
    """A descriptor of the plain file at a path, opened with these flags, too; None where none is that can be read.

    Raises OSError where there is no descriptor to be had: whether the file is there is not known then.
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
