"""Leases in tables that one transaction can read and change; `leases.decide` makes the decisions."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol, TypeVar, get_args

from commonhold.kernel.clock import Now
from commonhold.kernel.commands import Command
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.events import Event
from commonhold.kernel.lease_ports import LeaseReader, Once, StoredAnswer
from commonhold.kernel.outcomes import Outcome, Queued
from commonhold.kernel.ports import Clock, TaskReader, TaskTables, TaskWriter
from commonhold.leases.decide import decide
from commonhold.workspace.place import WorktreeState

T = TypeVar("T", bound=Outcome)
Made = TypeVar("Made")
Made_co = TypeVar("Made_co", covariant=True)
_OUTCOMES: Final = get_args(Outcome)


class Decided(Protocol[Made_co]):
    """A decision: an outcome, and the events that must be recorded with it in one transaction."""

    @property
    def outcome(self) -> Made_co:
        """The outcome."""

    @property
    def events(self) -> tuple[Event, ...]:
        """The events, in order."""


class DecidingTables:
    """The tables of a store that keep tasks and leases, with decisions on commands, each in one transaction."""

    def __init__(self, tables: TaskTables, clock: Clock) -> None:
        """Decide in `tables` (SQLite, PostgreSQL), by `clock`, which is the clock of their storage."""
        self.tables = tables
        self._clock = clock

    def read(self) -> AbstractContextManager[TaskReader]:
        """Return one consistent view."""
        return self.tables.read()

    def now(self) -> Now:
        """Return the present instant."""
        return self._clock.now()

    def decided(
        self,
        holder: str,
        once: Once | None,
        kinds: tuple[type, ...],
        decide: Callable[[TaskWriter, Now], Decided[Made]],
    ) -> Made:
        """Make one decision, and record its events; return its outcome, which is one of `kinds`.

        With `once`, a repeated request of the holder gets its first outcome; a place in line is no outcome yet. Raises
        UsageError `REQUEST_ID_REUSED` if the id was used for another request, and as `decide` does.
        """
        with self.tables.write() as writer:
            earlier: Made | None = None if once is None else first_answer(writer, holder, once, kinds)
            if earlier is not None:
                return earlier
            now = self._clock.now()
            decision = decide(writer, now)
            writer.record(decision.events, now.wall)
            if once is not None and not isinstance(decision.outcome, Queued):
                stored = StoredAnswer(once.fingerprint, decision.outcome)
                writer.remember(holder, once.request_id, stored, now.wall)
            return decision.outcome


class TableRegistry(DecidingTables):
    """The lease service over the tables of a store."""

    def execute(self, command: Command[T], once: Once | None = None) -> T:
        """Decide on a command."""
        return self.decided(
            command.holder, once, _OUTCOMES, lambda writer, now: decide(writer.table(command, now), command, now)
        )

    def together(self) -> AbstractContextManager[object]:
        """Begin one transaction around several; writes to the repository's data in the same store are part of it."""
        return self.tables.write()

    def first_outcome(self, holder: str, once: Once) -> Outcome | None:
        """Return the first outcome of this request."""
        with self.tables.read() as reader:
            return first_answer(reader, holder, once, _OUTCOMES)

    def close(self) -> None:
        """Close the tables."""
        self.tables.close()


def task_storage(place: WorktreeState) -> tuple[TaskTables, Clock]:
    """Return the tables that keep tasks, and their clock: those of the leases, else of the state."""
    registry = place.registry
    return (registry.tables, registry) if isinstance(registry, TableRegistry) else (place.store, place.clock)


def first_answer(reader: LeaseReader, holder: str, once: Once, kinds: tuple[type, ...]) -> Any | None:  # noqa: ANN401 - one of `kinds`
    """Return the first answer to this request; None if it was never made.

    Raises UsageError `REQUEST_ID_REUSED` if the id was used for another request, or for an answer of no such kind.
    """
    stored = reader.answer(holder, once.request_id)
    if stored is None:
        return None
    if stored.fingerprint != once.fingerprint or not isinstance(stored.answer, kinds):
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
