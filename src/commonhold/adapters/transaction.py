"""A transaction of SQLite."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """A transaction that ends with the block, and is taken back where the block fails.

    Where the disk fails SQLite does that by itself, and apsw's own `with` tells only that it cannot be done again.
    """
    connection.execute("BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
