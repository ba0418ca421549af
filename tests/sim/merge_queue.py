"""A merge queue over a repository of sets: a commit is the set of the changes in it, and a build takes virtual seconds.

The runner is the real one, and so are the decisions and the store. It can be killed before each of its calls, or frozen
there while another runner takes the queue over and works on.
"""
# ruff: noqa: ARG002 - the ports have arguments that this repository does not need

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.in_memory.store import MemoryStore

from commonhold.coordinator.merge_queue import QueueRunner, Turn
from commonhold.coordinator.queue_ports import Build, CheckReport, QueueLostError
from commonhold.coordinator.roles import Stop
from commonhold.history.replay import replay
from commonhold.kernel.commands import Acquire, Renew
from commonhold.kernel.entry import (
    Entry,
    EntryMove,
    EntryMoved,
    EntryRecord,
    EntryState,
    Fault,
    RepairPacket,
)
from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.events import Recorded
from commonhold.kernel.keys import canonical
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Granted
from commonhold.kernel.projection import fold
from commonhold.kernel.refusals import Refusal
from commonhold.landing.commands import AddEntry, EntriesChanged, EntryOutcome, EntryRefused, EntryStep, PostEntries
from commonhold.landing.decide import queue_key
from commonhold.landing.queue import EntryQueue
from commonhold.leases.registry import TableRegistry
from commonhold.testing import FakeClock
from commonhold.workspace.git.integration import Move, Moving

MAIN = "refs/heads/main"
TTL = 15.0
_RENEWAL = 4.0
PROJECT_CHECK = "make test"


class KilledError(BaseException):
    """The process of the runner is gone."""


@dataclass
class Repository:
    """Commits by name, each the set of the changes in it; `ref` is where the branch stands."""

    commits: dict[str, frozenset[str]] = field(default_factory=lambda: {"c0": frozenset[str]()})
    ref: str = "c0"
    passed: set[str] = field(default_factory=lambda: {"c0"})
    stood: list[str] = field(default_factory=lambda: ["c0"])
    conflicts: set[frozenset[str]] = field(default_factory=set)
    failing: set[frozenset[str]] = field(default_factory=set)
    touches: dict[str, frozenset[str]] = field(default_factory=dict)
    unwanted: set[str] = field(default_factory=set)
    """The changes that the remote of the branch does not take."""
    faulty: dict[str, set[str]] = field(default_factory=dict)
    """The commits for which a step fails for ever, by the name of the step."""

    def fails(self, commit: str) -> bool:
        return any(each <= self.commits[commit] for each in self.failing)


