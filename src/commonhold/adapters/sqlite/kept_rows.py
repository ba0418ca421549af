"""The rows that some queries gave, kept for as long as nothing changes the tables that they look at."""

from collections.abc import Mapping
from typing import Any, Final

from commonhold.adapters.sqlite.statements import load
from commonhold.adapters.statements import table_written, tables_read

Rows = list[tuple[Any, ...]]
KEPT: Final = ("journals", "overtaken", "latest_commits", "all_debts", "presences", "messages")
"""Queries that every look at the state makes, and that give the same nearly always."""
MOST_KEPT: Final = 1024
"""So many answers to one query are kept at most: sessions come and go, and each asks for its own."""


class KeptRows:
    """Cached answers to `KEPT`. Only the sole writer of the database can rely on them."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._rows: dict[str, dict[tuple[object, ...], Rows]] = {name: {} for name in KEPT}

    def of(self, query: str) -> dict[tuple[object, ...], Rows] | None:
        """The answers to a query by its values, to look into and to add to; None for one whose answers are not kept."""
        answers = self._rows.get(query)
        if answers is not None and len(answers) >= MOST_KEPT:
            answers.clear()
        return answers

    def forget_after(self, statement: str) -> None:
        """Forget the answers that may be others since a statement was run."""
        for query in CHANGES.get(statement, ()):
            self._rows[query].clear()


def changes(statements: Mapping[str, str], kept: tuple[str, ...] = KEPT) -> dict[str, tuple[str, ...]]:
    """Which of the `kept` queries look at a table that a statement writes, by the names of the statements."""
    looked_at = {name: tables_read(statements[name]) for name in kept}
    written = {name: table_written(sql) for name, sql in statements.items()}
    return {
        name: found
        for name, table in written.items()
        if (found := tuple(query for query, tables in looked_at.items() if table in tables))
    }


CHANGES: Final = changes(load())
"""The queries whose answers a statement may change."""
