"""A board that a test changes by commands, with a clock that a test moves."""

from dataclasses import dataclass, field
from typing import Any, TypeVar

from commonhold.kernel import commands as leases
from commonhold.kernel.clock import Now
from commonhold.kernel.events import Event, Recorded
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease_table import LeaseTable
from commonhold.kernel.modes import Mode
from commonhold.kernel.projection import State, apply
from commonhold.kernel.task import Result, Task, TaskRecord
from commonhold.leases.decide import decide as decide_lease
from commonhold.tasks.board import Board, condition
from commonhold.tasks.capabilities import NONE_KNOWN, Capabilities
from commonhold.tasks.commands import (
    AddTasks,
    ClaimTask,
    FinishTask,
    LandTask,
    TaskChanged,
    TaskClaimed,
    TaskCommand,
    TaskOutcome,
    TasksAdded,
)
from commonhold.tasks.decide import decide

T = TypeVar("T")
COMMIT = "c" * 40
TTL = 100.0


def kind(expected: type[T], found: object) -> T:
    assert isinstance(found, expected), found
    return found


@dataclass
class Table:
    """The state is the fold of the events, and nothing else."""

    seconds: float = 0.0
    boot: int = 1
    state: State = field(default_factory=State)
    log: list[Event] = field(default_factory=list)
    claims: int = 0
    capabilities: Capabilities = NONE_KNOWN

    @property
    def now(self) -> Now:
        return Now(f"boot-{self.boot}", self.seconds, self.seconds)

    @property
    def board(self) -> Board:
        leases, waiters = tuple(self.state.leases.values()), tuple(self.state.waiters.values())
        return Board(self.state.tasks, LeaseTable(leases, self.state.sequence + 1, waiters), self.capabilities)

    def run(self, command: TaskCommand) -> TaskOutcome:
        decision = decide(self.board, command, self.now)
        self._record(decision.events)
        return decision.outcome

    def _record(self, events: tuple[Event, ...]) -> None:
        for event in events:
            self.state = apply(self.state, Recorded(self.state.sequence + 1, self.now.wall, event))
            self.log.append(event)

    def add(self, *tasks: Task) -> tuple[TaskRecord, ...]:
        return kind(TasksAdded, self.run(AddTasks("author", tasks))).records

    def ask(self, holder: str, wanted: str | None = None, **rest: Any) -> TaskOutcome:
        self.claims += 1
        return self.run(ClaimTask(holder, f"claim-{self.claims}", TTL, wanted, **rest))

    def claim(self, holder: str, wanted: str | None = None, **rest: Any) -> TaskRecord:
        return kind(TaskClaimed, self.ask(holder, wanted, **rest)).record

    def finish(self, record: TaskRecord, commit: str = COMMIT) -> TaskOutcome:
        return self.run(FinishTask(record.holder, record.id, Result(commit), record.fence))

    def complete(self, record: TaskRecord) -> TaskRecord:
        done = kind(TaskChanged, self.finish(record)).record
        return kind(TaskChanged, self.run(LandTask("queue", done.id, COMMIT, done.attempt, "main"))).record

    def lease(self, holder: str, *keys: str) -> str:
        """Lease keys for something that is no task."""
        self.claims += 1
        name = f"lease-{self.claims}"
        wish = leases.Acquire(name, name, holder, "by hand", tuple(map(canonical, keys)), Mode.EXCLUSIVE, TTL)
        self.lease_command(wish)
        return name

    def lease_command(self, command: leases.Command[Any]) -> None:
        self._record(decide_lease(self.board.leases, command, self.now).events)

    def conditions(self) -> dict[str, str]:
        return {each.id: condition(each, self.state.tasks, self.now).value for each in self.state.tasks.values()}


def task(task_id: str, *keys: str, **rest: Any) -> Task:
    return Task(task_id, f"title of {task_id}", keys=keys, **rest)
