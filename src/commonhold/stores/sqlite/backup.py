"""Copy a state while it is in use, and take a copy into use again. Fences never go back."""

import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

import apsw

from commonhold.kernel.errors import Code, InputError, StoreError
from commonhold.kernel.events import Event
from commonhold.stores.sqlite.checked_opening import GATE, opened_whole
from commonhold.stores.sqlite.connect import APPLICATION_ID, DATABASE, connect
from commonhold.stores.sqlite.event_numbering import FENCE_GAP, record_above
from commonhold.stores.sqlite.faults import translate
from commonhold.stores.sqlite.gate import Gate
from commonhold.stores.sqlite.last_event_mark import LOGS, Mark, SecondMark
from commonhold.stores.sqlite.session import SqliteSession
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace import daemon_files

_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NEWEST: Final = "SELECT seq, at FROM events ORDER BY seq DESC LIMIT 1"


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of a state: its path, its size in bytes, and its newest event (0 if it has none)."""

    path: str
    size: int
    newest: int


@dataclass(frozen=True, slots=True)
class Restored:
    """A restored state: the newest event of the backup, that of the state now, and where the state before is kept.

    `kept` is empty if there was no state before.
    """

    backup: int
    newest: int
    kept: str


def back_up(state_folder: str, path: str) -> Backup:
    """Write a copy of the state to `path`, readable by its owner alone; others go on reading and writing meanwhile.

    The copy is of one moment, complete, and durable when this returns. Raises InputError `FILE_EXISTS` if there is a
    file already, `NOT_A_FILE` if it is a folder, `FILE_NOT_FOUND` if there is no state or no such folder, StoreError as
    opening a state does.
    """
    connection = _opened(state_folder)
    if connection is None:
        with closing(SqliteStore(state_folder)) as store, store.read():
            pass  # makes an older state ready, and raises for one that cannot be used
        connection = _opened(state_folder)
    if connection is None:
        raise InputError(
            Code.FILE_NOT_FOUND,
            "there is no state to back up yet",
            hint="it begins with the first lease or commit; then repeat the call",
            fields={"folder": state_folder},
        )
    beside = f"{path}.incomplete"
    try:
        with closing(connection):
            with suppress(FileNotFoundError):
                os.unlink(beside)  # of a call that was killed
            os.close(os.open(beside, _FLAGS, 0o600))
            connection.execute("VACUUM INTO ?", (beside,))
        newest = _checked(beside)
        _flush(beside)
        os.link(beside, path)  # unlike renaming, this replaces no file
        _flush(os.path.dirname(os.path.abspath(path)))
        return Backup(path, os.stat(path).st_size, newest.sequence)
    except FileExistsError as fault:
        if os.path.isdir(path):
            raise _folder(path, f"{path}/FILE") from fault
        raise InputError(
            Code.FILE_EXISTS,
            f"there is a file {path!r} already, and no backup replaces one",
            hint="name another file",
            fields={"path": path},
        ) from fault
    except FileNotFoundError as fault:
        raise _missing(path) from fault
    except (apsw.CorruptError, apsw.NotADBError) as fault:
        raise translate(fault, os.path.join(state_folder, DATABASE)) from fault
    except apsw.Error as fault:
        raise translate(fault, path) from fault
    finally:
        with suppress(OSError):
            os.unlink(beside)


def check_backup(path: str) -> None:
    """Raise InputError `FILE_NOT_FOUND`, `NOT_A_FILE`, StoreError `STORE_CORRUPT` for a file that is no backup."""
    if os.path.isdir(path):
        raise _folder(path, "a file that `commonhold backup` has written")
    if not os.path.exists(path):
        raise _missing(path)
    try:
        _checked(path)
    except apsw.Error as fault:
        raise translate(fault, path) from fault


def _opened(state_folder: str) -> apsw.Connection | None:
    """Return the state, opened for reading; None if there is none that needs no repair. Raises StoreError."""
    try:
        return opened_whole(state_folder)
    except apsw.Error as fault:
        raise translate(fault, os.path.join(state_folder, DATABASE)) from fault


def restore(
    state_folder: str, path: str, events: Callable[[SqliteSession], Iterable[Event]], at: float, kept: str
) -> Restored:
    """Put the backup at `path` in the place of the state, and keep the state before under the ending `kept`.

    `events` returns the events to record then, such as those that end all leases. They get numbers above all of the
    backup and all that this machine has seen: the next ones if the state before has seen all of these, else with room
    for a million events that it has not seen. `at` is the wall time. Raises InputError `FILE_NOT_FOUND`, `NOT_A_FILE`,
    StoreError `STORE_CORRUPT` or `STORE_NEWER` for a file that is no usable backup, `STORE_OWNED` while a daemon serves
    the repository; nothing was changed then.
    """
    place = os.path.join(state_folder, DATABASE)
    beside = f"{place}.restoring"
    gate = Gate(os.path.join(state_folder, GATE), is_owned=lambda: daemon_files.is_running(state_folder))
    second = SecondMark(state_folder)
    gate.enter()
    try:
        _copy(path, beside)
        backup = _checked(beside)
        connect(beside).close()  # this version can use it, and its tables are up to date
        mark = gate.read_mark()
        marks = [each for each in (mark, second.read()) if each]
        replaced = _whole(place, marks)
        newest = max((backup, *marks, *filter(None, [replaced])), key=attrgetter("sequence"))
        gap = 0 if replaced and replaced.sequence == newest.sequence else FENCE_GAP
        had_state = _move_aside(place, kept, mark)
        os.replace(beside, place)
        with closing(connect(place)) as connection:
            number = record_above(connection, newest, events, at, gap)
            for write in (gate.write_mark, second.write):
                write(Mark(number, at, os.stat(place).st_ino))
        return Restored(backup.sequence, number, place + kept if had_state else "")
    except apsw.Error as fault:
        raise translate(fault, path) from fault
    finally:
        for ending in ("", *LOGS):
            with suppress(FileNotFoundError):
                os.unlink(beside + ending)
        gate.leave()
        gate.close()
        second.close()


def _checked(path: str) -> Mark:
    """Return the newest event of a backup. Raises StoreError `STORE_CORRUPT` if it is damaged, or none of ours."""
    try:
        with closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            if connection.pragma("application_id") != APPLICATION_ID or connection.pragma("quick_check") != "ok":
                raise _no_backup(path)
            rows = connection.execute(_NEWEST).fetchall()
    except (apsw.NotADBError, apsw.CorruptError) as fault:
        raise _no_backup(path) from fault
    return Mark(int(str(rows[0][0])), float(str(rows[0][1]))) if rows else Mark(0, 0.0)


def _copy(path: str, beside: str) -> None:
    """Copy a backup into the state folder, durably and for its owner alone. Raises InputError `FILE_NOT_FOUND`."""
    for ending in ("", *LOGS):
        with suppress(FileNotFoundError):
            os.unlink(beside + ending)  # of a call that was killed
    try:
        with open(path, "rb") as source, open(os.open(beside, _FLAGS, 0o600), "wb") as target:
            shutil.copyfileobj(source, target)
            target.flush()
            os.fsync(target.fileno())
    except FileNotFoundError as fault:
        raise _missing(path) from fault
    except IsADirectoryError as fault:
        raise _folder(path, "a file that `commonhold backup` has written") from fault


def _flush(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _missing(path: str) -> InputError:
    return InputError(
        Code.FILE_NOT_FOUND,
        f"there is no file, or no folder for it, at {path!r}",
        hint="look at the path, then repeat the call",
        fields={"path": path},
    )


def _folder(path: str, instead: str) -> InputError:
    return InputError(Code.NOT_A_FILE, f"{path!r} is a folder", hint=f"name {instead}", fields={"path": path})


def _no_backup(path: str) -> StoreError:
    return StoreError(
        Code.STORE_CORRUPT,
        "the file is damaged, or no backup of a state; the state of the repository was not changed",
        hint="name a file that `commonhold backup` has written",
        fields={"path": path},
    )


def _whole(place: str, marks: Iterable[Mark]) -> Mark | None:
    """Return the newest event of the state at `place`; None if that lacks a marked event, or cannot be read."""
    if not os.path.lexists(place) or any(mark.has_log_of_another(place) for mark in marks):
        return None
    try:
        newest = _checked(place)
        with closing(apsw.Connection(place, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            return newest if all(mark.is_in(connection) for mark in marks) else None
    except (apsw.Error, StoreError):
        return None


def _move_aside(place: str, kept: str, mark: Mark | None) -> bool:
    """Rename the database and its logs; return whether there was one.

    Its log is written into it first, if that can be done: an interruption then separates nothing.
    """
    had_state = os.path.lexists(place)
    if had_state and not (mark and mark.has_log_of_another(place)):
        with suppress(apsw.Error, StoreError), closing(apsw.Connection(place, flags=apsw.SQLITE_OPEN_READWRITE)) as old:
            old.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    for ending in ("", *LOGS):
        with suppress(FileNotFoundError):
            os.rename(place + ending, place + kept + ending)
    return had_state
