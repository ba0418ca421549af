"""The error numbers of the operating system, in our codes."""

import errno
from typing import Final

from commonhold.kernel.errors import Code

_CODES: Final = {
    errno.EACCES: Code.PERMISSION_DENIED,
    errno.EPERM: Code.PERMISSION_DENIED,
    errno.EROFS: Code.PERMISSION_DENIED,
    errno.ENOSPC: Code.DISK_FULL,
    errno.EDQUOT: Code.DISK_FULL,
}


def code_of(fault: OSError) -> Code:
    """Return the code for an error of the system; `IO_FAILED` if there is no better one."""
    return _CODES.get(fault.errno or 0, Code.IO_FAILED)
