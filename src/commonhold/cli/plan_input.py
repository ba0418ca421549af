"""The file of a plan, as commands are given it."""

import os
from pathlib import Path

from commonhold.kernel.errors import Code, InputError
from commonhold.tasks.plans import MOST_BYTES


def plan_content(path: str) -> bytes:
    """Return the bytes of a plan, or somewhat more than a plan may have. Raises InputError."""
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
