"""Counts of the calls that a daemon has answered, with their outcomes and durations."""

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import Final

from commonhold.kernel.answers import CommitAnswer
from commonhold.kernel.errors import CommonholdError

BOUNDS_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""The upper bounds of the buckets of durations; a last bucket has the rest."""


class Durations:
    """A histogram: how many calls took at most as long as each bound, all of them together, and the sum of seconds."""

    def __init__(self) -> None:
        """Begin without a call."""
        self.buckets = [0] * (len(BOUNDS_SECONDS) + 1)
        self.seconds = 0.0

    @property
    def count(self) -> int:
        """The number of calls."""
        return sum(self.buckets)

    def add(self, seconds: float) -> None:
        """Count a call."""
        self.buckets[bisect_left(BOUNDS_SECONDS, seconds)] += 1
        self.seconds += seconds

    def cumulative(self) -> Iterator[tuple[float, int]]:
        """Yield each bound with the number of calls that took at most as long."""
        total = 0
        for bound, count in zip(BOUNDS_SECONDS, self.buckets, strict=False):
            total += count
            yield bound, total


class CallCounts:
    """Counts since the start of a daemon; all threads may add to them."""

    def __init__(self) -> None:
        """Begin without a call."""
        self._lock = threading.Lock()
        self._outcomes: Counter[tuple[str, str, str]] = Counter()
        self._merges: Counter[tuple[str, str]] = Counter()
        self._durations: dict[str, Durations] = {}
        self._waits = 0

    def add(self, operation: str, outcome: object, seconds: float) -> None:
        """Count a call that returned, or raised, `outcome` after so many seconds."""
        if isinstance(outcome, CommonholdError):
            word, code = "error", str(outcome.code)
        else:
            word, code = getattr(outcome, "outcome", "") or "done", str(getattr(outcome, "code", "") or "")
        with self._lock:
            self._outcomes[operation, word, code] += 1
            self._durations.setdefault(operation, Durations()).add(seconds)
            if isinstance(outcome, CommitAnswer):
                self._merges.update(("merged", "") for _ in outcome.merged)
                obstacles = (why for each in outcome.repair.unmerged for why in each.obstacles)
                self._merges.update(("unmerged", why.reason) for why in obstacles)

    def add_wait(self) -> None:
        """Count a session that took a place in line."""
        with self._lock:
            self._waits += 1

    def outcomes(self) -> list[tuple[tuple[str, str, str], int]]:
        """Return the number of calls by operation, outcome, and code (empty if it has none)."""
        with self._lock:
            return sorted(self._outcomes.items())

    def merges(self) -> list[tuple[tuple[str, str], int]]:
        """Return the number of merges of regions by verdict, and by the reason why one was not merged."""
        with self._lock:
            return sorted(self._merges.items())

    def durations(self) -> list[tuple[str, tuple[tuple[float, int], ...], int, float]]:
        """Return, by operation, the cumulative histogram, the number of calls, and the sum of their seconds."""
        with self._lock:
            return [
                (name, tuple(each.cumulative()), each.count, each.seconds) for name, each in self._durations.items()
            ]

    @property
    def waits(self) -> int:
        """How many sessions have taken a place in line."""
        return self._waits
