"""Contention, part by part: `make bench-contention`, which takes the better part of an hour.

Each part prints a table and writes `build/bench/contention-PART.json`.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from bench.contention import demo, endurance, hooks, hostile, kills, reads, scaling, size
from bench.contention.package import KINDS, LAYOUTS
from bench.reporting import Figure, report

Part = Callable[[argparse.Namespace], list[Figure]]


def _scaling(chosen: argparse.Namespace) -> list[Figure]:
    sizes = scaling.QUICK if chosen.quick else scaling.Sizes(kinds=chosen.kinds, layouts=chosen.layouts)
    return scaling.measure(replace(sizes, commits=chosen.commits) if chosen.commits else sizes)


def _endurance(chosen: argparse.Namespace) -> list[Figure]:
    sizes = endurance.QUICK if chosen.quick else endurance.Sizes()
    return endurance.measure(replace(sizes, commits=chosen.endurance) if chosen.endurance else sizes)


def _kills(chosen: argparse.Namespace) -> list[Figure]:
    sizes = kills.QUICK if chosen.quick else kills.Sizes()
    return kills.measure(replace(sizes, seconds=chosen.seconds) if chosen.seconds else sizes)


def _demo(chosen: argparse.Namespace) -> list[Figure]:
    sizes = demo.QUICK if chosen.quick else demo.Sizes(agents=chosen.agents)
    return demo.measure(replace(sizes, runs=chosen.runs) if chosen.runs else sizes)


PARTS: Final[Mapping[str, Part]] = {
    "scaling": _scaling,
    "size": lambda chosen: size.measure(size.QUICK if chosen.quick else size.Sizes()),
    "reads": lambda chosen: reads.measure(reads.QUICK if chosen.quick else reads.Sizes()),
    "kills": _kills,
    "endurance": _endurance,
    "hooks": lambda chosen: hooks.measure(hooks.QUICK if chosen.quick else hooks.Sizes()),
    "hostile": lambda chosen: hostile.measure(hostile.QUICK if chosen.quick else hostile.Sizes()),
    "demo": _demo,
}


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """What may be chosen."""
    parser = argparse.ArgumentParser(prog="python -m bench.contention", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="what to measure")
    parser.add_argument("--quick", action="store_true", help="sizes that only show that it works")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="scaling: which")
    parser.add_argument("--layouts", nargs="+", choices=LAYOUTS, default=list(LAYOUTS), help="scaling")
    parser.add_argument("--commits", type=int, help="scaling: commits of all clients together, in each round")
    parser.add_argument("--endurance", type=int, help="endurance: commits of all clients together")
    parser.add_argument("--seconds", type=float, help="kills: for how long")
    parser.add_argument("--agents", nargs="+", type=int, default=list(demo.GOALS), help="demo: how many agents")
    parser.add_argument("--runs", type=int, help="demo: runs in a row with each number of agents")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> None:
    """Measure the parts chosen, one after the other."""
    chosen = arguments(words)
    for name in chosen.parts:
        report(f"contention-{name}", PARTS[name](chosen))


if __name__ == "__main__":
    main()
