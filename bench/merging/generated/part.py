"""The part of `make bench-merge` that generates merges: `ARGS="--parts generated --work DIR"`."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Final

from bench.merging.generated.files import own, real_files
from bench.merging.generated.front_ends import judge
from bench.merging.generated.grammars import GRAMMARS
from bench.merging.generated.in_javascript import Node
from bench.merging.generated.judges import Judge
from bench.merging.generated.kept import Kept
from bench.merging.generated.measure import Limits, Merged, of_file
from bench.merging.generated.running import Python, of_programs
from bench.merging.generated.showing import show

RUN: Final[Mapping[str, Callable[[], Python | Node]]] = {"python, run": Python, "javascript, run": Node.started}
LANGUAGES: Final = (*GRAMMARS, *RUN)


@dataclass(frozen=True)
class Plan:
    """How many real files of each language are edited, with which seed; our own program is edited `rounds` times."""

    files: int
    rounds: int
    seed: int
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Unit:
    """The edits of one file with one seed."""

    language: str
    place: Path
    seed: int

    @property
    def name(self) -> str:
        """What its merges are kept under."""
        return f"{self.language}:{self.place}:{self.seed}"


def measure(plan: Plan, languages: Sequence[str], work: Path, folder: Path, processes: int) -> None:
    """Generate, merge, judge and say what was seen.

    Finished files are kept in `work` until the engine or this bench changes: a run that was ended goes on from there.
    """
    shutil.rmtree(folder / "merging-generated", ignore_errors=True)
    merges: list[Merged] = []
    missing = {each: said for each in languages if isinstance(said := _judge(each, work), str)}
    units = [unit for language in languages if language not in missing for unit in units_of(plan, work, language)]
    with ProcessPoolExecutor(processes) as pool:
        found = zip(units, pool.map(partial(of_unit, plan.limits, work), units), strict=True)
        for language, of_language in groupby(found, key=lambda each: each[0].language):
            of_files = [each for _, some in of_language for each in some]
            merges += of_files
            broken = sum(bool(each.broken) for each in of_files)
            print(f"{language}: {len(of_files)} merges, {broken} broken", flush=True)
    show(merges, missing, folder)


def units_of(plan: Plan, work: Path, language: str) -> list[Unit]:
    """What is edited in a language: our own program with several seeds, then real files."""
    rounds = range(plan.seed, plan.seed + plan.rounds)
    if language in RUN:
        return [Unit(language, Path("program"), seed) for seed in rounds]
    own_units = [Unit(language, own(GRAMMARS[language].suffix), seed) for seed in rounds]
    return own_units + [Unit(language, place, plan.seed) for place in real_files(language, work, plan.files, plan.seed)]


def of_unit(limits: Limits, work: Path, unit: Unit) -> list[Merged]:
    """The merges of a unit: those of an earlier run, or new ones, which are kept. Versions are kept of broken ones."""
    kept = Kept(work)
    merges = kept.read(unit.name)
    if merges is None:
        merges = [each if each.broken else each.without_texts() for each in _new(limits, work, unit)]
        kept.write(unit.name, merges)
    return merges


def _new(limits: Limits, work: Path, unit: Unit) -> list[Merged]:
    found = _judge(unit.language, work)
    assert not isinstance(found, str)
    if isinstance(found, Python | Node):
        return of_programs(found, unit.seed, limits.most_pairs)
    return of_file(GRAMMARS[unit.language], found, unit.place, unit.seed, limits)


@cache
def _judge(language: str, work: Path) -> Judge | Python | Node | str:
    """The judge of a language in this process, where it ends with it; what is missing where there is none."""
    if language in RUN:
        return RUN[language]() if language != Node.name or shutil.which("node") else "no node"
    return judge(language, work)
