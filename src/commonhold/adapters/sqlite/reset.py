"""Going on after the database was lost, or replaced by one that has not all events."""

import os
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from typing import Final

import apsw

from commonhold.adapters import daemon_place
from commonhold.adapters.sqlite.connect import connect
from commonhold.adapters.sqlite.faults import translate
from commonhold.adapters.sqlite.gate import Gate
from commonhold.adapters.sqlite.mark import LOGS, Mark
from commonhold.adapters.sqlite.session import SqliteSession
from commonhold.adapters.sqlite.store import DATABASE, GATE
from commonhold.adapters.transaction import transaction
from commonhold.domain.events import Event

FENCE_GAP: Final = 1_000_000
"""How far the mark of the last event may be behind after a loss of power."""


def reset(folder: str, events: Callable[[SqliteSession], Iterable[Event]], at: float) -> bool:
    """Take a state that has lost events into use again: with the database that is there, else with a new one.

    `events` gives what is recorded in it, with numbers above all that were given before; `at` is the wall time. Returns
    whether anything was lost: where nothing was, nothing is done. Raises StoreError, as `STORE_OWNED` while a daemon
    lives.
    """
    path = os.path.join(folder, DATABASE)
    gate = Gate(os.path.join(folder, GATE), is_owned=lambda: daemon_place.is_running(folder))
    mark = gate.read_mark()
    if mark is None:
        return False
    gate.enter()
    try:
        mark = gate.read_mark() or mark
        if mark.has_log_of_another(path) or not os.path.lexists(path):
            _drop_logs(path)
        with closing(connect(path)) as connection:
            if mark.is_in(connection):
                return False
            gate.write_mark(Mark(_record(connection, mark, events, at), at, os.stat(path).st_ino))
    except apsw.Error as fault:
        raise translate(fault, path) from fault
    finally:
        gate.leave()
        gate.close()
    return True


def _drop_logs(path: str) -> None:
    """Delete what a database that is gone has left: it belongs to no other one."""
    for ending in LOGS:
        with suppress(FileNotFoundError):
            os.unlink(path + ending)


def _record(
    connection: apsw.Connection, mark: Mark, events: Callable[[SqliteSession], Iterable[Event]], at: float
) -> int:
    """Record the events; return the number of the last one."""
    with transaction(connection):
        session = SqliteSession(connection)
        session.skip_to(mark.sequence + FENCE_GAP)
        session.record(events(session), at)
        for journal in session.journals():  # of a commit that ended since, or was lost with its events
            session.end(journal.id)
        return session.next_sequence - 1