@dataclass
class Story:
    """One queue, with what an observer of all calls knows. `at` has what happens at which second.

    While it `is_broken`, no step of git succeeds; without `has_command`, no check does. The
    checkout of the branch is in the way while it is `blocked`.
    """

    build_seconds: float = 5.0
    batch: int = 8
    runner_class: type[QueueRunner] = QueueRunner
    swaps: bool = True
    is_parallel: bool = False
    is_broken: bool = False
    has_command: bool = True
    blocked: str = ""
    repository: Repository = field(default_factory=Repository)
    store: MemoryStore = field(default_factory=MemoryStore)
    clock: FakeClock = field(default_factory=FakeClock)
    seconds: float = 0.0
    builds: int = 0
    merges: int = 0
    calls: int = 0
    at: list[tuple[float, Callable[[], object]]] = field(default_factory=list)
    on_call: Callable[[int], None] = lambda _: None
    landings: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.queue = EntryQueue(self.store, self.clock)
        self.registry = TableRegistry(self.store, self.clock)
        self._numbers = count(1)

    def pass_time(self, seconds: float) -> None:
        until = self.seconds + seconds
        while due := [each for each in self.at if each[0] <= until]:
            first = min(due, key=lambda each: each[0])
            self.at.remove(first)
            self._go_to(max(self.seconds, first[0]))
            first[1]()
        self._go_to(until)

    def _go_to(self, seconds: float) -> None:
        self.clock.advance(seconds - self.seconds)
        self.seconds = seconds

    def add(self, branch: str, commit: str = "", **rest: Any) -> EntryOutcome:
        commit = commit or f"{branch}.1"
        self.repository.commits.setdefault(commit, frozenset({commit}))
        return self.queue.execute(AddEntry("agent", Entry("", branch, commit, MAIN, **rest)))

    def entries(self) -> dict[str, EntryRecord]:
        with self.queue.read() as reader:
            return {each.entry.branch: each for each in reader.entries()}

    def states(self) -> dict[str, str]:
        return {branch: each.state.value for branch, each in self.entries().items()}

    def log(self) -> tuple[Recorded, ...]:
        with self.queue.read() as reader:
            return reader.events(limit=1_000_000)

    def process(self) -> "Process | None":
        """Begin a runner, if no other holds the queue."""
        name = f"runner-{next(self._numbers)}"
        keys = (canonical(queue_key(MAIN)),)
        got = self.registry.execute(Acquire(name, name, name, "runs the queue", keys, Mode.EXCLUSIVE, TTL))
        return Process(self, name, got.lease.fence) if isinstance(got, Granted) else None

    def run(self, most_turns: int = 400) -> None:
        """Run the queue until nothing waits and nothing is to happen; after a runner that is killed comes another."""
        process = self.process()
        for _ in range(most_turns):
            try:
                while process is None:
                    self.pass_time(1.0)
                    process = self.process()
                if process.runner.turn(Process.NEVER) is Turn.IDLE:
                    if not self.at:
                        return
                    self.pass_time(0.5)
            except (KilledError, QueueLostError):
                process = None
            except StoreError:
                self.pass_time(1.0)
        raise AssertionError(f"the queue is never done: {self.states()}")


class _Never:
    def is_set(self) -> bool:
        return False

    def wait(self, timeout: float | None = None) -> bool:
        return False


