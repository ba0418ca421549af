"""SQLite's errors, as ours."""

import os
from pathlib import Path
from typing import Final

import apsw

from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.resource_exhaustion import exhausted
from commonhold.stores.sqlite.connect import DATABASE, start_afresh

_DAMAGED: Final = "`commonhold doctor` shows the way out"
_FAULTS: Final[tuple[tuple[type[apsw.Error], Code, str, str, float | None], ...]] = (
    (
        apsw.FullError,
        Code.DISK_FULL,
        "the disk is full: the state could not be written, and nothing was changed",
        "free some space, then repeat the same call",
        None,
    ),
    (
        apsw.BusyError,
        Code.STORE_BUSY,
        "another process holds the state",
        "repeat the same call in a moment; `commonhold doctor` shows the processes that use it",
        1.0,
    ),
    (
        apsw.ReadOnlyError,
        Code.STORE_READ_ONLY,
        "the state cannot be written: its folder or files are read-only",
        "make the state folder writable for this user; `commonhold doctor` shows where it is",
        None,
    ),
    (
        apsw.CantOpenError,
        Code.STORE_READ_ONLY,
        "the state cannot be opened: its folder is missing, read-only or not ours",
        "make the state folder writable for this user; `commonhold doctor` shows where it is",
        None,
    ),
    (
        apsw.CorruptError,
        Code.STORE_CORRUPT,
        "the state database is damaged, so nothing is allowed to rely on it",
        _DAMAGED,
        None,
    ),
    (
        apsw.NotADBError,
        Code.STORE_CORRUPT,
        "the state database is not a database, so nothing is allowed to rely on it",
        _DAMAGED,
        None,
    ),
)


def translate(fault: apsw.Error, path: str) -> StoreError:
    """Return the StoreError for an error of SQLite; `path` is the database, for the message."""
    fields = {"database": path, "sqlite": f"{type(fault).__name__}: {fault}"}
    if isinstance(fault, apsw.IOError) and _is_full(path):
        # SQLite reports a full disk under its shared index as a general I/O failure.
        fault = apsw.FullError(str(fault))
    if isinstance(fault, apsw.CantOpenError) and (busy := _without_descriptors()):
        return busy
    for kind, code, message, hint, retry in _FAULTS:
        if isinstance(fault, kind):
            is_state = code is Code.STORE_CORRUPT and Path(path).name == DATABASE
            way = start_afresh(str(Path(path).parent)) if is_state else hint
            return StoreError(code, message, hint=way, retry_after_seconds=retry, fields=fields)
    return StoreError(
        Code.IO_FAILED,
        f"the state could not be used: {fault}",
        hint="see `commonhold doctor`; nothing was changed",
        fields=fields,
    )


def _without_descriptors() -> StoreError | None:
    """Return the error if nothing at all can be opened now: SQLite does not say why it could not open a file."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    except OSError as fault:
        return exhausted(fault)
    return None


def _is_full(path: str) -> bool:
    try:
        return os.statvfs(Path(path).parent).f_bavail == 0
    except OSError:
        return False
