"""Sessions that work on a plan, and die at any moment: before a call, after it, or with the answer on its way."""

from dataclasses import dataclass, field, replace
from random import Random

from tests.in_memory.store import MemoryStore
from tests.sim.world import MachineClock, World

from commonhold.kernel.events import Recorded
from commonhold.kernel.keys import canonical, overlaps
from commonhold.kernel.lease_ports import Once
from commonhold.kernel.task import Move, Result, Task, TaskMoved, TaskRecord, TaskState
from commonhold.tasks.commands import (
    AddTasks,
    ClaimTask,
    FailTask,
    FinishTask,
    LandTask,
    RefuseTask,
    ReopenTask,
    TaskClaimed,
    TaskCommand,
    TaskOutcome,
    TaskRefused,
    UndoTask,
)
from commonhold.tasks.offers import offers
from commonhold.tasks.queue import TaskQueue, board_of

TTL = 60.0
IDLE_SECONDS = 7.0
LONGEST_SECONDS = 20_000.0
COMMIT = "c" * 40


def plan(random: Random, size: int) -> tuple[Task, ...]:
    """A plan whose tasks need earlier ones, and share a few files."""
    tasks: list[Task] = []
    for number in range(size):
        needs = random.sample([each.id for each in tasks], min(len(tasks), random.choice((0, 0, 1, 2))))
        keys = tuple(f"file:{random.choice('abcdef')}.py#f{random.randrange(4)}" for _ in range(random.randrange(3)))
        estimate = random.uniform(5.0, 40.0)
        tasks.append(Task(f"p{number}", "", keys=keys, needs=tuple(needs), estimate_seconds=estimate, most_attempts=99))
    return tuple(tasks)


@dataclass
class Story:
    """The world of one run, and what an observer of all calls knows."""

    seed: int
    size: int = 14
    workers: int = 4
    store: MemoryStore = field(default_factory=MemoryStore)
    deaths: int = 0
    lost_answers: int = 0
    reboots: int = 0

    def __post_init__(self) -> None:
        self.world = World(self.seed)
        self.clock = MachineClock(self.world)
        self.queue = TaskQueue(self.store, self.clock)
        attempts = self.world.random.choice((1, 2, 99))
        tasks = (replace(each, most_attempts=attempts) for each in plan(self.world.random, self.size))
        self.queue.execute(AddTasks("author", tuple(tasks)))
        self.sessions = 0

    def run(self) -> None:
        for _ in range(self.workers):
            self.start()
        self.judge()
        for seconds in (90.0, 400.0):
            if self.world.chance(0.5):
                self.world.after(seconds, self.reboot)
        self.world.run()

    def reboot(self) -> None:
        self.reboots += 1
        self.clock.reboot()

    def start(self) -> None:
        """Begin a session; another takes the place of one that dies."""
        self.sessions += 1
        Worker(self, f"session-{self.sessions}").look()

    def judge(self) -> None:
        """Let the merge queue land the changes that are done, or refuse them, and a person reopen what has failed."""
        for record in self.records():
            if record.state is TaskState.FAILED and self.world.chance(0.3):
                self.queue.execute(ReopenTask("person", record.id, "once more"))
            elif record.state is TaskState.DONE and self.world.chance(0.1):
                self.queue.execute(RefuseTask("queue", record.id, "a check failed", 20.0))
            elif record.state is TaskState.DONE:
                for _ in range(2):  # it is delivered twice
                    self.queue.execute(LandTask("queue", record.id, COMMIT, record.attempt, "main"))
            elif record.result and record.result.admitted and self.world.chance(0.01):
                for _ in range(2):  # two sessions notice the undo
                    undo = UndoTask("person", record.id, record.result.admitted, record.attempt, "undone")
                    self.queue.execute(undo)
        if not self.is_over():
            self.world.after(4.0, self.judge)

    def is_over(self) -> bool:
        assert self.world.seconds < LONGEST_SECONDS, f"seed {self.seed}: the plan is never carried out"
        return all(record.state is TaskState.LANDED for record in self.records())

    def records(self) -> tuple[TaskRecord, ...]:
        with self.queue.read() as reader:
            return reader.tasks()

    def log(self) -> tuple[Recorded, ...]:
        with self.queue.read() as reader:
            return reader.events(limit=1_000_000)


