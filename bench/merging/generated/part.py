"""The part of `make bench-merge` that generates merges: `ARGS="--parts generated --work DIR"`."""

import shutil
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from bench.merging.generated.files import own, real_files
from bench.merging.generated.front_ends import close, judge
from bench.merging.generated.grammars import GRAMMARS
from bench.merging.generated.measure import Limits, Merged, of_file
from bench.merging.generated.running import LANGUAGE as RUN
from bench.merging.generated.running import of_programs
from bench.merging.generated.showing import show

LANGUAGES: Final = (*GRAMMARS, RUN)


@dataclass(frozen=True)
class Plan:
    """How many real files of each language are edited, with which seed; our own program is edited `rounds` times."""

    files: int
    rounds: int
    seed: int
    limits: Limits = field(default_factory=Limits)


def measure(plan: Plan, languages: Sequence[str], work: Path, folder: Path, processes: int) -> None:
    """Generate, merge, judge and say what was seen."""
    shutil.rmtree(folder / "merging-generated", ignore_errors=True)
    merges: list[Merged] = []
    missing: dict[str, str] = {}
    with ProcessPoolExecutor(processes) as pool:
        for language, found in zip(languages, pool.map(partial(of_language, plan, work), languages), strict=True):
            if isinstance(found, str):
                missing[language] = found
            else:
                merges += found
                print(f"{language}: {len(found)} merges, {sum(bool(each.broken) for each in found)} broken", flush=True)
    show(merges, missing, folder)


def of_language(plan: Plan, work: Path, language: str) -> list[Merged] | str:
    """Merges of one language; what is missing where it cannot be judged here."""
    if language == RUN:
        return of_programs(plan.seed, plan.rounds * plan.limits.most_pairs)
    found = judge(language, work)
    if isinstance(found, str):
        return found
    grammar = GRAMMARS[language]
    try:
        merges = [
            each
            for number in range(plan.rounds)
            for each in of_file(grammar, found, own(grammar.suffix), plan.seed + number, plan.limits)
        ]
        for place in real_files(language, work, plan.files, plan.seed):
            merges += of_file(grammar, found, place, plan.seed, plan.limits)
    finally:
        close(found)
    return merges
