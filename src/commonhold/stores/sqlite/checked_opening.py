"""Open a database that lacks nothing, by the checks of the store, for a caller that only reads a little."""

import os

import apsw

from commonhold.stores.sqlite.connect import DATABASE, connect_if_ready
from commonhold.stores.sqlite.last_event_mark import SecondMark, missing, read_mark

GATE = "gate"


def opened_whole(folder: str) -> apsw.Connection | None:
    """Return a connection to the database in a state folder, if the store would find nothing to do or to refuse.

    None if there is no state, or one to be made, migrated, refused or continued after a loss: that is for the store.
    Raises StoreError and apsw's own errors as `connect_if_ready` does.
    """
    path, gate = os.path.join(folder, DATABASE), os.path.join(folder, GATE)
    mark = read_mark(gate)
    if mark is None or mark.has_log_of_another(path):
        return None
    connection = connect_if_ready(path)
    if connection is None:
        return None
    if missing(connection, lambda: read_mark(gate)) or missing(connection, SecondMark(folder).read):
        connection.close()
        return None
    return connection
