"""Take a state into use again after its database was lost, or replaced by one that lacks events."""

import os
from collections.abc import Callable, Iterable
from contextlib import closing, suppress

import apsw

from commonhold.kernel.events import Event
from commonhold.stores.sqlite.connect import connect
from commonhold.stores.sqlite.event_numbering import record_above
from commonhold.stores.sqlite.faults import translate
from commonhold.stores.sqlite.gate import Gate
from commonhold.stores.sqlite.last_event_mark import LOGS, Mark, SecondMark, missing
from commonhold.stores.sqlite.session import SqliteSession
from commonhold.stores.sqlite.store import DATABASE, GATE
from commonhold.workspace import daemon_files


def reset(folder: str, events: Callable[[SqliteSession], Iterable[Event]], at: float) -> bool:
    """Take the state in `folder` into use again after it lost events: with its present database, or else a new one.

    `events` returns the events to record; they get numbers above all earlier ones. `at` is the wall time of the reset.
    Return whether events were missing; if none were, the state is unchanged. Raises StoreError: `STORE_OWNED` while a
    daemon serves the repository, and those of SQLite's own failures.
    """
    path = os.path.join(folder, DATABASE)
    gate = Gate(os.path.join(folder, GATE), is_owned=lambda: daemon_files.is_running(folder))
    second = SecondMark(folder)
    if gate.read_mark() is None and not os.path.lexists(path):
        return False
    gate.enter()
    try:
        mark = gate.read_mark()
        if (mark and mark.has_log_of_another(path)) or not os.path.lexists(path):
            _drop_logs(path)
        with closing(connect(path)) as connection:
            lacking = [found for read in (gate.read_mark, second.read) if (found := missing(connection, read))]
            if not lacking:
                return False
            number = record_above(connection, max(lacking), events, at)
            for write in (gate.write_mark, second.write):
                write(Mark(number, at, os.stat(path).st_ino))
    except apsw.Error as fault:
        raise translate(fault, path) from fault
    finally:
        gate.leave()
        gate.close()
        second.close()
    return True


def _drop_logs(path: str) -> None:
    """Delete the companion files (log and shared memory) of a missing database: no other database may use them."""
    for ending in LOGS:
        with suppress(FileNotFoundError):
            os.unlink(path + ending)