@dataclass
class Worker:
    """One session."""

    story: Story
    name: str
    calls: int = 0

    def look(self) -> None:
        """Ask for a task, again and again, until the plan is carried out."""
        world = self.story.world
        if self.story.is_over():
            return
        self.check_the_next_offer()
        found = self.call(ClaimTask(self.name, f"{self.name}-{self.calls}", TTL))
        if found is None:
            return
        if isinstance(found, TaskClaimed):
            assert self.is_all_landed(found.record), "a task was given before its needs had landed"
            self.work(found.record)
        else:
            world.after(IDLE_SECONDS, self.look)

    def work(self, record: TaskRecord) -> None:
        world = self.story.world
        estimate = record.task.estimate_seconds or 0.0
        if world.chance(0.15):  # the session dies, and its lease runs out
            self.die()
        elif world.chance(0.1):
            world.after(estimate, lambda: self.end(FailTask(self.name, record.id, record.fence, "could not")))
        else:  # some are slower than their lease lives
            seconds = estimate * world.random.lognormvariate(0.0, 0.8)
            result = Result(admitted=(record.fence,)) if world.chance(0.3) else Result(COMMIT)
            world.after(seconds, lambda: self.end(FinishTask(self.name, record.id, result, record.fence)))

    def end(self, command: FinishTask | FailTask) -> None:
        found = self.call(command)
        if isinstance(command, FinishTask) and isinstance(found, TaskRefused):
            assert found.record.fence != command.fence, "work was thrown away, although no other session has claimed it"
        if found is not None:
            self.story.world.after(0.0, self.look)

    def call(self, command: TaskCommand) -> TaskOutcome | None:
        """Send a command; the session may die before or after it, or the answer may be lost and asked for again."""
        world, self.calls = self.story.world, self.calls + 1
        if world.chance(0.03):
            self.die()
            return None
        once = Once(f"{self.name}-{self.calls}", repr(command))
        found = self.story.queue.execute(command, once)
        if world.chance(0.03):
            self.die()
            return None
        if world.chance(0.1):
            self.story.lost_answers += 1
            assert self.story.queue.execute(command, once) == found
        return found

    def die(self) -> None:
        self.story.deaths += 1
        self.story.world.after(5.0, self.story.start)

    def is_all_landed(self, record: TaskRecord) -> bool:
        states = {each.id: each.state for each in self.story.records()}
        return all(states[need] is TaskState.LANDED for need in record.task.needs)

    def check_the_next_offer(self) -> None:
        """Work out again, from the plainest reading of the rules, that a collision is the last resort."""
        with self.story.queue.read() as reader:
            board = board_of(reader)
        now = self.story.queue.now()
        offered = offers(board, self.name, now)
        running = [
            each for each in board.tasks.values() if each.state is TaskState.CLAIMED and each.holder != self.name
        ]
        free = [each.record.id for each in offered if not _collides(each.record, running)]
        assert not offered or not free or offered[0].record.id in free or offered[0].record.reserved_for == self.name


def _collides(record: TaskRecord, running: list[TaskRecord]) -> bool:
    keys = [canonical(key) for each in running for key in each.task.keys]
    return any(overlaps(canonical(key), other) for key in record.task.keys for other in keys)


def lives(log: tuple[Recorded, ...]) -> dict[str, list[TaskMoved]]:
    """The transitions of each task, in order."""
    found: dict[str, list[TaskMoved]] = {}
    for recorded in log:
        if isinstance(recorded.event, TaskMoved):
            found.setdefault(recorded.event.task_id, []).append(recorded.event)
    return found


def landings(moves: list[TaskMoved]) -> int:
    """How often the task has landed, without those landings that were undone."""
    return sum((each.move is Move.LAND) - (each.move is Move.UNDO) for each in moves)
