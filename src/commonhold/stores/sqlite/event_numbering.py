"""Event numbers that continue above all given ones, in a database that does not contain those events."""

from collections.abc import Callable, Iterable
from typing import Final

import apsw

from commonhold.kernel.events import Event
from commonhold.stores.sqlite.last_event_mark import Mark
from commonhold.stores.sqlite.session import SqliteSession
from commonhold.stores.transaction import transaction

FENCE_GAP: Final = 1_000_000
"""How many events the mark may lag behind after a power failure."""


def go_on_above(connection: apsw.Connection, mark: Mark, events: Iterable[Event], at: float) -> bool:
    """Record events in a database without any, unless another process has; return False for one that has others.

    The caller is inside the gate. `at` is the wall time.
    """
    others = connection.execute("SELECT seq > ? FROM events ORDER BY seq LIMIT 1", (mark.sequence,)).fetchall()
    if not others:
        record_above(connection, mark, lambda _: events, at)
    return others in ([], [(1,)])


def record_above(
    connection: apsw.Connection,
    mark: Mark,
    events: Callable[[SqliteSession], Iterable[Event]],
    at: float,
    gap: int = FENCE_GAP,
) -> int:
    """Record events, with numbers more than `gap` above the mark; return the number of the last one.

    Traces in the database of commits that had not ended are dropped: they ended since, or were lost with their events.
    """
    with transaction(connection):
        session = SqliteSession(connection)
        session.skip_to(mark.sequence + gap + 1)
        session.record(events(session), at)
        for journal in session.journals():
            session.end(journal.id)
        return session.next_sequence - 1
