"""The marks of the last event, kept outside of the database: they show whether a database lost events.

One is in the gate. The second lies beside the state folder: it stays when that is restored or deleted.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from struct import Struct
from typing import Final, NamedTuple

import apsw

from commonhold.kernel.errors import Code, StoreError

RESET: Final = "commonhold doctor --reset-state"
LOG: Final = "-wal"
LOGS: Final = (LOG, "-shm")
"""The suffixes of a database's log and of its shared index."""
_FORM: Final = Struct("<8sQdQQ")
HEAD: Final = b"chmark1\n"
ENDING: Final = ".mark"
"""The suffix of the file beside the state folder."""
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class Mark(NamedTuple):
    """An event that was durable: its number, and the wall time that distinguishes it from another one of that number.

    `database` is the inode of the file that it was written to; 0 if that is unknown.
    """

    sequence: int
    at: float
    database: int = 0

    @classmethod
    def read(cls, descriptor: int) -> "Mark | None":
        """Return the mark at the beginning of a file; None if there is none.

        If the file is a copy, the inode of the database is left out: that was copied, too.
        """
        data = os.pread(descriptor, _FORM.size, 0)
        if len(data) < _FORM.size or not data.startswith(HEAD):
            return None
        _, sequence, at, database, gate = _FORM.unpack(data)
        return cls(sequence, at, database if gate == os.fstat(descriptor).st_ino else 0)

    def write(self, descriptor: int, gate: int) -> None:
        """Write the mark at the beginning of a file, whose inode is `gate`, in one step. Raises OSError."""
        os.pwrite(descriptor, _FORM.pack(HEAD, self.sequence, self.at, self.database, gate), 0)

    def is_in(self, connection: apsw.Connection) -> bool:
        """Whether the database holds the event that is marked, or a snapshot in its place."""
        rows = connection.execute("SELECT at FROM events WHERE seq = ?", (self.sequence,)).fetchall()
        return rows == [(self.at,)] if rows else self._is_compacted(connection)

    def _is_compacted(self, connection: apsw.Connection) -> bool:
        """Whether a snapshot stands for the event: after a loss of power the mark may be old."""
        has_snapshots = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'snapshots'").fetchall()
        found = "SELECT 1 FROM snapshots WHERE seq >= ?"
        return bool(has_snapshots and connection.execute(found, (self.sequence,)).fetchall())

    def has_log_of_another(self, path: str) -> bool:
        """Whether the log beside the database at `path` was written for another file, which SQLite does not notice."""
        try:
            is_other = os.stat(path).st_ino != self.database != 0
            return is_other and os.stat(path + LOG).st_size > 0
        except OSError:
            return False


def read_mark(path: str) -> Mark | None:
    """Return the mark in the file at `path`; None if there is none. Needs no lock: it is written in one step."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        return Mark.read(descriptor)
    finally:
        os.close(descriptor)


class SecondMark:
    """The mark of the last event in a file beside the state folder at `folder`.

    There is none if the folder itself has a hidden name: it lies among the files of a project, as the mark would. It is
    not flushed: after a loss of power it recognises less. One that was copied says nothing: it came with a copy of the
    repository, perhaps a moment after the state folder, while the original was at work.
    """

    def __init__(self, folder: str) -> None:
        """Name the file; it is made with the first event."""
        is_among_files = os.path.basename(folder).startswith(".")
        self._path = "" if is_among_files else folder + ENDING
        self._descriptor = -1

    def read(self) -> Mark | None:
        """Return the mark; None if there is none, or it was copied here."""
        mark = read_mark(self._path) if self._path else None
        return mark if mark and mark.database else None

    def write(self, mark: Mark) -> None:
        """Write the mark of the last event that is durable, if it can be written."""
        if self._path:
            with suppress(OSError):
                if self._descriptor < 0:
                    self._descriptor = os.open(self._path, _FLAGS, 0o600)
                mark.write(self._descriptor, os.fstat(self._descriptor).st_ino)

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def missing(connection: apsw.Connection, read: Callable[[], Mark | None]) -> Mark | None:
    """Return the mark that `read` returns if the database lacks the marked event."""
    mark = read()
    if mark is None or mark.is_in(connection):
        return None
    mark = read()  # the first one may have been read while another one was written
    return None if mark is None or mark.is_in(connection) else mark


def gone(path: str) -> StoreError:
    """Return the refusal of a state folder whose database was deleted or moved away."""
    return StoreError(
        Code.STORE_UNSAFE,
        f"the state database was deleted or moved away, and the record of all leases with it: {path}",
        hint=f"put it back (with its -wal file), or go on without it: {RESET}",
        fields={"database": path},
    )


def fallen_back(path: str, mark: Mark) -> StoreError:
    """Return the refusal of a database that does not hold the last event that was recorded."""
    return StoreError(
        Code.STORE_UNSAFE,
        "the state database was restored from an older copy or exchanged, or lost its -wal file: the last event"
        f" that was recorded, {mark.sequence}, is not in it",
        hint=f"put the newest one back (with its -wal file), or end all leases and go on with this one: {RESET}",
        fields={"database": path, "event": mark.sequence},
    )
