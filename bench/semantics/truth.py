"""What the suite of a project says of a changed state of it: asked once, kept from run to run."""

import re
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bench.merging.repository import Changes, Repository
from bench.merging.suites import Outcome, Runner
from bench.semantics.projects import OPTIONS, SECONDS, SUITE

FRAME: Final = re.compile(r"^(\S+\.py):(\d+): in ", re.MULTILINE)
EVERY: Final = 50
CHUNK: Final = 2


@dataclass(frozen=True)
class Trial:
    """A commit with some files other than they are; `base` has what the commit itself has at their paths."""

    place: Path
    commit: str
    base: Changes
    changes: Changes


@dataclass(frozen=True)
class Suites:
    """Where the outcomes are kept, with which interpreter suites are run, and in how many processes.

    `older` are interpreters with what older commits need. `types`: a type checker is asked too.
    """

    work: Path
    python: str
    processes: int = 2
    types: bool = True
    older: tuple[str, ...] = ()

    def greenest(self, trials: Sequence[Trial]) -> list[Outcome]:
        """What the suites say with the first interpreter that they pass with, or with none."""
        found = self.outcomes(trials)
        for python in self.older:
            red = [number for number, outcome in enumerate(found) if not outcome.passed]
            again = replace(self, python=python).outcomes([trials[number] for number in red])
            for number, outcome in zip(red, again, strict=True):
                found[number] = outcome if outcome.passed else found[number]
        return found

    def outcomes(self, trials: Sequence[Trial]) -> list[Outcome]:
        """What the suites say of each state, in order."""
        with ProcessPoolExecutor(self.processes, initializer=_begin, initargs=(self,)) as pool:
            told = pool.map(_outcome, trials, chunksize=CHUNK)
            return [outcome for number, outcome in enumerate(told, 1) if _counted(number, len(trials))]


def frames(outcome: Outcome) -> list[tuple[str, int]]:
    """The paths and lines that the suite's tracebacks name, outermost first."""
    return [(found[1], int(found[2])) for found in FRAME.finditer(outcome.said)]


def _counted(number: int, total: int) -> bool:
    if number % EVERY == 0 or number == total:
        print(f"  {number} of {total} suites", flush=True)
    return True


_suites: list[Suites] = []
_runners: dict[Path, Runner] = {}


def _begin(suites: Suites) -> None:
    _suites.append(suites)


def _outcome(trial: Trial) -> Outcome:
    if trial.place not in _runners:
        made = (_suites[0].work, Repository(trial.place), _suites[0].python)
        _runners[trial.place] = Runner(*made, seconds=SECONDS, options=OPTIONS)
    return _runners[trial.place].tested(trial.commit, trial.base, trial.changes, SUITE)
