"""Continue after the database was lost, or replaced by one that lacks events."""

import os
from collections.abc import Callable, Iterable
from contextlib import closing, suppress

import apsw

from commonhold.kernel.events import Event
from commonhold.stores.sqlite.connect import connect
from commonhold.stores.sqlite.event_numbering import record_above
from commonhold.stores.sqlite.faults import translate
from commonhold.stores.sqlite.gate import Gate
from commonhold.stores.sqlite.last_event_mark import LOGS, Mark, missing
from commonhold.stores.sqlite.second_mark import SecondMark
from commonhold.stores.sqlite.session import SqliteSession
from commonhold.stores.sqlite.store import DATABASE, GATE
from commonhold.workspace import daemon_files


def reset(folder: str, events: Callable[[SqliteSession], Iterable[Event]], at: float) -> bool:
    """Take a state that has lost events into use again: with the database that is there, else with a new one.

    `events` returns the events to record in it, with numbers above all that were given before; `at` is the wall time.
    Returns whether anything was lost: if not, nothing is done. Raises StoreError, as `STORE_OWNED` while a daemon
    lives.
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
    """Delete the companion files of a database that is gone: they belong to no other one."""
    for ending in LOGS:
        with suppress(FileNotFoundError):
            os.unlink(path + ending)
