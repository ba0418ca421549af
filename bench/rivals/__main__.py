"""Commonhold beside its rivals: `make bench-rivals`. It needs a package index, the first time, and some minutes.

`COMMONHOLD_DAEMON=off` measures the direct path.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench.reporting import report
from bench.rivals import contest
from bench.rivals.crew import Contestant, Course
from bench.rivals.environments import interpreter_with
from bench.rivals.loads import Load
from bench.rivals.trials import Series

OURS: Final = "bench.rivals.drivers.ours"
# Requirement and driver. A newer release is taken in by hand: its interface may have changed.
RIVALS: Final = {
    "claim-plane==0.37.31": "bench.rivals.drivers.claim_plane",
    "claude-agent-sync==0.4.0": "bench.rivals.drivers.agent_sync",
}


def ours() -> tuple[Contestant, ...]:
    """Commonhold as it is by default, and at the durability of rivals that do not survive power loss."""
    return (
        Contestant("Commonhold", OURS, sys.executable, is_ours=True),
        Contestant("Commonhold, NORMAL", OURS, sys.executable, {"COMMONHOLD_DURABILITY": "normal"}, is_ours=True),
    )


def rivals() -> tuple[Contestant, ...]:
    """The rivals, installed."""
    return tuple(
        Contestant(requirement.partition("==")[0], driver, interpreter_with(requirement))
        for requirement, driver in RIVALS.items()
    )


def compare(contestants: Sequence[Contestant], course: Course, rounds: int) -> None:
    """Hold both contests; print all that was seen, and write the figures."""
    apart = contest.hold(Load.DISTINCT_KEYS, contestants, course, rounds)
    together = contest.hold(Load.ONE_KEY, contestants, course, rounds)
    tell(apart, together)
    checks = [*contest.apart_checks(apart), *contest.together_checks(together)]
    report("rivals", [*contest.apart_figures(apart), *contest.together_figures(together), *checks])


def tell(apart: Sequence[Series], together: Sequence[Series]) -> None:
    """Print what was measured, and who got the one key in the last round."""
    for each in apart:
        facts = each.facts
        print(f"\n{each.name} {facts.version}: {facts.calls}")
        print(f"  synchronous={facts.durability}, SQLite {facts.sqlite}; waits: {facts.waiting}")
    print("\nGrants of the one key by process, last round")
    for each in together:
        print(f"  {each.name}: {' '.join(map(str, each.trials[-1].grants))}")


def arguments() -> argparse.Namespace:
    """What may be chosen."""
    parser = argparse.ArgumentParser(prog="python -m bench.rivals", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="how long a trial lasts")
    parser.add_argument("--rounds", type=int, default=3, help="how many trials of each kind a contestant has")
    parser.add_argument("--processes", type=int, default=8, help="how many work at once")
    parser.add_argument("--hold", type=float, default=0.0, help="for how many seconds a process keeps the one key")
    parser.add_argument("--disk", type=Path, default=Path("build"), help="a folder on the disk to measure on")
    return parser.parse_args()


def main() -> None:
    """Compare all."""
    chosen = arguments()
    course = Course(chosen.processes, chosen.seconds, chosen.disk, chosen.hold)
    compare((*ours(), *rivals()), course, chosen.rounds)


if __name__ == "__main__":
    main()
