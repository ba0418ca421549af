"""Ten thousand contended commits: what the daemon and all below it hold in memory and descriptors, before and after."""

from dataclasses import dataclass
from typing import Final

from bench.contention.crew import run, tasks
from bench.contention.package import lay_out
from bench.contention.served import daemon, repository
from bench.processes import descriptors, memory_megabytes
from bench.reporting import Figure, at_least, at_most, judged

GROWTH: Final = 1.1
KINDS: Final = ("body", "contract")
"""Kinds that leave the file as long as it was: what grows then is the daemon's own."""


@dataclass(frozen=True)
class Sizes:
    """`commits` of all clients together; a tenth of them goes before, so that caches are full."""

    clients: int = 8
    commits: int = 10_000


QUICK: Final = Sizes(clients=2, commits=20)


def measure(sizes: Sizes) -> list[Figure]:
    """All figures."""
    each = -(-sizes.commits // sizes.clients)
    with repository(lay_out) as root:
        warm = run(root, tasks(root, sizes.clients, KINDS, max(1, each // 10), name="warm"))
        pid = daemon(root)
        memory, opened = memory_megabytes(pid), descriptors(pid)
        ran = run(root, tasks(root, sizes.clients, KINDS, each))
        memory_after, opened_after = memory_megabytes(pid), descriptors(pid)
    busy = warm.busy + ran.busy
    return [
        Figure("commits", len(ran.waits), "commits"),
        Figure("rate", ran.rate, "commits/s"),
        Figure("BUSY", busy, "calls", judged("0", is_met=not busy)),
        at_least("Jain's index", ran.fairness, "", 0.99),
        at_most("longest wait / median", ran.longest_against_median, "ratio", 20),
        Figure("memory before", memory, "MB"),
        Figure("memory after", memory_after, "MB"),
        at_most("memory after against before", memory_after / memory, "ratio", GROWTH),
        Figure("descriptors before", opened, ""),
        at_most("descriptors after", opened_after, "", opened),
    ]
