"""Coordinators that carry out a run, and die at any moment: before a call, after it, or with the answer on its way.

Some are only frozen, and go on after another has taken the run over. Files are a table of effects by request id, as the
commits of Commonhold are: a repeated commit gets its first answer.
"""

from dataclasses import dataclass, field, replace

from tests.in_memory.store import MemoryStore
from tests.sim.task_workers import plan
from tests.sim.world import MachineClock, World

from commonhold.kernel.commands import Renew
from commonhold.kernel.events import Recorded
from commonhold.kernel.lease_ports import Once
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.run import (
    CandidateOutcome,
    EditCandidate,
    ItemRecord,
    ItemState,
    ItemStep,
    Role,
    RunMove,
    RunState,
)
from commonhold.kernel.task import TaskState
from commonhold.leases.registry import TableRegistry
from commonhold.runs.commands import (
    EndRun,
    ItemChanged,
    ItemTaken,
    NoItem,
    Post,
    PostStep,
    ResumeRun,
    RunChanged,
    RunCommand,
    RunOutcome,
    RunRefused,
    StartRun,
    TakeItem,
)
from commonhold.runs.queue import RunQueue
from commonhold.runs.recovery import next_plan
from commonhold.tasks.commands import ReopenTask
from commonhold.tasks.queue import TaskQueue

RUN_TTL, CLAIM_TTL = 30.0, 120.0
LONGEST_SECONDS = 200_000.0
REFUSALS = (Refusal.REGION_CHANGED, Refusal.REQUIRE_ADDITIONAL_LOCKS, Refusal.ESCALATION_REQUIRED)


@dataclass
class Story:
    """The world of one run, and what an observer of all calls knows."""

    seed: int
    size: int = 8
    editors: int = 3
    store: MemoryStore = field(default_factory=MemoryStore)
    effects: dict[str, CandidateOutcome] = field(default_factory=dict)
    deaths: int = 0
    freezes: int = 0
    stops: int = 0
    run_id: str = ""

    def __post_init__(self) -> None:
        self.world = World(self.seed)
        self.clock = MachineClock(self.world)
        self.queue = RunQueue(self.store, self.clock)
        self.coordinators = 0
        self.reopened = 0

    def run(self) -> None:
        self.begin()
        if self.world.chance(0.3):
            self.world.after(300.0, self.clock.reboot)
        self.look_after()
        self.world.run()

    def look_after(self) -> None:
        """Let a person reopen tasks that have failed, and resume a run that cannot go on without."""
        if not self.run_id:
            self.world.after(40.0, self.look_after)
            return
        with self.queue.read() as reader:
            run, tasks = reader.run(self.run_id), reader.tasks()
        if run is None or run.state is RunState.COMPLETED:
            return
        for each in tasks:
            if each.state is TaskState.FAILED:
                self.reopened += 1
                TaskQueue(self.store, self.clock).execute(ReopenTask("person", each.id, "once more"))
        if run.state is RunState.FAILED:
            self.begin(by="person")
        self.world.after(40.0, self.look_after)

    def begin(self, by: str = "boss") -> None:
        """Begin a coordinator: the first starts the run, each later one resumes it."""
        self.coordinators += 1
        Coordinator(self, f"{by}-{self.coordinators}").begin()

    def commit(self, item: ItemRecord) -> CandidateOutcome:
        """Commit a candidate: the first call decides, and each later one gets the same answer."""
        name = f"{item.run_id}.{item.task_id}.{item.round}"
        if name not in self.effects:
            is_refused = self.world.chance(0.3)
            code = self.world.random.choice(REFUSALS) if is_refused else ""
            self.effects[name] = CandidateOutcome(code, admitted=() if is_refused else (1_000 + len(self.effects),))
        return self.effects[name]

    def is_over(self) -> bool:
        assert self.world.seconds < LONGEST_SECONDS, f"seed {self.seed}: the run is never carried out"
        with self.queue.read() as reader:
            run = reader.run(self.run_id) if self.run_id else None
        return run is not None and run.state is RunState.COMPLETED

    def items(self) -> tuple[ItemRecord, ...]:
        with self.queue.read() as reader:
            return reader.run_items(self.run_id)

    def log(self) -> tuple[Recorded, ...]:
        with self.queue.read() as reader:
            return reader.events(limit=1_000_000)


