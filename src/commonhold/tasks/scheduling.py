"""Which tasks of a plan overlap, and a schedule in which tasks that overlap do not run together.

The schedule is a *list schedule* (Graham): whenever an agent is free, it begins the first task in a fixed order whose
needs are done and that overlaps no running task. The best of three orders counts: the longest chain of needs first, the
most work in conflict first, the order of the plan.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import combinations
from typing import Final

from commonhold.kernel.keys import FILE, Key, canonical, overlaps
from commonhold.kernel.task import Task
from commonhold.tasks.needs import DEFAULT_ESTIMATE_SECONDS, all_needs, needs_first
from commonhold.tasks.prediction import Predictor, Touch, telling

RISK_LIMIT: Final = 0.05
"""Two tasks that collide with a higher probability do not run together, if the history is too short for `limit_for`."""
_RECENT: Final = 40
_LEAST_RECENT: Final = 12
_NEEDLESS: Final = 0.15
"""The share of the pairs without a file in common that the limit serialises."""
UNKNOWN_REGIONS: Final = 0.6
"""The probability that two tasks collide which both change a file without definitions."""


@dataclass(frozen=True, slots=True)
class Work:
    """A task, with the predicted `touches` of files if it declares no keys."""

    task: Task
    touches: tuple[Touch, ...] = ()

    @property
    def seconds(self) -> float:
        """Its expected size."""
        estimate = self.task.estimate_seconds
        return DEFAULT_ESTIMATE_SECONDS if estimate is None else estimate


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two tasks that collide with the probability `risk`, mostly at `key`."""

    one: str
    other: str
    risk: float
    key: str


@dataclass(frozen=True, slots=True)
class Step:
    """A task in a schedule: the agent that does it, counted from 1, and when, in seconds from the beginning."""

    task_id: str
    agent: int
    begins: float
    ends: float


@dataclass(frozen=True, slots=True)
class Schedule:
    """The steps in the order of their beginnings. `seconds` is their end; `alone` is that of one agent."""

    steps: tuple[Step, ...] = ()
    seconds: float = 0.0
    alone: float = 0.0

    @property
    def speed_up(self) -> float:
        """How many times sooner the plan ends than with one agent."""
        return self.alone / self.seconds if self.seconds else 1.0


def overlap_of(one: Work, other: Work) -> Overlap:
    """Return how probably two tasks collide. Regions of one file that do not contain each other do not collide."""
    apart, worst, where = 1.0, 0.0, ""
    for risk, key in _risks(one, other):
        apart *= 1 - risk
        if risk > worst:
            worst, where = risk, key
    return Overlap(one.task.id, other.task.id, 1 - apart, where)


def _risks(one: Work, other: Work) -> Iterator[tuple[float, str]]:
    """Yield, for each key that both may change, the probability that they collide there."""
    mine, theirs = [canonical(key) for key in one.task.keys], [canonical(key) for key in other.task.keys]
    for key in mine:
        yield from ((1.0, str(_inner(key, their))) for their in theirs if overlaps(key, their))
    for keys, touches in ((mine, other.touches), (theirs, one.touches)):
        for touch in touches:
            yield from ((risk, str(key)) for key in keys if (risk := _risk_at(key, touch)))
    others = {touch.path: touch for touch in other.touches}
    for touch in one.touches:
        if touch.path in others:
            risk, name = _shared(touch, others[touch.path])
            yield touch.probability * others[touch.path].probability * risk, _key(touch.path, name)


def _inner(one: Key, other: Key) -> Key:
    return max(one, other, key=lambda key: (len(key.path), len(key.names)))


def _key(path: str, name: str) -> str:
    text = f"{FILE}:{path}"
    return f"{text}#{name}" if name else text


def _risk_at(key: Key, touch: Touch) -> float:
    """Return the probability that a predicted touch collides with a declared key."""
    place = canonical(_key(touch.path, ""))
    if not overlaps(key.file, place):
        return 0.0
    if not key.is_region:
        return touch.probability
    if not touch.regions:
        return touch.probability * UNKNOWN_REGIONS
    apart = math.prod(
        1 - share for name, share in touch.regions.items() if overlaps(key, canonical(_key(touch.path, name)))
    )
    return touch.probability * (1 - apart)


def _shared(one: Touch, other: Touch) -> tuple[float, str]:
    """Return the probability that two tasks which both change a file do so in a common region, and the likeliest."""
    if not one.regions or not other.regions:
        return UNKNOWN_REGIONS, ""
    apart, worst, where = 1.0, 0.0, ""
    for name, share in one.regions.items():
        risk = share * other.regions.get(name, 0.0)
        apart *= 1 - risk
        if risk > worst:
            worst, where = risk, name
    return 1 - apart, where


def overlaps_in(works: Sequence[Work], limit: float = RISK_LIMIT) -> tuple[Overlap, ...]:
    """Return the pairs of a plan that should not run together, the most probable collision first.

    A task that needs another, even indirectly, never runs beside it: such pairs are left out. The needs must have no
    circle.
    """
    before = all_needs({work.task.id: work.task.needs for work in works})
    found = [
        overlap
        for one, other in _pairs(works)
        if one.task.id not in before[other.task.id] and other.task.id not in before[one.task.id]
        if (overlap := overlap_of(one, other)).risk > limit
    ]
    return tuple(sorted(found, key=lambda each: (-each.risk, each.one, each.other)))


def limit_for(predictor: Predictor) -> float:
    """Return the limit of the risk above which two tasks of this project should not run together.

    The recent commits are taken as tasks and predicted from the older ones. The limit serialises 15 % of those pairs
    that changed no file in common: a risk means less in a project where one file changes with almost every commit.
    """
    recent = telling(predictor.project.history)[:_RECENT]
    if len(recent) < _LEAST_RECENT:
        return RISK_LIMIT
    older = Predictor(replace(predictor.project, history=telling(predictor.project.history)[_RECENT:]))
    works = [Work(Task(str(number), ""), older.predict(each.message)) for number, each in enumerate(recent)]
    risks = sorted(
        overlap_of(works[one], works[other]).risk
        for one, other in combinations(range(len(recent)), 2)
        if not set(recent[one].paths) & set(recent[other].paths)
    )
    return risks[int(len(risks) * (1 - _NEEDLESS))] if risks else RISK_LIMIT


def _pairs(works: Sequence[Work]) -> Iterator[tuple[Work, Work]]:
    """Yield the pairs that have a file in common, or a key that is no file: all others cannot overlap."""
    places: dict[str, list[int]] = defaultdict(list)
    wide: list[int] = []
    for number, work in enumerate(works):
        keys = [canonical(key) for key in work.task.keys]
        if any(key.scheme != FILE or key.is_folder for key in keys):
            wide.append(number)
        for path in {*(key.file_path for key in keys), *(touch.path for touch in work.touches)}:
            places[path].append(number)
    pairs = {(one, other) for numbers in places.values() for one, other in combinations(numbers, 2)}
    pairs |= {(min(one, other), max(one, other)) for one in wide for other in range(len(works)) if one != other}
    yield from ((works[one], works[other]) for one, other in sorted(pairs))


def schedule(works: Sequence[Work], overlapping: Sequence[Overlap], agents: int) -> Schedule:
    """Return the best of the three list schedules for so many agents. The needs must have no circle."""
    rivals: dict[str, set[str]] = {work.task.id: set() for work in works}
    for each in overlapping:
        rivals[each.one].add(each.other)
        rivals[each.other].add(each.one)
    seconds = {work.task.id: work.seconds for work in works}
    chains = _chains(works)
    contended = {name: sum(seconds[each] for each in others) for name, others in rivals.items()}
    place = {work.task.id: number for number, work in enumerate(works)}
    orders: tuple[Callable[[str], float], ...] = (
        lambda name: -chains[name],
        lambda name: -chains[name] - contended[name],
        lambda name: place[name],
    )
    alone = sum(seconds.values())
    priority = {work.task.id: -work.task.priority for work in works}
    found = []
    for order in orders:
        ranked = sorted(works, key=lambda work: (priority[work.task.id], order(work.task.id), place[work.task.id]))
        steps = tuple(_steps(ranked, rivals, agents))
        found.append(Schedule(steps, max((step.ends for step in steps), default=0.0), alone))
    return min(found, key=lambda each: each.seconds)


def _steps(ranked: Sequence[Work], rivals: Mapping[str, set[str]], agents: int) -> Iterator[Step]:
    """Yield the list schedule of tasks in this order."""
    known = {work.task.id for work in ranked}
    missing = {work.task.id: set(work.task.needs) & known for work in ranked}
    waiting = {work.task.id: work for work in ranked}
    free = list(range(1, agents + 1))
    running: list[tuple[float, int, str]] = []
    now = 0.0
    while waiting:
        busy = {name for _, _, name in running}
        for name, work in [*waiting.items()] if free else ():
            if free and not missing[name] and not rivals[name] & busy:
                del waiting[name]
                step = Step(name, heappop(free), now, now + work.seconds)
                heappush(running, (step.ends, step.agent, name))
                busy.add(name)
                yield step
        now = running[0][0] if running else now
        while running and running[0][0] <= now:
            _, agent, done = heappop(running)
            heappush(free, agent)
            for needs in missing.values():
                needs.discard(done)


def _chains(works: Sequence[Work]) -> dict[str, float]:
    """Return, for each task, the seconds of the longest chain of work that begins with it."""
    found = {work.task.id: work.seconds for work in works}
    tasks = {work.task.id: work for work in works}
    for name in reversed(needs_first({work.task.id: work.task.needs for work in works})):
        for need in tasks[name].task.needs:
            if need in tasks:
                found[need] = max(found[need], tasks[need].seconds + found[name])
    return found
