"""What becomes of processes that tests do not wait for themselves."""

import os
from pathlib import Path


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended, and that its parent has not waited for yet, does not."""
    if not Path("/proc/self").exists():
        return _can_be_signalled(pid)
    try:
        status = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):  # the second if it ends while it is read
        return False
    return status.rpartition(")")[2].split()[0] not in ("Z", "X")


def _can_be_signalled(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
