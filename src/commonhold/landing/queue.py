"""The merge queue in a store: `landing.decide` makes the decisions, one transaction each."""

from typing import Final, get_args

from commonhold.kernel.lease_ports import Once
from commonhold.kernel.ports import TaskReader
from commonhold.landing.commands import AddEntry, EntryCommand, EntryOutcome, PostEntries, RemoveEntry
from commonhold.landing.decide import QueueBoard, decide
from commonhold.leases.registry import DecidingTables
from commonhold.tasks.queue import board_of

_OUTCOMES: Final = get_args(EntryOutcome)


class EntryQueue(DecidingTables):
    """Entries."""

    def execute(self, command: EntryCommand, once: Once | None = None) -> EntryOutcome:
        """Decide on a command. With `once`, a repeated request gets its first outcome.

        Raises InputError `ENTRY_UNKNOWN`, `TASK_UNKNOWN`, and UsageError `REQUEST_ID_REUSED`.
        """
        return self.decided(
            command.holder, once, _OUTCOMES, lambda reader, now: decide(queue_board_of(reader, command), command, now)
        )


def queue_board_of(reader: TaskReader, command: EntryCommand) -> QueueBoard:
    """Return the state that deciding on a command needs."""
    entries = {each.id: each for each in reader.entries_in_question(_named(command))}
    tasks = {entries[each].entry.task for each in _named(command) if each in entries}
    if isinstance(command, AddEntry):
        tasks.add(command.entry.task)
    return QueueBoard(board_of(reader, tuple(sorted(tasks - {""}))), entries)


def _named(command: EntryCommand) -> list[str]:
    """Return the ids and commits of the entries that a command is about."""
    match command:
        case AddEntry(entry=entry):
            return [entry.commit]
        case RemoveEntry(entry_id=entry_id):
            return [entry_id]
        case PostEntries(steps=steps):
            return [each.entry for each in steps]
