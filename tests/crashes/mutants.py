"""Sessions with a mistake in them that the crash tests must find."""

from collections.abc import Iterable
from typing import Final

from commonhold.kernel.events import Event
from commonhold.kernel.files import Journal, Write
from commonhold.kernel.lease_ports import StoredAnswer
from commonhold.stores.sqlite.session import SqliteSession


class AnswersApart(SqliteSession):
    """What happened, and the answer to whoever asked for it, are two transactions."""

    def record(self, events: Iterable[Event], at: float) -> None:
        super().record(events, at)
        self._connection.execute("COMMIT")
        self._connection.execute("BEGIN IMMEDIATE")


class AnswersForgotten(SqliteSession):
    """No answer is kept."""

    def remember(self, holder: str, request_id: str, answer: StoredAnswer, at: float) -> None:
        """Keep nothing."""


class JournalForgotten(SqliteSession):
    """Commits begin without a note of how to take them back."""

    def begin(self, root: str, holder: str, intent: str, writes: Iterable[Write]) -> Journal:
        journal = super().begin(root, holder, intent, tuple(writes))
        self.end(journal.id)
        return journal


class ProjectionApart(SqliteSession):
    """The log is durable before the tables are brought up to it."""

    def _run(self, name: str, *values: str | bytes | float | None) -> None:
        super()._run(name, *values)
        if name == "add_event":
            self._connection.execute("COMMIT")
            self._connection.execute("BEGIN IMMEDIATE")


MUTANTS: Final = {
    mutant.__name__: mutant for mutant in (AnswersApart, AnswersForgotten, JournalForgotten, ProjectionApart)
}
