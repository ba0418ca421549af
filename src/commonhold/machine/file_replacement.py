"""Replacing one file that the user names, anywhere: its readers see the old bytes or the new ones."""

import os
import stat
from contextlib import suppress
from typing import Final

from commonhold.kernel.errors import Code, InputError, StoreError
from commonhold.machine.os_errors import code_of

_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def replace_file(path: str, content: bytes, mode: int | None = None) -> None:
    """Write `content` to `path`, through a link if it is one; a pipe or device is written to as it is.

    A file has the permissions `mode` before it has any content; None: its old permissions. Raises StoreError if the
    system refuses; the file is then unchanged.
    """
    try:
        _write(path, content, mode)
    except (FileNotFoundError, NotADirectoryError) as fault:
        raise InputError(
            Code.FILE_NOT_FOUND,
            f"there is no folder for {path!r}",
            hint="make the folder first, or name another file",
            fields={"path": path},
        ) from fault
    except OSError as fault:
        message = f"{path!r} could not be written: {fault.strerror}"
        hint = "look at the path, its permissions and the disk, then repeat the same call"
        raise StoreError(code_of(fault), message, hint=hint, fields={"path": path}) from fault


def _write(path: str, content: bytes, mode: int | None) -> None:
    try:
        before: int | None = os.stat(path).st_mode
    except FileNotFoundError:
        before = None
    if before is None or stat.S_ISREG(before):
        _replace(os.path.realpath(path), content, before if mode is None else mode)
    else:
        with open(path, "wb") as file:
            file.write(content)


def _replace(place: str, content: bytes, mode: int | None) -> None:
    beside = os.path.join(os.path.dirname(place), f".commonhold-{os.urandom(8).hex()}.tmp")
    try:
        with open(os.open(beside, _FLAGS, 0o666), "wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, place)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(beside)
