"""Try candidates against the caller's check, the likeliest first, within a limit of number and time."""

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from commonhold.kernel.texts import counted
from commonhold.merging.branches.verification import Check
from commonhold.merging.verdict import Candidate

MOST_TRIED: Final = 24
CHECK_SECONDS: Final = 300.0

Choice = Mapping[str, Candidate]
"""One candidate for each path."""


@dataclass(frozen=True, slots=True)
class Trial:
    """How to try candidates: the check, the largest number of tries, and the total time by a clock of `ticks`."""

    check: Check
    ticks: Callable[[], float]
    most: int = MOST_TRIED
    seconds: float = CHECK_SECONDS


@dataclass(frozen=True, slots=True)
class Passed:
    """The first choice that passed the check, and the number of tries until then."""

    check: str
    choice: Choice
    tried: int


@dataclass(frozen=True, slots=True)
class Failed:
    """No choice passed: why, the number of tries, and the check's output for the first, likeliest choice."""

    check: str
    why: str
    tried: int = 0
    tail: str = ""


def try_choices(
    open_files: Mapping[str, Callable[[], Iterator[Candidate]]], settled: Mapping[str, bytes], trial: Trial
) -> Passed | Failed:
    """Find the first choice of one candidate for each of `open_files` that passes together with the `settled` files.

    If no file is open, the settled files alone must pass.
    """
    start = trial.ticks()
    ranked = {path: _distinct(candidates(), trial.most) for path, candidates in open_files.items()}
    if hopeless := [path for path, found in ranked.items() if not found]:
        return Failed(trial.check.name, f"there is no candidate to try for {', '.join(hopeless)}")
    tried, first_tail = 0, ""
    for choice in _likeliest_first(ranked):
        left = trial.seconds - (trial.ticks() - start)
        if left <= 0 or tried == trial.most:
            return Failed(trial.check.name, _end(tried, left), tried, first_tail)
        result = trial.check.passes({**settled, **{path: each.source for path, each in choice.items()}}, left)
        tried += 1
        if result.passed:
            return Passed(trial.check.name, choice, tried)
        first_tail = first_tail or result.tail
    return Failed(trial.check.name, _all_failed(tried) if ranked else _SETTLED_FAIL, tried, first_tail)


def _distinct(candidates: Iterator[Candidate], most: int) -> Sequence[Candidate]:
    """Return the distinct ones among the first `most` candidates, in order."""
    found: dict[bytes, Candidate] = {}
    for each in islice(candidates, most):
        found.setdefault(each.source, each)
    return tuple(found.values())


def _likeliest_first(ranked: Mapping[str, Sequence[Candidate]]) -> Iterator[Choice]:
    """Yield all choices, ordered by the sum of their ranks. They are generated lazily: there may be very many."""
    lists = list(ranked.values())
    start = (0,) * len(lists)
    waiting, seen = [(0, start)], {start}
    while waiting:
        total, ranks = heapq.heappop(waiting)
        yield {path: lists[at][ranks[at]] for at, path in enumerate(ranked)}
        for at, rank in enumerate(ranks):
            following = (*ranks[:at], rank + 1, *ranks[at + 1 :])
            if rank + 1 < len(lists[at]) and following not in seen:
                seen.add(following)
                heapq.heappush(waiting, (total + 1, following))


def _end(tried: int, left: float) -> str:
    if left <= 0:
        return f"the time for the check was over after {counted(tried, 'candidate')}"
    return f"{counted(tried, 'candidate')} failed the check, and no more are tried"


_SETTLED_FAIL: Final = "the merge fails the check"


def _all_failed(tried: int) -> str:
    return f"{counted(tried, 'candidate')} failed the check, and there are no others"
