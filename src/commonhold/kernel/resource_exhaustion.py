"""No descriptors or no memory left: what failed for that fails for everybody, and may succeed in a moment."""

import errno
from typing import Final

from commonhold.kernel.errors import Code, StoreError

RETRY_AFTER_SECONDS: Final = 1.0
_NUMBERS: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})


def is_exhaustion(fault: BaseException) -> bool:
    """Whether an error of the operating system says that this process, or the machine, has no more of something."""
    return isinstance(fault, MemoryError) or (isinstance(fault, OSError) and fault.errno in _NUMBERS)


def exhausted(fault: BaseException) -> StoreError | None:
    """Return the error to raise or answer instead of `fault` if exhaustion caused it, directly or indirectly.

    It is `STORE_BUSY`, which may be retried; None for all other errors. Code that turns an OSError into
    an error of ours cannot know all its reasons, so this is checked once, where errors leave the process.
    """
    cause: BaseException | None = fault
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen:  # an error may be raised from itself
        seen.add(id(cause))
        if is_exhaustion(cause):
            why = (isinstance(cause, OSError) and cause.strerror) or "not enough memory"
            return StoreError(
                Code.STORE_BUSY,
                f"what this needs was not to be had at the moment: {why}",
                hint="repeat the same call in a moment; if that goes on, raise the limits (ulimit -n) or end programs",
                retry_after_seconds=RETRY_AFTER_SECONDS,
            )
        cause = cause.__cause__
    return None
