"""The queue of tasks in a store: `tasks.decide` makes the decisions, one transaction each."""

from typing import Final, get_args

from commonhold.kernel.lease_ports import Once
from commonhold.kernel.lease_table import LeaseTable
from commonhold.kernel.ports import Clock, TaskReader, TaskTables
from commonhold.leases.registry import DecidingTables
from commonhold.tasks.board import Board
from commonhold.tasks.capabilities import NONE_KNOWN, Capabilities
from commonhold.tasks.commands import AddTasks, ClaimTask, SettleTasks, TaskCommand, TaskOutcome
from commonhold.tasks.decide import decide

_OUTCOMES: Final = get_args(TaskOutcome)


class TaskQueue(DecidingTables):
    """Tasks and their claims."""

    def __init__(self, tables: TaskTables, clock: Clock, capabilities: Capabilities = NONE_KNOWN) -> None:
        """Keep tasks in `tables`, by `clock`, which is the clock of their storage, for sessions with `capabilities`."""
        super().__init__(tables, clock)
        self._capabilities = capabilities

    def execute(self, command: TaskCommand, once: Once | None = None) -> TaskOutcome:
        """Decide on a command. With `once`, a repeated request gets its first outcome.

        Raises InputError `TASK_UNKNOWN`, and UsageError `REQUEST_ID_REUSED` if the id was used for another request.
        """
        return self.decided(
            command.holder,
            once,
            _OUTCOMES,
            lambda reader, now: decide(board_of(reader, _named(command), self._capabilities), command, now),
        )


def board_of(reader: TaskReader, ids: tuple[str, ...] = (), capabilities: Capabilities = NONE_KNOWN) -> Board:
    """Return the board for a decision that names these tasks."""
    tasks = {record.id: record for record in reader.tasks_in_question(ids)}
    return Board(tasks, LeaseTable(reader.leases(), reader.next_sequence, reader.waiters()), capabilities)


def _named(command: TaskCommand) -> tuple[str, ...]:
    match command:
        case AddTasks():
            return tuple({each for task in command.tasks for each in (task.id, *task.needs)})
        case ClaimTask():
            return () if command.wanted is None else (command.wanted,)
        case SettleTasks():
            return ()
        case _:
            return (command.task_id,)
