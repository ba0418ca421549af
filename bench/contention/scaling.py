"""Commits a second, fairness and processor time, by clients, by kind of edit, and by layout."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from bench.contention.crew import Run, run, tasks
from bench.contention.package import KINDS, LAYOUTS, lay_out
from bench.contention.served import repository
from bench.reporting import Figure, at_least, at_most, judged, quantile

CLIENTS: Final = (1, 2, 4, 8, 16)
WARM_UP: Final = 8


@dataclass(frozen=True)
class Sizes:
    """`commits` are those of all clients together, in each round."""

    clients: Sequence[int] = CLIENTS
    kinds: Sequence[str] = KINDS
    layouts: Sequence[str] = LAYOUTS
    commits: int = 96
    rounds: int = 2


QUICK: Final = Sizes((1, 2), ("contract",), LAYOUTS[:1], 4, 1)


def measure(sizes: Sizes) -> list[Figure]:
    """All figures. Each number of clients has a turn in each round, so that noise hits all of them."""
    figures: list[Figure] = []
    for layout in sizes.layouts:
        for kind in sizes.kinds:
            rounds = [
                {count: _once(layout, kind, count, sizes) for count in sizes.clients} for _ in range(sizes.rounds)
            ]
            figures += _figures(f"{layout}, {kind}", sizes.clients, rounds)
    return figures


def _once(layout: str, kind: str, clients: int, sizes: Sizes) -> Run:
    """One round in a fresh repository, so that all of them find the same files; after as many have begun there."""
    with repository(lay_out) as root:
        run(root, tasks(root, clients, (kind,), WARM_UP, layout=layout, name="warm"))
        return run(root, tasks(root, clients, (kind,), -(-sizes.commits // clients), layout=layout))


def _figures(name: str, clients: Sequence[int], rounds: Sequence[dict[int, Run]]) -> Iterator[Figure]:
    for count in clients:
        yield from _of_clients(f"{name}, {count_of_clients(count)}", [each[count] for each in rounds])
    few, many = clients[0], clients[-1]
    eight = min(8, many)
    rates = [each[eight].rate / each[few].rate for each in rounds]
    costs = [each[many].cpu_per_commit / max(each[few].cpu_per_commit, 1e-9) for each in rounds]
    yield at_least(f"{name}: rate of {count_of_clients(eight)} against {few}", median(rates), "ratio", 1.8)
    yield at_most(f"{name}: CPU a commit at {count_of_clients(many)} against {few}", median(costs), "ratio", 1.2)


def _of_clients(name: str, runs: Sequence[Run]) -> Iterator[Figure]:
    waits = [wait for each in runs for wait in each.waits]
    busy = sum(each.busy for each in runs)
    refused = sum(sum(each.refused.values()) for each in runs) - busy
    yield Figure(f"{name}: rate", median(each.rate for each in runs), "commits/s")
    for label, share in (("p50", 0.5), ("p90", 0.9), ("longest", 1.0)):
        yield Figure(f"{name}: wait, {label}", quantile(waits, share) * 1e3, "ms")
    yield Figure(f"{name}: CPU a commit", median(each.cpu_per_commit for each in runs) * 1e3, "ms")
    yield at_least(f"{name}: Jain's index", min(each.fairness for each in runs), "", 0.99)
    yield at_most(f"{name}: longest wait / median", max(each.longest_against_median for each in runs), "ratio", 20)
    yield Figure(f"{name}: BUSY", busy, "calls", judged("0", is_met=not busy))
    yield Figure(f"{name}: other refusals, tried again", refused, "calls")


def count_of_clients(count: int) -> str:
    """So many clients, in words."""
    return f"{count} client{'s' if count > 1 else ''}"