@dataclass
class Process:
    """A runner with its three ports; each call of a port may kill or freeze it."""

    NEVER = _Never()
    story: Story
    name: str
    fence: int

    def __post_init__(self) -> None:
        self.runner = self.story.runner_class(self, self, self, self.story.batch, is_parallel=self.story.is_parallel)

    def _call(self, effect: Callable[[], Any]) -> Any:
        story = self.story
        story.calls += 1
        story.on_call(story.calls)
        return effect()

    def entries(self) -> tuple[EntryRecord, ...]:
        def effect() -> tuple[EntryRecord, ...]:
            with self.story.queue.read() as reader:
                return reader.entries_in_question(())

        found: tuple[EntryRecord, ...] = self._call(effect)
        return found

    def post(self, *steps: EntryStep) -> tuple[EntryRecord, ...]:
        outcome = self._call(lambda: self.story.queue.execute(PostEntries(self.name, MAIN, self.fence, steps)))
        if isinstance(outcome, EntryRefused):
            if outcome.code is Refusal.QUEUE_TAKEN:
                raise QueueLostError(outcome.why)
            return ()
        assert isinstance(outcome, EntriesChanged)
        if any(each.state is EntryState.LANDED for each in outcome.records):
            self.story.landings.append(self.story.seconds)
        if any(each.is_final for each in outcome.records):
            self.story.ends.append(self.story.seconds)
        return outcome.records

    def head(self) -> str:
        return self.story.repository.ref

    def is_part(self, commit: str, head: str) -> bool:
        commits = self.story.repository.commits
        return commits[commit] <= commits[head]

    def touched(self, commit: str, head: str) -> frozenset[str]:
        self._require(commit, "touched")
        return self.story.repository.touches.get(commit, frozenset())

    def merged(self, record: EntryRecord, head: str, *, has_checks: bool) -> str | RepairPacket:
        repository, commit = self.story.repository, record.entry.commit
        self._require(commit, "merged")
        self.story.merges += 1
        both = repository.commits[head] | repository.commits[commit]
        if any(each <= both and commit in each for each in repository.conflicts):
            return RepairPacket(Fault.MERGE_CONFLICT, f"it conflicts with what is in {head}", head)
        made = f"({head}+{commit})"
        repository.commits[made] = both
        return made

    def beside(self, commit: str, head: str) -> tuple[str, ...]:
        self._require(commit, "beside")
        return ()

    def move(self, old: str, new: str) -> Move:
        return self._call(lambda: self._moved(old, new))  # type: ignore[no-any-return]

    def _moved(self, old: str, new: str) -> Move:
        repository = self.story.repository
        if self.story.blocked:
            return Move(Moving.BLOCKED, self.story.blocked)
        if repository.unwanted & repository.commits[new]:
            return Move(Moving.REFUSED, "origin does not take it")
        if self.story.swaps and repository.ref != old:
            return Move(Moving.STALE)
        repository.ref = new
        repository.stood.append(new)
        return Move(Moving.MOVED)

    def attribute(self, record: EntryRecord) -> None:
        self._call(lambda: self._require(record.entry.commit, "attribute"))

    @property
    def everywhere(self) -> tuple[str, ...]:
        return (PROJECT_CHECK,)

    def probe(self) -> None:
        self._require_machine()

    def reports(self, trees: Sequence[Build], stop: Stop) -> tuple[CheckReport, ...]:
        return self._call(lambda: self._reported(trees, stop))  # type: ignore[no-any-return]

    def _reported(self, trees: Sequence[Build], stop: Stop) -> tuple[CheckReport, ...]:
        story = self.story
        self._require_machine()
        story.builds += len(trees)
        left = story.build_seconds
        while left > 0:
            story.pass_time(min(1.0, left))
            left -= 1.0
            if left % _RENEWAL == 0:
                story.registry.execute(Renew(self.name, self.name, TTL))
            if stop.is_set():
                return tuple(CheckReport(passed=False, is_stopped=True) for _ in trees)
        return tuple(map(self._report, trees))

    def _report(self, tree: Build) -> CheckReport:
        repository = self.story.repository
        if any(each in repository.commits[tree.commit] for each in repository.faulty.get("copy", ())):
            return CheckReport(passed=False, why="it has a path that cannot be written")
        if tree.checks == (":",):
            return CheckReport(passed=True)
        if not self.story.has_command:
            return CheckReport(passed=False, check=PROJECT_CHECK, why="exit status 127", may_be_machine=True)
        if repository.fails(tree.commit):
            return CheckReport(passed=False, check=PROJECT_CHECK, why="exit status 1", output="1 failed")
        repository.passed.add(tree.commit)
        return CheckReport(passed=True)

    def _require_machine(self) -> None:
        if self.story.is_broken:
            raise StoreError(Code.DISK_FULL, "the disk is full", hint="free some space")

    def _require(self, commit: str, step: str) -> None:
        """Fail for ever at a step of one commit, in the way of a library that has a defect."""
        self._require_machine()
        if commit in self.story.repository.faulty.get(step, ()):
            raise ValueError(f"{step} of {commit}")


def check(story: Story) -> None:
    """Nothing is lost, nothing landed twice, the branch never stood at an untested tree, the log explains it all."""
    repository = story.repository
    assert set(repository.stood) <= repository.passed, "the branch stood at a tree that was never tested"
    with story.queue.read() as reader:
        records, state = reader.entries(), fold(story.log())
    assert tuple(state.entries.values()) == records, "the log does not explain the entries"
    replayed = replay(story.log())
    assert replayed.difference is None, replayed.difference
    assert replayed.checked["entry_moved"] == replayed.events["entry_moved"]
    moves = [each.event for each in story.log() if isinstance(each.event, EntryMoved)]
    landed = [each.entry_id for each in moves if each.move is EntryMove.LAND]
    assert len(landed) == len(set(landed)), "an entry landed twice"
    final = repository.commits[repository.ref]
    for record in records:
        assert record.is_final, f"{record.id} was lost"
        is_there = repository.commits[record.entry.commit] <= final
        assert is_there == (record.state is EntryState.LANDED), f"{record.entry.branch} is {record.state}: {final}"
    for before, after in zip(repository.stood, repository.stood[1:], strict=False):
        assert repository.commits[before] <= repository.commits[after], "a landed change was lost from the branch"
