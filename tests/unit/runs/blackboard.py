"""A blackboard that a test changes by commands, with a clock that a test moves."""

from dataclasses import dataclass
from itertools import count
from typing import Any

from tests.unit.tasks.table import TTL, Table, kind

from commonhold.kernel.run import (
    CandidateOutcome,
    EditCandidate,
    ItemRecord,
    ItemStep,
    Role,
    RunMove,
    RunRecord,
    RunState,
)
from commonhold.kernel.task import Task
from commonhold.runs.commands import (
    EndRun,
    ItemChanged,
    ItemTaken,
    PlanRun,
    Post,
    PostStep,
    ResumeRun,
    RunChanged,
    RunCommand,
    RunOutcome,
    StartRun,
    TakeItem,
)
from commonhold.runs.decide import decide
from commonhold.runs.turn import Blackboard

ROLES = {
    ItemStep.REPLAN: Role.RECOVERY,
    ItemStep.ACCEPT: Role.VALIDATOR,
    ItemStep.REJECT: Role.VALIDATOR,
}
LEASES = count(1)


@dataclass
class Board(Table):
    """The state is the fold of the events, and nothing else."""

    coordinator: str = "boss"
    run_id: str = ""

    @property
    def record(self) -> RunRecord:
        return self.state.runs[self.run_id]

    def item(self, task: str) -> ItemRecord:
        return self.state.run_items[self.run_id, task]

    def send(self, command: RunCommand) -> RunOutcome:
        decision = decide(self._blackboard(command), command, self.now)
        self._record(decision.events)
        return decision.outcome

    def _blackboard(self, command: RunCommand) -> Blackboard:
        named = None if isinstance(command, StartRun) else command.run_id
        unended = [each for each, run in self.state.runs.items() if run.state in (RunState.RUNNING, RunState.STOPPED)]
        items = {task: item for (run, task), item in self.state.run_items.items() if run == named}
        busy = {task: run for run, task in self.state.run_items if run in unended and run != named}
        is_adding = isinstance(command, StartRun | PlanRun)
        run = self.state.runs.get(named) if named else None
        return Blackboard(self.board, run, items, busy if is_adding else {})

    def start(self, *tasks: Task, ttl: float = TTL) -> RunOutcome:
        outcome = self.send(StartRun(self.coordinator, f"run-{next(LEASES)}", ttl, "a goal", tasks))
        if isinstance(outcome, RunChanged):
            self.run_id = outcome.run.id
        return outcome

    def resume(self, coordinator: str = "boss", ttl: float = TTL) -> RunOutcome:
        outcome = self.send(ResumeRun(coordinator, self.run_id, f"run-{next(LEASES)}", ttl))
        if isinstance(outcome, RunChanged):
            self.coordinator = coordinator
        return outcome

    def end(self, move: RunMove, note: str = "") -> RunOutcome:
        return self.send(EndRun(self.coordinator, self.run_id, self.record.fence, move, note))

    def ask_item(self, ttl: float = TTL) -> RunOutcome:
        return self.send(TakeItem(self.coordinator, self.run_id, self.record.fence, f"item-{next(LEASES)}", ttl))

    def take(self, ttl: float = TTL) -> ItemRecord:
        return kind(ItemTaken, self.ask_item(ttl)).item

    def ask_post(self, item: ItemRecord, step: ItemStep, note: str = "", **rest: Any) -> RunOutcome:
        post = Post(item.task_id, step, item.last, ROLES.get(step, Role.EDITOR), note, **rest)
        return self.send(PostStep(self.coordinator, self.run_id, self.record.fence, post))

    def post(self, item: ItemRecord, step: ItemStep, note: str = "", **rest: Any) -> ItemRecord:
        return kind(ItemChanged, self.ask_post(item, step, note, **rest)).item

    def propose(self, item: ItemRecord) -> ItemRecord:
        return self.post(item, ItemStep.PROPOSE, candidate=EditCandidate(item.round, "{}"))

    def write(self, item: ItemRecord, sequence: int = 7) -> ItemRecord:
        return self.post(self.propose(item), ItemStep.WRITE, outcome=CandidateOutcome(admitted=(sequence,)))

    def refuse(self, item: ItemRecord, code: str, *keys: str) -> ItemRecord:
        return self.post(self.propose(item), ItemStep.REFUSE, outcome=CandidateOutcome(code, "why", keys))

    def states(self) -> dict[str, str]:
        return {task: item.state.value for (run, task), item in self.state.run_items.items() if run == self.run_id}