@dataclass
class Coordinator:
    """One process, with its editors."""

    story: Story
    name: str
    fence: int = 0
    calls: int = 0
    is_dead: bool = False

    def begin(self) -> None:
        if self.story.run_id and self.story.is_over():
            return
        lease = f"{self.name}-{self.calls}"
        if self.story.run_id:
            found = self.call(ResumeRun(self.name, self.story.run_id, lease, RUN_TTL))
        else:
            attempts = self.story.world.random.choice((1, 2, 99))
            tasks = tuple(
                replace(each, most_attempts=attempts) for each in plan(self.story.world.random, self.story.size)
            )
            found = self.call(StartRun(self.name, lease, RUN_TTL, "a goal", tasks))
        if isinstance(found, RunRefused):
            self.story.world.after(5.0, self.begin)
        elif isinstance(found, RunChanged):
            self.story.run_id, self.fence = found.run.id, found.run.fence
            for _ in range(self.story.editors):
                self.look()
            self.renew()
            if self.story.world.chance(0.2):
                self.story.world.after(self.story.world.random.uniform(5.0, 100.0), self.stop)
        elif not self.story.run_id:  # the answer to its start was lost with it: a person looks for the run
            with self.story.queue.read() as reader:
                self.story.run_id = next((each.id for each in reader.runs()), "")

    def renew(self) -> None:
        """Keep the leases of the run and of its claims, as the keeper of a coordinator does."""
        if self.is_dead:
            return
        registry = TableRegistry(self.story.store, self.story.clock)
        with self.story.queue.read() as reader:
            run = reader.run(self.story.run_id)
            sessions = {each.session for each in reader.run_items(self.story.run_id)}
            leases = reader.leases()
        if run is None or run.fence != self.fence:
            return
        for lease in leases:
            if lease.holder == self.name or lease.holder in sessions:
                registry.execute(Renew(lease.id, lease.holder, lease.ttl_seconds))
        self.story.world.after(RUN_TTL / 3, self.renew)

    def stop(self) -> None:
        if not self.is_dead and not self.story.is_over():
            self.story.stops += 1
            self.call(EndRun(self.name, self.story.run_id, self.fence, RunMove.STOP))
            self.die()

    def look(self) -> None:
        """Take an item, again and again, until the run is over."""
        if self.is_dead or self.story.is_over():
            return
        found = self.call(TakeItem(self.name, self.story.run_id, self.fence, f"{self.name}-{self.calls}", CLAIM_TTL))
        match found:
            case ItemTaken(item, _):
                self.work(item)
            case NoItem(_, is_over, _) if is_over:
                is_whole = all(each.state is ItemState.ACCEPTED for each in self.story.items())
                self.call(
                    EndRun(self.name, self.story.run_id, self.fence, RunMove.COMPLETE if is_whole else RunMove.FAIL)
                )
            case NoItem():
                self.story.world.after(6.0, self.look)
            case RunRefused():  # another has taken over
                self.die()
            case _:  # it died in the call
                pass

    def work(self, item: ItemRecord) -> None:
        """Do the next step of an item, after the time that it takes."""
        world = self.story.world
        seconds = {ItemState.EDITING: world.random.lognormvariate(2.5, 1.0), ItemState.WRITTEN: 4.0}.get(
            item.state, 0.1
        )
        if item.state is ItemState.PROPOSED and world.chance(0.1):  # frozen before it commits
            self.story.freezes += 1
            seconds = 2 * CLAIM_TTL
        world.after(seconds, lambda: self.step(item))

    def step(self, item: ItemRecord) -> None:
        if self.is_dead:
            return
        world = self.story.world
        match item.state:
            case ItemState.EDITING if world.chance(0.03):
                self.post(item, ItemStep.FAIL, Role.EDITOR, note="could not")
            case ItemState.EDITING:
                self.post(item, ItemStep.PROPOSE, Role.EDITOR, candidate=EditCandidate(item.round, "{}"))
            case ItemState.PROPOSED:
                outcome = self.story.commit(item)
                if world.chance(0.05):
                    self.die()
                    return
                step = ItemStep.REFUSE if outcome.code else ItemStep.WRITE
                self.post(item, step, Role.EDITOR, outcome=outcome)
            case ItemState.REFUSED:
                locks = next_plan(item)
                step = ItemStep.REPLAN if locks else ItemStep.FAIL
                self.post(item, step, Role.RECOVERY, locks=locks)
            case ItemState.WRITTEN if world.chance(0.05):
                self.die()
            case ItemState.WRITTEN:
                step = ItemStep.REJECT if world.chance(0.1) else ItemStep.ACCEPT
                self.post(item, step, Role.VALIDATOR, note="checks")
            case _:
                self.look()

    def post(self, item: ItemRecord, step: ItemStep, role: Role, **rest: object) -> None:
        post = Post(item.task_id, step, item.last, role, **rest)  # type: ignore[arg-type]
        found = self.call(PostStep(self.name, self.story.run_id, self.fence, post))
        if isinstance(found, ItemChanged):
            self.work(found.item)
        elif found is not None:
            self.look()

    def call(self, command: RunCommand) -> RunOutcome | None:
        """Send a command; the process may die before or after it, or the answer may be lost and asked for again."""
        world, self.calls = self.story.world, self.calls + 1
        if world.chance(0.01):
            self.die()
            return None
        once = Once(f"{self.name}-{self.calls}", repr(command))
        found = self.story.queue.execute(command, once)
        if world.chance(0.01):
            self.die()
            return None
        if world.chance(0.05):
            assert self.story.queue.execute(command, once) == found
        return found

    def die(self) -> None:
        if not self.is_dead:
            self.is_dead = True
            self.story.deaths += 1
            # Most are replaced at once; some only after their claims have lapsed.
            self.story.world.after(self.story.world.random.choice((5.0, 5.0, 5.0, 2 * CLAIM_TTL)), self.story.begin)
