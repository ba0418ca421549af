"""Every pair of features, merged by each method, and held to the tests of both."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.merging.dataset import Feature, Task
from bench.merging.methods import Answered, Versions, by_git, by_union, by_us
from bench.merging.repository import Changes, Repository
from bench.merging.suites import Runner
from commonhold.merging.verdict import Sides, Verdict


@dataclass(frozen=True)
class Tried:
    """What became of a pair by one method: refused (`passed` is None), or merged, and whether both suites pass."""

    verdict: str
    passed: bool | None = None


@dataclass(frozen=True)
class Result:
    """What became of a pair by every method, and what ours had to say."""

    pair: str
    git: Tried
    union: Tried
    ours: Tried
    tries: int = 0
    candidates: int = 0
    how: str = ""
    notes: list[str] = field(default_factory=list)
    spots: list[dict[str, object]] = field(default_factory=list)
    crashes: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    others: bool | None = None
    """Whether what ours merged passes the tests that neither feature changed; None where that was not asked."""


@dataclass(frozen=True)
class Setting:
    """Where to work, with which interpreter, and how many candidates to try at most (0: without a check).

    `others`: what passes both suites is also held to the tests that neither feature changed.
    """

    work: Path
    store: Path
    python: str
    tries: int
    others: bool = False


@dataclass(frozen=True)
class Chosen:
    """What ours came to: its tree, how it was put together, at which try, and of how many."""

    tried: Tried
    composed: Changes | None = None
    how: str = ""
    tries: int = 0
    candidates: int = 0


def name_of(task: Task, pair: Sequence[Feature]) -> str:
    """A pair's name, as `click/task2068/1-12`."""
    return f"{task.name}/{'-'.join(str(each.number) for each in pair)}"


def versions_of(task: Task, pair: Sequence[Feature]) -> Versions:
    """The three versions that a merge sees."""
    return Versions(task.base, pair[0].changes, pair[1].changes)


def sides_of(pair: Sequence[Feature]) -> Sides:
    """What the sides are called."""
    ours, theirs = (f"feature {each.number}" for each in pair)
    return Sides(ours, theirs)


class Bench:
    """Merges pairs and runs their tests."""

    def __init__(self, setting: Setting) -> None:
        """Work as `setting` says."""
        self._setting, self._store = setting, Repository(setting.store)
        self._runner = Runner(setting.work, self._store, setting.python)

    def close(self) -> None:
        """End what was begun."""
        self._runner.close()

    def fails_alone(self, task: Task) -> list[int]:
        """The features that do not pass their own tests here."""
        return [each.number for each in task.features if not self._runner.outcome(task, each.changes, each).passed]

    def result(self, task: Task, pair: tuple[Feature, Feature]) -> Result:
        """Merge a pair by every method."""
        versions = versions_of(task, pair)
        git = self._tried(task, pair, by_git(self._store, task.commit, pair[0].commit, pair[1].commit))
        union = self._tried(task, pair, by_union(versions))
        answered = by_us(versions, sides_of(pair))
        ours = self._ours(task, pair, answered)
        spots = [{"path": path, **asdict(spot)} for path, spot in answered.spots()]
        tried = (name_of(task, pair), git, union, ours.tried, ours.tries, ours.candidates, ours.how)
        said = (answered.notes(), spots, dict(answered.crashes), answered.seconds)
        return Result(*tried, *said, self._others(task, pair, ours))

    def _others(self, task: Task, pair: Sequence[Feature], ours: Chosen) -> bool | None:
        if self._setting.others and ours.tried.passed and ours.composed is not None:
            return self._runner.others_pass(task, ours.composed, pair)
        return None

    def _tried(self, task: Task, pair: Sequence[Feature], composed: Changes | None) -> Tried:
        if composed is None:
            return Tried("CONFLICT")
        return Tried("MERGED", self._runner.both_pass(task, composed, pair))

    def _ours(self, task: Task, pair: Sequence[Feature], answered: Answered) -> Chosen:
        if answered.is_proven:
            composed = answered.composed()
            return Chosen(Tried(Verdict.PROVEN, self._runner.both_pass(task, composed, pair)), composed)
        candidates = list(answered.candidates(self._setting.tries))
        for number, (composed, how) in enumerate(candidates, 1):
            if self._runner.both_pass(task, composed, pair):
                return Chosen(Tried(Verdict.VERIFIED, passed=True), composed, how, number, len(candidates))
        return Chosen(Tried(Verdict.REFUSED), None, "", len(candidates), len(candidates))


_benches: list[Bench] = []
_tasks: dict[str, Task] = {}


def _begin(setting: Setting, tasks: dict[str, Task]) -> None:
    _benches.append(Bench(setting))
    _tasks.update(tasks)


def _fails_alone(name: str) -> list[int]:
    return _benches[0].fails_alone(_tasks[name])


def _result(name: str, numbers: tuple[int, int]) -> Result:
    task = _tasks[name]
    first, second = (next(each for each in task.features if each.number == number) for number in numbers)
    return _benches[0].result(task, (first, second))


def measure(setting: Setting, tasks: Iterable[Task], chosen: Sequence[str], processes: int) -> list[Result]:
    """The result of each pair; `chosen` names some of them, as `1-12`, or none for all."""
    known = {each.name: each for each in tasks}
    with ProcessPoolExecutor(processes, initializer=_begin, initargs=(setting, known)) as pool:
        failing = dict(zip(known, pool.map(_fails_alone, known), strict=True))
        for name, numbers in failing.items():
            if numbers:
                print(f"{name}: left out, since they fail their own tests alone: {', '.join(map(str, numbers))}")
        jobs = [
            (task.name, (one.number, two.number))
            for task in known.values()
            for one, two in task.pairs
            if not {one.number, two.number} & {*failing[task.name]}
            and (not chosen or f"{one.number}-{two.number}" in chosen)
        ]
        return list(pool.map(_result, *zip(*jobs, strict=True)) if jobs else [])
