"""The state folder: its place, whether it can be trusted, and its content.

The database is opened by SQLite alone and only to read: another program that opens and closes the file would drop the
locks of this process on it.
"""

import fcntl
import os
import shlex
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

import apsw

from commonhold.diagnostics.finding import Finding, Level, fail, ok, warn, why
from commonhold.diagnostics.mounts import file_system, free_space
from commonhold.history.check import chain_fault
from commonhold.kernel.compacted import told_compacted
from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.texts import counted
from commonhold.machine.system import SystemClock
from commonhold.stores.reset_events import Reset, last_reset
from commonhold.stores.sqlite.connect import APPLICATION_ID, MIGRATIONS, is_new, start_afresh
from commonhold.stores.sqlite.faults import translate
from commonhold.stores.sqlite.gate import Gate
from commonhold.stores.sqlite.last_event_mark import RESET, Mark, SecondMark, fallen_back, gone
from commonhold.stores.sqlite.session import SqliteSession
from commonhold.stores.sqlite.store import DATABASE, GATE

_GATE_PATIENCE_SECONDS: Final = 1.0
_GATE_PAUSE_SECONDS: Final = 0.02
_BUSY_TIMEOUT_MS: Final = 1000
_NO_DATABASE: Final = ok("database", "not there yet; the first use makes it")
_RECOVER: Final = "commonhold doctor --recover"
_MEND: Final = "change the code that they name, or waive them: commonhold review lists them"


def state(folder: str) -> Iterator[Finding]:
    """Yield all checks of the state folder."""
    yield file_system(folder)
    yield free_space(folder)
    if not os.path.lexists(folder):
        yield _not_there(folder)
        return
    yield _folder(folder)
    if not can_be_entered(folder):
        return
    yield _locks(folder)
    yield _gate(folder)
    yield from _database(folder)


def can_be_entered(folder: str) -> bool:
    """Whether there is a state folder in which files can be found: nothing else can be said about it otherwise."""
    return Path(folder).is_dir() and os.access(folder, os.R_OK | os.X_OK)


def _not_there(folder: str) -> Finding:
    above = str(Path(folder).parent)
    if os.path.lexists(above) and not os.access(above, os.W_OK):
        mend = f"make {above} writable for this user, or run as its owner: ls -ld {above}"
        return fail("state folder", f"{folder} does not exist, and cannot be created", mend, path=folder)
    return ok("state folder", f"{folder} does not exist yet; the first use creates it", path=folder)


def _folder(folder: str) -> Finding:
    if not Path(folder).is_dir():
        return fail(
            "state folder", f"{folder} is not a folder", f"mv {shlex.quote(folder)} {shlex.quote(f'{folder}.aside')}"
        )
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as fault:
        mend = f"make it writable for this user, or run as its owner: ls -ld {folder}"
        return fail("state folder", f"{folder} cannot be written: {why(fault)}", mend, path=folder)
    return ok("state folder", f"{folder}, {_size(folder):,} bytes, writable", path=folder, bytes=_size(folder))


def _size(folder: str) -> int:
    return sum(entry.stat(follow_symlinks=False).st_size for entry in os.scandir(folder) if entry.is_file())


def _locks(folder: str) -> Finding:
    """Return whether locks exclude: two descriptors of one file must not both get it."""
    try:
        with tempfile.NamedTemporaryFile(dir=folder) as one, Path(one.name).open("rb") as other:
            fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)
            try:
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return ok("locks", "flock excludes")
    except OSError as fault:
        return warn("locks", f"could not be tried: {why(fault)}", "make the state folder writable")
    return fail("locks", "flock lets two in at once", "move the repository to a local disk")


def _gate(folder: str) -> Finding:
    try:
        descriptor = os.open(Path(folder, GATE), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return ok("gate", "never used yet")
    except OSError as fault:
        return fail("gate", f"cannot be opened: {why(fault)}", f"fix its permissions: ls -l {folder}/{GATE}")
    with open(descriptor, "rb") as file:
        seconds = _seconds_to_take(file.fileno())
    if seconds is not None:
        return ok("gate", f"free (taken after {seconds:.2f} s, and given back)", seconds=seconds)
    mend = "repeat this in a moment; then look for a suspended one: ps -o pid,stat,args -C commonhold"
    return warn("gate", "held by another process for over a second; the system does not tell by which", mend)


def _seconds_to_take(descriptor: int) -> float | None:
    start = time.monotonic()
    while time.monotonic() - start < _GATE_PATIENCE_SECONDS:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_GATE_PAUSE_SECONDS)
        else:
            return time.monotonic() - start
    return None


