"""Leases in tables that one transaction can read and change; `leases.decide` makes the decisions."""

from contextlib import AbstractContextManager
from typing import Any, Final, TypeVar, get_args

from commonhold.kernel.clock import Now
from commonhold.kernel.commands import Command
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.outcomes import Outcome, Queued
from commonhold.kernel.ports import Clock, LeaseReader, LeaseView, Once, StoredAnswer, TaskTables
from commonhold.leases.decide import decide

T = TypeVar("T", bound=Outcome)
_OUTCOMES: Final = get_args(Outcome)


class TableRegistry:
    """The lease service over tables: memory, SQLite, PostgreSQL."""

    def __init__(self, tables: TaskTables, clock: Clock) -> None:
        """Keep leases in `tables`, by `clock`, which is the clock of their storage."""
        self._tables = tables
        self._clock = clock

    @property
    def tables(self) -> TaskTables:
        """The tables, which keep tasks as well."""
        return self._tables

    def execute(self, command: Command[T], once: Once | None = None) -> T:
        """Decide on a command inside one transaction."""
        with self._tables.write() as writer:
            earlier: T | None = None if once is None else _earlier(writer, command.holder, once)
            if earlier is not None:
                return earlier
            now = self._clock.now()
            decision = decide(writer.table(command, now), command, now)
            writer.record(decision.events, now.wall)
            if once is not None and not isinstance(decision.outcome, Queued):
                stored = StoredAnswer(once.fingerprint, decision.outcome)
                writer.remember(command.holder, once.request_id, stored, now.wall)
            return decision.outcome

    def together(self) -> AbstractContextManager[object]:
        """Begin one transaction around several; writes to the repository's data in the same store are part of it."""
        return self._tables.write()

    def first_outcome(self, holder: str, once: Once) -> Outcome | None:
        """Return the first outcome of this request."""
        with self._tables.read() as reader:
            return _earlier(reader, holder, once)

    def read(self) -> AbstractContextManager[LeaseView]:
        """Return one consistent view."""
        return self._tables.read()

    def now(self) -> Now:
        """Return the present instant."""
        return self._clock.now()

    def close(self) -> None:
        """Close the tables."""
        self._tables.close()


def _earlier(reader: LeaseReader, holder: str, once: Once) -> Any | None:  # noqa: ANN401 - the type is in the store
    stored = reader.answer(holder, once.request_id)
    if stored is None:
        return None
    if stored.fingerprint != once.fingerprint or not isinstance(stored.answer, _OUTCOMES):
        raise reused(once.request_id)
    return stored.answer


def reused(request_id: str) -> UsageError:
    """Return the error for an id that was used for another request."""
    return UsageError(
        Code.REQUEST_ID_REUSED,
        f"the request id {request_id!r} was used before, for another request",
        hint="repeat a request with its own id only; a new request takes a new id",
        fields={"request_id": request_id},
    )
