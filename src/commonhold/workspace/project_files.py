"""Files of a project that its user may have written: read as they are, and changed only if that is safe."""

import os
import stat
from contextlib import suppress

from commonhold.kernel.errors import Code, InputError, StoreError
from commonhold.machine.file_replacement import replace_file
from commonhold.machine.os_errors import code_of


def read(root: str, path: str) -> str | None:
    """Return the text of a file below `root`; None if there is none.

    Raises InputError `NOT_A_FILE`, `PATH_OUTSIDE`, `ENCODING_INVALID` and StoreError `PERMISSION_DENIED` unless it is a
    file that this user may change.
    """
    place = os.path.join(root, path)
    _check_folders(root, path)
    try:
        status = os.lstat(place)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise _odd(path, "is a link, a folder or a device", Code.NOT_A_FILE)
    _check_owner(path, status)
    try:
        with open(place, encoding="utf-8", newline="") as file:
            return file.read()
    except UnicodeDecodeError as fault:
        raise _odd(path, "is not UTF-8", Code.ENCODING_INVALID) from fault
    except OSError as fault:
        raise _failed(path, fault) from fault


def _check_folders(root: str, path: str) -> None:
    """No folder on the way may be a link: files outside, or shared with other projects, are not ours to change."""
    place = root
    for name in path.split("/")[:-1]:
        place = os.path.join(place, name)
        if os.path.islink(place):
            raise _odd(path, "lies behind a link", Code.PATH_OUTSIDE)
        if os.path.lexists(place) and not os.path.isdir(place):
            raise _odd(path, f"needs a folder where {name!r} is none", Code.NOT_A_FILE)


def _check_owner(path: str, status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise StoreError(
            Code.PERMISSION_DENIED,
            f"{path} belongs to another user, so it is not changed",
            hint="run this as the user whose files these are",
            fields={"path": path},
        )


def write(root: str, path: str, before: str | None, after: str | None, mode: int | None = None) -> None:
    """Replace the text `before` of a file by `after`; None: no file. Folders that are empty then go, too.

    Raises InputError `FILE_EXISTS` if the file has changed since, and the errors of `read`.
    """
    if read(root, path) != before:
        raise InputError(
            Code.FILE_EXISTS,
            f"{path} was changed meanwhile, and was left as it is",
            hint="repeat the same call",
            fields={"path": path},
        )
    place = os.path.join(root, path)
    try:
        if after is None:
            _remove(root, place)
        else:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            replace_file(place, after.encode(), mode)
    except OSError as fault:
        raise _failed(path, fault) from fault


def _remove(root: str, place: str) -> None:
    os.unlink(place)
    folder = os.path.dirname(place)
    with suppress(OSError):
        while folder != root:
            os.rmdir(folder)
            folder = os.path.dirname(folder)


def _odd(path: str, why: str, code: Code) -> InputError:
    return InputError(
        code,
        f"{path} {why}, so nothing is written to it",
        hint="make it a file of this project, in UTF-8, or move it away",
        fields={"path": path},
    )


def _failed(path: str, fault: OSError) -> StoreError:
    return StoreError(
        code_of(fault),
        f"{path} could not be changed: {fault.strerror}",
        hint="look at its permissions and at the disk, and repeat the same call",
        fields={"path": path},
    )
