"""Plans that come in through files and standard input."""

import os
import time
from pathlib import Path

from commonhold.cli.changeset_input import STDIN, read_stdin
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.task import Task
from commonhold.tasks.plans import MOST_BYTES, read_plan


def plan_of(path: str) -> tuple[Task, ...]:
    """Return the tasks of a plan, in a file or on standard input for `-`; durations count from now.

    Raises InputError `PLAN_INVALID`, and as for any file that cannot be read.
    """
    return read_plan(plan_content(path), time.time())


def plan_content(path: str) -> bytes:
    """Return the bytes of a plan, or somewhat more than a plan may have; `-` is standard input. Raises InputError."""
    if path == STDIN:
        return read_stdin("the plan")
    try:
        with Path(path).open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except FileNotFoundError as fault:
        raise InputError(
            Code.FILE_NOT_FOUND, f"there is no file {path!r}", hint="name the plan, or - for standard input"
        ) from fault
    except IsADirectoryError as fault:
        raise InputError(Code.NOT_A_FILE, f"{path!r} is a folder", hint="name the file of the plan") from fault
    except OSError as fault:
        why = os.strerror(fault.errno or 0)
        raise InputError(Code.PERMISSION_DENIED, f"{path!r} cannot be read: {why}", hint="make it readable") from fault
