"""Admission across files: `make bench-semantics ARGS="--repos DIR... --conflicts DIR --tree DIR --work DIR"`.

The folders are git repositories, bare or not, of Flask, Click and Jinja and of what AgentConflictBench is made of; the
repository of AgentConflictBench; and a large tree of Python files, such as Django's, to measure speed on.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Final

from bench.merging.environment import interpreter
from bench.merging.repository import Repository
from bench.semantics import conflicts, mutations, pairs, replays, speed, telling
from bench.semantics.projects import ERAS, named
from bench.semantics.truth import Suites

PROJECTS: Final = ("flask", "click", "jinja")


def arguments() -> argparse.Namespace:
    """What may be chosen."""
    parser = argparse.ArgumentParser(prog="python -m bench.semantics", description=__doc__)
    parser.add_argument("--repos", type=Path, nargs="+", default=[], help="the repositories of the projects")
    parser.add_argument("--conflicts", type=Path, help="the repository of AgentConflictBench")
    parser.add_argument("--tree", type=Path, help="a large tree of Python files")
    parser.add_argument("--work", "--cache", type=Path, help="a folder where what suites said is kept from run to run")
    parser.add_argument("--python", help="an interpreter with what the projects' tests need; by default one is made")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="what to measure")
    parser.add_argument("--projects", nargs="+", default=list(PROJECTS), help="which of the repositories to look at")
    parser.add_argument("--mutants", type=int, default=110, help="how many of each main kind, of each project")
    parser.add_argument("--commits", type=int, default=replays.COMMITS, help="how many commits of each project")
    parser.add_argument("--pairs", type=int, default=pairs.PAIRS, help="how many pairs of each project")
    parser.add_argument("--processes", type=int, default=2, help="how many suites run at once")
    parser.add_argument("--no-types", action="store_true", help="ask no type checker")
    parser.add_argument("--out", type=Path, default=Path("build/bench"), help="the folder for results")
    return parser.parse_args()


def chosen_repositories(chosen: argparse.Namespace) -> list[Repository]:
    """The repositories to look at."""
    return named([Repository(each) for each in chosen.repos], chosen.projects)


def suites(chosen: argparse.Namespace, work: Path) -> Suites:
    """How suites are run."""
    pythons = [chosen.python] if chosen.python else [interpreter(work, needed) for needed in ERAS]
    return Suites(work, pythons[0], chosen.processes, not chosen.no_types, tuple(pythons[1:]))


def measure_mutations(chosen: argparse.Namespace, work: Path) -> None:
    """Functions changed on purpose."""
    looked_at = [each for each in chosen_repositories(chosen) if str(each) not in mutations.NOT_CHANGED]
    limits = mutations.Limits(chosen.mutants, chosen.mutants * 2 // 11, chosen.mutants * 3 // 11)
    judged = mutations.measure(looked_at, suites(chosen, work), limits)
    telling.write(chosen.out / "semantics-mutations.jsonl", judged)
    telling.tell_mutations(judged)


def measure_replays(chosen: argparse.Namespace, work: Path) -> None:
    """Real commits."""
    replayed = replays.measure(chosen_repositories(chosen), suites(chosen, work), chosen.commits)
    telling.write(chosen.out / "semantics-replays.jsonl", replayed)
    telling.tell_replays(replayed)


def measure_pairs(chosen: argparse.Namespace, _work: Path) -> None:
    """New callers beside changed signatures."""
    caught = pairs.measure(chosen_repositories(chosen), chosen.pairs)
    telling.write(chosen.out / "semantics-pairs.jsonl", caught)
    telling.tell_pairs(caught)


def measure_conflicts(chosen: argparse.Namespace, _work: Path) -> None:
    """Patches that pass alone and fail together."""
    if chosen.conflicts:
        checked = conflicts.measure(Repository(chosen.conflicts), [Repository(each) for each in chosen.repos])
        telling.write(chosen.out / "semantics-conflicts.jsonl", checked)
        telling.tell_conflicts(checked)


def measure_speed(chosen: argparse.Namespace, work: Path) -> None:
    """Each level, and the index of the large tree."""
    speed.measure(chosen.tree, chosen_repositories(chosen), suites(chosen, work).python)


PARTS: Final = {
    "mutations": measure_mutations,
    "replays": measure_replays,
    "pairs": measure_pairs,
    "conflicts": measure_conflicts,
    "speed": measure_speed,
}


def main() -> int:
    """Work in the folder that was named, or in one that is gone afterwards."""
    chosen = arguments()
    if chosen.work:
        chosen.work.mkdir(parents=True, exist_ok=True)
        for part in chosen.parts:
            PARTS[part](chosen, chosen.work.resolve())
        return 0
    with tempfile.TemporaryDirectory(prefix="bench-semantics-") as folder:
        for part in chosen.parts:
            PARTS[part](chosen, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
