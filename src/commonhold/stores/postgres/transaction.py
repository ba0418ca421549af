"""A transaction that sends only when an answer is needed, and then all that is due at once."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from commonhold.kernel.errors import StoreError
from commonhold.stores.postgres.link import Link, Rows
from commonhold.stores.postgres.links import Links
from commonhold.stores.postgres.literals import Value

Statement = tuple[str, Mapping[str, Value]]
_MOST_UNSENT: Final = 1_000


class Transaction:
    """Statements sent over one connection, and their results."""

    def __init__(self, links: Links, opening: Sequence[str]) -> None:
        """Begin with the statements named in `opening`, once a statement is due."""
        self._links = links
        self._link: Link | None = None
        self._opening = opening
        self._unsent: list[str] = []
        self._is_begun = False

    def tell(self, statement: Statement) -> None:
        """Queue a statement that needs no answer: it is sent with the next query, at the end, or if many are queued."""
        self._unsent.append(self._quoted(statement))
        if len(self._unsent) >= _MOST_UNSENT:
            self.ask()

    def ask(self, *questions: Statement) -> list[Rows]:
        """Return the rows of some statements, after all statements sent before. One round trip."""
        batch = [*self._unsent, *map(self._quoted, questions)]
        rows = self._run(batch) if self._is_begun else self._begin(batch)
        self._unsent.clear()
        return rows[len(rows) - len(questions) :]

    def commit(self) -> None:
        """End it. If nothing was sent, nothing is."""
        if self._is_begun or self._unsent:
            opening = [] if self._is_begun else self._opened()
            self._connected().commit([*opening, *self._unsent])
            self._is_begun = False

    def leave(self) -> None:
        """Release the connection. Uncommitted changes are rolled back."""
        link, self._link = self._link, None
        if link is not None:
            if not link.is_idle and not link.is_lost:
                with suppress(StoreError):
                    link.run(["ROLLBACK"])
            self._links.give_back(link)

    def _begin(self, batch: list[str]) -> list[Rows]:
        """Send the first batch; a connection that broke while it was not in use is replaced once."""
        batch = [*self._opened(), *batch]
        try:
            rows = self._run(batch)
        except StoreError:
            link = self._connected()
            if not link.is_lost:
                raise
            self._link = self._links.renew(link)
            rows = self._run(batch)
        self._is_begun = True
        return rows

    def _run(self, batch: list[str]) -> list[Rows]:
        return self._connected().run(batch)

    def _opened(self) -> list[str]:
        return [self._quoted((name, {})) for name in self._opening]

    def _quoted(self, statement: Statement) -> str:
        name, values = statement
        return self._connected().quote(name, values)

    def _connected(self) -> Link:
        if self._link is None:
            self._link = self._links.take()
        return self._link
