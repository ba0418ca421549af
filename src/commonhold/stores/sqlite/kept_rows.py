"""The rows that some queries returned, cached until the tables that they read are changed."""

from collections.abc import Mapping
from typing import Any, Final

from commonhold.stores.sqlite.statements import load
from commonhold.stores.statements import table_written, tables_read

Rows = list[tuple[Any, ...]]
KEPT: Final = ("journals", "overtaken", "latest_commits", "all_debts", "presences", "messages")
"""Queries that every view of the state makes, and whose answers seldom change."""
MOST_KEPT: Final = 1024
"""The most answers that are cached for one query: sessions come and go, and each asks for its own."""


class KeptRows:
    """Cached answers to `KEPT`. Only the sole writer of the database can rely on them."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.newest_hash: bytes | None = None
        """The hash of the newest event, if it is known."""
        self._rows: dict[str, dict[tuple[object, ...], Rows]] = {name: {} for name in KEPT}

    def of(self, query: str) -> dict[tuple[object, ...], Rows] | None:
        """Return the answers to a query by its values, to read and to add to; None if its answers are not cached."""
        answers = self._rows.get(query)
        if answers is not None and len(answers) >= MOST_KEPT:
            answers.clear()
        return answers

    def forget_after(self, statement: str) -> None:
        """Forget the answers that may have changed since a statement was run."""
        for query in CHANGES.get(statement, ()):
            self._rows[query].clear()


def changes(statements: Mapping[str, str], kept: tuple[str, ...] = KEPT) -> dict[str, tuple[str, ...]]:
    """Return which of the `kept` queries read a table that a statement writes, by the names of the statements."""
    looked_at = {name: tables_read(statements[name]) for name in kept}
    written = {name: table_written(sql) for name, sql in statements.items()}
    return {
        name: found
        for name, table in written.items()
        if (found := tuple(query for query, tables in looked_at.items() if table in tables))
    }


CHANGES: Final = changes(load())
"""The queries whose answers a statement may change."""
