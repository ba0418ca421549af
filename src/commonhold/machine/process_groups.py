"""Commands in process groups of their own: wait for one, end all that it has started, and show what it printed last."""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Final

GRACE_SECONDS: Final = 5.0
"""How long a command that must end has between SIGTERM and SIGKILL."""
SESSION_LABEL: Final = "COMMONHOLD_SESSION"
"""The variable by which the processes of a managed session are known, however they were started."""
TAIL_BYTES: Final = 4000
_FIRST_LOOK_SECONDS: Final = 0.001
_LONGEST_LOOK_SECONDS: Final = 0.05


def environment_without_git() -> dict[str, str]:
    """Return the environment for a command that is to find its repository by its folder.

    Git sets variables in its hooks that name the caller's repository, index and working tree.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


def start_apart(start: Callable[[], object]) -> None:
    """Call `start`, which starts a process and stores it, in another thread, to its end.

    Ctrl-C interrupts the main thread, which would lose a process that it is just starting. The other thread exists
    before, and is waited for: after a KeyboardInterrupt, too, the process is stored if it was started.
    """
    # Loaded here: most commands start no such process.
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    with ThreadPoolExecutor(1) as thread:
        thread.submit(threading.get_ident).result()
        thread.submit(start).result()


def has_ended(pid: int, seconds: float = 0.0) -> bool:
    """Wait for the end of a child. It is not reaped, so that its group cannot be another's."""
    deadline, pause = time.monotonic() + seconds, _FIRST_LOOK_SECONDS
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(pause, left))
        pause = min(pause * 2, _LONGEST_LOOK_SECONDS)
    return True


def signal_group(pid: int, number: int) -> None:
    """Send a signal to the group that a child leads, if there still is one."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def tail_of(printed: IO[bytes]) -> str:
    """Return the last part of an output, as text."""
    size = printed.seek(0, os.SEEK_END)
    printed.seek(max(0, size - TAIL_BYTES))
    return printed.read(TAIL_BYTES).decode("utf-8", "replace").strip()
