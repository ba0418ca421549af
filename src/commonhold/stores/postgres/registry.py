"""The lease service over PostgreSQL, with as few round trips as possible."""

from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

from commonhold.kernel.commands import Command
from commonhold.kernel.lease_ports import Once
from commonhold.kernel.outcomes import Outcome
from commonhold.kernel.ports import Clock
from commonhold.leases.registry import TableRegistry
from commonhold.stores.postgres.tables import PostgresTables

T = TypeVar("T", bound=Outcome)


class PostgresRegistry(TableRegistry):
    """Announces the coming decision when a transaction begins, so that the first query fetches all it needs."""

    def __init__(self, tables: PostgresTables, clock: Clock | None = None) -> None:
        """Keep leases in `tables`, by their clock or by one that follows it."""
        super().__init__(tables, clock or tables)
        self._foreseeing = tables

    def execute(self, command: Command[T], once: Once | None = None) -> T:
        """Decide on a command inside one transaction."""
        with self._foreseeing.write(command):
            return super().execute(command, once)

    def together(self) -> AbstractContextManager[object]:
        """Do nothing: the files of a repository are not read while all others wait for the namespace."""
        return nullcontext()