def _database(folder: str) -> Iterator[Finding]:
    path = str(Path(folder, DATABASE))
    # Before the database: the database can only have more events later.
    mark, second = Gate(str(Path(folder, GATE))).read_mark(), SecondMark(folder).read()
    if not os.path.lexists(path):
        yield _lost(gone(path)) if mark else _NO_DATABASE
        return
    if mark and mark.has_log_of_another(path):
        yield _lost(fallen_back(path, mark))
        return
    try:
        with closing(_connect(path)) as connection:
            # One view of the database, which is not written to.
            connection.set_busy_timeout(_BUSY_TIMEOUT_MS)
            connection.execute("BEGIN")
            if is_new(connection):
                yield _lost(fallen_back(path, mark)) if mark else _NO_DATABASE
                return
            # All or nothing: what looked sound may turn out to be damaged.
            yield from list(_inside(connection, path, [each for each in (mark, second) if each]))
    except apsw.BusyError:
        yield warn("database", "another process holds it", "repeat this in a moment")
    except (apsw.CorruptError, apsw.NotADBError) as fault:
        yield fail("database", f"damaged: {fault}", start_afresh(folder))
    except apsw.Error as fault:
        is_full = translate(fault, path).code is Code.DISK_FULL
        remedy = "free some space" if is_full else f"look at its permissions: ls -l {folder}"
        yield fail("database", f"cannot be read: {fault}", remedy)


def _inside(connection: apsw.Connection, path: str, marks: Sequence[Mark]) -> Iterator[Finding]:
    """Yield the checks of a database that has something in it. Raises apsw.Error."""
    first = _identity(connection, path) or _integrity(connection, str(Path(path).parent))
    yield first
    if first.level is Level.FAIL:
        return
    if lost := next((each for each in marks if not each.is_in(connection)), None):
        yield _lost(fallen_back(path, lost))
        return
    session = SqliteSession(connection)
    yield from _contents(session)
    if connection.pragma("user_version") == len(MIGRATIONS):
        _read_rows(session)
        yield _chain(session)


def _read_rows(session: SqliteSession) -> None:
    """Read what no other check reads: SQLite does not see damage inside a text. Raises apsw.CorruptError."""
    for name in ("waiters", "lost", "works", "values", "tasks", "runs", "entries", "managed_sessions"):
        getattr(session, name)()


def _connect(path: str) -> apsw.Connection:
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
    except apsw.CantOpenError:
        # In a folder that cannot be written SQLite cannot make its index of the log; without a log it needs none.
        connection.close()
        if os.path.lexists(f"{path}-wal"):
            raise
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(f"file:{quote(path)}?immutable=1", flags=flags)
    return connection


def _identity(connection: apsw.Connection, path: str) -> Finding | None:
    schema, known = connection.pragma("user_version"), len(MIGRATIONS)
    if connection.pragma("application_id") != APPLICATION_ID:
        return fail("database", f"{path} was made by another program", start_afresh(str(Path(path).parent)))
    if not isinstance(schema, int) or schema > known:
        found = f"written by a newer Commonhold (schema {schema}; this one knows {known})"
        return fail("database", found, "pip install --upgrade commonhold", schema=schema, known=known)
    return None


def _lost(fault: StoreError) -> Finding:
    return fail("database", fault.message, RESET)


def _integrity(connection: apsw.Connection, folder: str) -> Finding:
    complaints = [str(row[0]) for row in connection.execute("PRAGMA quick_check(3)")]
    if complaints != ["ok"]:
        return fail("database", f"damaged: {'; '.join(complaints)}", start_afresh(folder))
    schema = connection.pragma("user_version")
    return ok("database", f"sound, schema {schema}", schema=schema, journal_mode=connection.pragma("journal_mode"))


def _chain(session: SqliteSession) -> Finding:
    """Report whether each event's hash covers it and the event before."""
    fault = chain_fault(session)
    if fault is None:
        gone = f"; {told}" if (told := told_compacted(session)) else ""
        return ok("chain", f"each event's hash covers the event before it{gone}", events=session.next_sequence - 1)
    mend = "find out who wrote to the database: commonhold replay shows what differs"
    return fail("chain", f"event {fault.sequence}: {fault.why}", mend, event=fault.sequence)


def restored(reset: Reset | None, *, is_server: bool = False) -> Iterator[Finding]:
    """Report that a store was found restored to an older state, and the fate of its leases."""
    if reset is not None:
        whose = f" of {', '.join(reset.holders)}" if reset.holders else ""
        found = (
            f"{(time.time() - reset.at) / 60:.0f} min ago the store was found to lack events that it had recorded, as"
            f" after a restored backup: {counted(reset.leases, 'lease')}{whose} ended, and fences went on above"
            " all given before"
        )
        if not reset.leases and not is_server:
            yield ok("restored", found)
            return
        mend = "let their holders acquire again the keys that they still need: commonhold log shows them"
        servers = "; if no backup was restored, look whether two servers answer at the store's URL"
        yield warn("restored", found, f"{mend}{servers if is_server else ''}")


def _contents(session: SqliteSession) -> Iterator[Finding]:
    now, leases = SystemClock().now(), session.leases()
    live = sum(lease.is_live(now) for lease in leases)
    expired = len(leases) - live
    events = session.next_sequence - 1
    yield ok("leases", f"{live} live, {expired} run out and not swept yet", live=live, expired=expired, events=events)
    yield from restored(last_reset(session))
    debts = session.debts()
    if debts:
        yield warn("debts", f"{len(debts)} open", _MEND, open=len(debts))
    else:
        yield ok("debts", "none open", open=0)
    journals = session.journals()
    if journals:
        paths = [write.path for journal in journals for write in journal.writes]
        found = f"{counted(len(journals), 'commit')} interrupted, or being written right now: {', '.join(paths)}"
        yield warn("journal", found, _RECOVER, paths=paths)
    else:
        yield ok("journal", "empty: no commit was interrupted")
