"""A transaction of SQLite."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """A transaction that ends with the block, and is rolled back if the block fails.

    If the disk fails SQLite does that by itself, and apsw's own `with` only reports that it cannot be done again.
    """
    connection.execute("BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
