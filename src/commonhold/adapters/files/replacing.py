"""Replacing one file that the user names, anywhere: its readers see the old bytes or the new ones."""

import os
import stat
import tempfile
from contextlib import suppress

from commonhold.adapters.files.faults import translated
from commonhold.adapters.system import process_umask
from commonhold.domain.errors import Code, InputError


def replace_file(path: str, content: bytes) -> None:
    """Write `content` to `path`, through a link if it is one; a pipe or device is written to as it is.

    Raises StoreError where the system refuses; the file is as it was then.
    """
    place = os.path.realpath(path)
    try:
        with translated(path):
            mode = _mode(place)
            if stat.S_ISREG(mode):
                _replace(place, content, stat.S_IMODE(mode))
            else:
                with open(place, "wb", buffering=0) as file:
                    file.write(content)
    except (FileNotFoundError, NotADirectoryError) as fault:
        raise _nowhere(path) from fault


def _mode(place: str) -> int:
    """What is there; what a new file would be where nothing is."""
    try:
        return os.stat(place).st_mode
    except FileNotFoundError:
        return stat.S_IFREG | (0o666 & ~process_umask())


def _replace(place: str, content: bytes, mode: int) -> None:
    descriptor, beside = tempfile.mkstemp(prefix=".commonhold-", suffix=".tmp", dir=os.path.dirname(place))
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        os.replace(beside, place)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(beside)


def _nowhere(path: str) -> InputError:
    return InputError(
        Code.FILE_NOT_FOUND,
        f"there is no folder for {path!r}",
        hint="make the folder first, or name another file",
        fields={"path": path},
    )
