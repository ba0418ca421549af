"""The runs in a store: `runs.decide` makes the decisions, one transaction each."""

from typing import Final, get_args

from commonhold.kernel.lease_ports import Once
from commonhold.kernel.ports import Clock, TaskReader, TaskTables
from commonhold.kernel.run import RunRecord, RunState
from commonhold.leases.registry import DecidingTables
from commonhold.runs.commands import PlanRun, RunCommand, RunOutcome, StartRun
from commonhold.runs.decide import decide
from commonhold.runs.turn import Blackboard
from commonhold.tasks.capabilities import NONE_KNOWN, Capabilities
from commonhold.tasks.queue import board_of

_OUTCOMES: Final = get_args(RunOutcome)
_UNENDED: Final = (RunState.RUNNING, RunState.STOPPED)


class RunQueue(DecidingTables):
    """Runs and their items."""

    def __init__(self, tables: TaskTables, clock: Clock, capabilities: Capabilities = NONE_KNOWN) -> None:
        """Keep runs in `tables`, by `clock`, which is the clock of their storage, for sessions with `capabilities`."""
        super().__init__(tables, clock)
        self._capabilities = capabilities

    def execute(self, command: RunCommand, once: Once | None = None) -> RunOutcome:
        """Decide on a command. With `once`, a repeated request gets its first outcome.

        Raises InputError `RUN_UNKNOWN`, `TASK_UNKNOWN`, and UsageError `REQUEST_ID_REUSED`.
        """
        return self.decided(
            command.holder,
            once,
            _OUTCOMES,
            lambda reader, now: decide(blackboard_of(reader, command, self._capabilities), command, now),
        )


def blackboard_of(reader: TaskReader, command: RunCommand, capabilities: Capabilities) -> Blackboard:
    """Return the state that deciding on a command needs."""
    run: RunRecord | None = None if isinstance(command, StartRun) else reader.run(command.run_id)
    items = {each.task_id: each for each in reader.run_items(run.id)} if run else {}
    named: dict[str, None] = dict.fromkeys(items)
    busy: dict[str, str] = {}
    if isinstance(command, StartRun | PlanRun):
        named |= dict.fromkeys(each for task in command.tasks for each in (task.id, *task.needs))
        for other in reader.runs():
            if other.state in _UNENDED and (run is None or other.id != run.id):
                busy |= {each.task_id: other.id for each in reader.run_items(other.id)}
    return Blackboard(board_of(reader, tuple(named), capabilities), run, items, busy)
