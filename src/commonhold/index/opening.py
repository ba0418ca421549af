"""Opening the database of the index.

It is a cache: an unusable one is rebuilt, and if nothing can be stored on disk it is kept in memory.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import apsw

from commonhold.kernel.errors import StoreError
from commonhold.machine.file_systems import check_ground
from commonhold.stores.sqlite.connect import FIRST_SAFE_SQLITE, IN_MEMORY, sqlite_version
from commonhold.stores.transaction import transaction

DATABASE: Final = "index.db"
LOCK: Final = "index.lock"
APPLICATION_ID: Final = 0x434D4849
# Raised with every change of schema.sql, or of how a summary is packed.
SCHEMA: Final = 1
_PATIENCE_SECONDS: Final = 5.0
_PAUSE_SECONDS: Final = 0.01
_LOCK_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_DAMAGE: Final = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError, apsw.SQLError)
# The system keeps the pages, too; daemon and planners have such a cache each.
_CACHE_KIBIBYTES: Final = 4_096


def open_database(folder: str | None) -> apsw.Connection:
    """Return the database in `folder`, empty if necessary; in memory if there is no folder, or it cannot be used."""
    if folder is not None:
        with suppress(apsw.Error, OSError, StoreError):
            return _on_disk(folder)
    return _prepared(apsw.Connection(IN_MEMORY))


def is_damage(fault: apsw.Error) -> bool:
    """Whether the file itself is at fault, so that a new one in its place would do."""
    return isinstance(fault, _DAMAGE)


def drop(folder: str) -> None:
    """Remove the database. Processes that have it open keep using theirs."""
    with suppress(OSError), _alone(folder):
        _unlink(folder)


def _on_disk(folder: str) -> apsw.Connection:
    if sqlite_version() < FIRST_SAFE_SQLITE:
        raise apsw.CantOpenError("this SQLite can damage a log that several processes share")
    check_ground(folder)
    with _alone(folder):
        try:
            return _opened(os.path.join(folder, DATABASE))
        except _DAMAGE:
            _unlink(folder)
            return _opened(os.path.join(folder, DATABASE))


def _opened(path: str) -> apsw.Connection:
    connection = apsw.Connection(path)
    try:
        connection.set_busy_timeout(round(_PATIENCE_SECONDS * 1000))
        return _prepared(connection)
    except apsw.Error:
        connection.close()
        raise


def _prepared(connection: apsw.Connection) -> apsw.Connection:
    """Set up, and make the tables if there are none. Raises FormatError if they are not ours, or of another version."""
    identity = connection.pragma("application_id"), connection.pragma("user_version")
    if identity != (APPLICATION_ID, SCHEMA):
        if connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall():
            raise apsw.FormatError("the index is of another version, or no index")
        connection.pragma("journal_mode", "wal")
        with transaction(connection):
            connection.execute(Path(__file__).with_name("schema.sql").read_text(encoding="utf-8"))
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", SCHEMA)
    # Rows lost in a power failure are rebuilt; the rest must be consistent, which OFF would not give.
    connection.pragma("synchronous", "normal")
    connection.pragma("cache_size", -_CACHE_KIBIBYTES)
    return connection


def _unlink(folder: str) -> None:
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, DATABASE + suffix))


@contextmanager
def _alone(folder: str) -> Iterator[None]:
    """Exclude other processes while the database is opened or dropped: its log is found by its name."""
    descriptor = os.open(os.path.join(folder, LOCK), _LOCK_FLAGS, 0o600)
    try:
        _lock(descriptor, time.monotonic() + _PATIENCE_SECONDS)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, until: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return
