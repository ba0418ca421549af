"""What an agent's `read` and `get` take while eight others commit, against the same with nobody else there."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

import commonhold
from bench.contention.crew import ENDLESS, crew, tasks
from bench.contention.package import KINDS, lay_out
from bench.contention.served import repository
from bench.reporting import Figure, at_most, quantile, seconds

KEY: Final = "bench:reads"
FILE: Final = "pkg/m40.py"


@dataclass(frozen=True)
class Sizes:
    """So many calls of each in each round, once alone and once while `others` commit."""

    others: int = 8
    calls: int = 100
    rounds: int = 3


QUICK: Final = Sizes(others=2, calls=20, rounds=1)
Times = dict[str, list[float]]


def measure(sizes: Sizes) -> list[Figure]:
    """All figures."""
    with repository(lay_out) as root, commonhold.open(str(root), agent="reader", daemon=True) as hold:
        hold.put(KEY, "a text", expected_version=0)
        _times(hold, sizes.calls)
        rounds = [(_times(hold, sizes.calls), _beside(root, hold, sizes, number)) for number in range(sizes.rounds)]
    return [figure for call in ("read", "get") for figure in _figures(call, rounds)]


def _beside(root: Path, hold: commonhold.Commonhold, sizes: Sizes, number: int) -> Times:
    """The same while others commit all kinds of edits to one file."""
    with crew(tasks(root, sizes.others, KINDS, ENDLESS, name=f"r{number}c")) as members:
        members.begin()
        found = _times(hold, sizes.calls)
        members.stop()
    return found


def _times(hold: commonhold.Commonhold, calls: int) -> Times:
    times: Times = {"read": [], "get": []}
    for number in range(calls):
        times["read"].append(seconds(lambda: hold.read(f"{FILE}#f40_{number % 8}")))  # noqa: B023 - called at once
        times["get"].append(seconds(lambda: hold.get(KEY)))
        time.sleep(0.001)  # an agent has something to do between two calls
    return times


def _figures(call: str, rounds: list[tuple[Times, Times]]) -> Iterator[Figure]:
    pairs = [(quantile(alone[call], 0.99), quantile(beside[call], 0.99)) for alone, beside in rounds]
    yield Figure(f"{call}, alone: p99", median(alone for alone, _ in pairs) * 1e3, "ms")
    yield Figure(f"{call}, others commit: p99", median(beside for _, beside in pairs) * 1e3, "ms")
    yield at_most(
        f"{call}, others commit: p99 against alone", median(beside / alone for alone, beside in pairs), "ratio", 3
    )
