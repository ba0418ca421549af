"""What trials say: rates, fairness, and one contestant against another."""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from bench.rivals.drivers import Facts
from bench.rivals.loads import Count, Outcome


@dataclass(frozen=True)
class Trial:
    """What one contestant's processes got in `seconds`. `tally` is what the holders of the one key counted."""

    facts: Facts
    seconds: float
    outcomes: tuple[Outcome, ...]
    tally: Count

    @property
    def grants(self) -> tuple[int, ...]:
        """The grants of each process."""
        return tuple(each.grants for each in self.outcomes)

    @property
    def rate(self) -> float:
        """Grants a second, of all processes together."""
        return sum(self.grants) / self.seconds

    @property
    def handover_rate(self) -> float:
        """Grants a second that went to another process than the one before: the rest are of one that kept at it."""
        return self.tally.handovers / self.seconds

    @property
    def starved(self) -> int:
        """How many processes got nothing."""
        return self.grants.count(0)

    @property
    def fairness(self) -> float:
        """Jain's index: 1 if all got the same, 1 / n if one of n got all, 0 if nobody got anything."""
        squares = sum(grants * grants for grants in self.grants)
        return sum(self.grants) ** 2 / (len(self.grants) * squares) if squares else 0.0

    @property
    def longest_wait_seconds(self) -> float:
        """The longest wait of any process."""
        return max(each.longest_wait_seconds for each in self.outcomes)

    @property
    def lost(self) -> int:
        """How many grants of the one key the tally misses: they overlapped with others."""
        return sum(each.grants + each.late for each in self.outcomes) - self.tally.grants


Measure = Callable[[Trial], float]


@dataclass(frozen=True)
class Series:
    """One contestant's trials under one load, a round each."""

    name: str
    is_ours: bool
    trials: tuple[Trial, ...]

    @property
    def facts(self) -> Facts:
        """What was measured."""
        return self.trials[0].facts

    def median(self, measure: Measure) -> float:
        """The median of the rounds."""
        return statistics.median(map(measure, self.trials))

    def worst(self, measure: Measure) -> float:
        """The largest of the rounds."""
        return max(map(measure, self.trials))

    def against(self, other: Self, measure: Measure) -> float:
        """The median of this one's divided by the other's in the same round, so that noise hits both."""
        return statistics.median(
            measure(mine) / theirs if (theirs := measure(other_trial)) else math.inf
            for mine, other_trial in zip(self.trials, other.trials, strict=True)
        )


def best_rival(series: Sequence[Series], measure: Measure) -> Series:
    """Who is to be beaten."""
    return max((each for each in series if not each.is_ours), key=lambda each: each.median(measure))


def ours_at(series: Sequence[Series], durability: str) -> Series | None:
    """Commonhold at a durability, if it was measured at it."""
    return next((each for each in series if each.is_ours and each.facts.durability == durability), None)
