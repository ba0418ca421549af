"""The managed sessions in a store: `sessions.decide` makes the decisions, one transaction each."""

from collections.abc import Collection
from typing import Final, get_args

from commonhold.kernel.lease_ports import Once
from commonhold.kernel.lease_table import LeaseTable
from commonhold.kernel.ports import TaskReader
from commonhold.leases.registry import DecidingTables
from commonhold.sessions.commands import (
    AttachSession,
    ChangeSession,
    ReportSession,
    SessionCommand,
    SessionOutcome,
    StartSession,
)
from commonhold.sessions.decide import SessionTable, decide
from commonhold.tasks.board import Board
from commonhold.tasks.queue import board_of

_OUTCOMES: Final = get_args(SessionOutcome)


class SessionQueue(DecidingTables):
    """Managed sessions."""

    def execute(self, command: SessionCommand, once: Once | None = None) -> SessionOutcome:
        """Decide on a command. With `once`, a repeated request gets its first outcome.

        Raises InputError `SESSION_UNKNOWN`, and UsageError `REQUEST_ID_REUSED`.
        """
        named = (command.session_id,) if isinstance(command, ReportSession | ChangeSession | AttachSession) else ()
        tasks = (command.session.task_id,) if isinstance(command, StartSession) else ()
        return self.decided(
            command.holder, once, _OUTCOMES, lambda reader, now: decide(table_of(reader, named, tasks), command, now)
        )


def table_of(reader: TaskReader, ids: tuple[str, ...] = (), tasks: Collection[str] = ()) -> SessionTable:
    """Return the state for a decision that names these sessions, and these tasks besides."""
    sessions = {record.id: record for record in reader.managed_sessions_in_question(ids)}
    tasks = {each.session.task_id for each in sessions.values()} | set(tasks)
    return SessionTable(sessions, reader.tenants_served(), session_board(reader, tasks - {""}))


def session_board(reader: TaskReader, tasks: Collection[str]) -> Board:
    """Return the board with these tasks and all that bear on them; without any it has only the leases."""
    if tasks:
        return board_of(reader, tuple(sorted(tasks)))
    return Board({}, LeaseTable(reader.leases(), reader.next_sequence, reader.waiters()))
