"""SQL by hand, beside what is tested."""

from typing import Any

import psycopg


def ask(url: str, statement: str) -> list[tuple[Any, ...]]:
    """Run one statement; its rows, if it gives any."""
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []
