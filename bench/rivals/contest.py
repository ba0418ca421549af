"""The contest: who takes part, the rounds, and the figures that come of them."""

from collections.abc import Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Final

from bench.reporting import Figure, judged
from bench.rivals.crew import Contestant, Course, run_trial
from bench.rivals.loads import Load
from bench.rivals.trials import Series, Trial, best_rival, ours_at

RATE: Final = attrgetter("rate")
HANDOVER_RATE: Final = attrgetter("handover_rate")
STARVED: Final = attrgetter("starved")
FAIRNESS: Final = attrgetter("fairness")
LONGEST_WAIT: Final = attrgetter("longest_wait_seconds")
LOST: Final = attrgetter("lost")


def hold(load: Load, contestants: Sequence[Contestant], course: Course, rounds: int) -> tuple[Series, ...]:
    """All contestants in turn, round after round; each round another one begins."""
    trials: dict[str, list[Trial]] = {each.name: [] for each in contestants}
    for number in range(rounds):
        first = number % len(contestants)
        for each in chain(contestants[first:], contestants[:first]):
            trials[each.name].append(run_trial(each, load, course))
    return tuple(Series(each.name, each.is_ours, tuple(trials[each.name])) for each in contestants)


def apart_figures(series: Sequence[Series]) -> Iterator[Figure]:
    """Pairs a second where each process has a key of its own."""
    for each in series:
        yield Figure(f"distinct keys, {each.name}", each.median(RATE), "pairs/s")


def together_figures(series: Sequence[Series]) -> Iterator[Figure]:
    """Grants a second of one key, and who got them: medians, but of what is bad the worst round."""
    for each in series:
        yield Figure(f"one key, {each.name}", each.median(RATE), "grants/s")
        yield Figure("  to another process than before", each.median(HANDOVER_RATE), "grants/s")
        yield Figure("  processes that got none", each.worst(STARVED), "processes")
        yield Figure("  Jain's index of fairness", each.median(FAIRNESS), "")
        yield Figure("  longest wait", each.worst(LONGEST_WAIT), "s")
        yield Figure("  grants that overlapped", each.worst(LOST), "grants")


def apart_checks(series: Sequence[Series]) -> Iterator[Figure]:
    """Commonhold against the fastest rival: at the rival's durability, and at the full one."""
    rival = best_rival(series, RATE)
    for durability, goal in ({"FULL": 0.5} | {rival.facts.durability: 1.0}).items():
        ours = ours_at(series, durability)
        if ours is None:
            print(f"\nNot compared: none of ours was at {durability}, as {rival.name} is")
            continue
        ratio = ours.against(rival, RATE)
        name = f"distinct keys, ours at {durability} / {rival.name} at {rival.facts.durability}"
        yield Figure(name, ratio, "ratio", judged(f"≥ {goal}", is_met=ratio >= goal))


def together_checks(series: Sequence[Series]) -> Iterator[Figure]:
    """Commonhold at its default durability: nobody starves, and yet more grants than the best rival gives.

    A process that asks again as soon as it released can have the key all the time while the others sleep; so the
    grants that went to another process are compared apart.
    """
    ours = next(each for each in series if each.is_ours)
    starved = ours.worst(STARVED)
    yield Figure("one key, ours: processes that got none", starved, "processes", judged("0", is_met=starved == 0))
    for what, measure in (("one key", RATE), ("one key, to another process", HANDOVER_RATE)):
        rival = best_rival(series, measure)
        ratio = ours.against(rival, measure)
        yield Figure(f"{what}, ours / {rival.name}", ratio, "ratio", judged("> 1", is_met=ratio > 1))
