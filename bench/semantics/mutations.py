"""Functions changed on purpose: how many of those that break the suite are flagged, and who is named for them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final

from bench.merging.repository import Repository
from bench.merging.suites import Outcome
from bench.semantics.callers import Callers, Place
from bench.semantics.mutants import SUFFIX, Kind, Mutant, mutants
from bench.semantics.projects import Project, project
from bench.semantics.truth import Suites, Trial, frames
from bench.semantics.typed import Typed
from bench.semantics.verdicts import Admission, Level, Named

MAIN: Final = (Kind.REQUIRED, Kind.RENAMED)
# Its templates are compiled to code that calls by text, so that its suite says little of who calls whom.
NOT_CHANGED: Final = frozenset({"jinja"})


@dataclass(frozen=True)
class Limits:
    """How many of each kind to take of each project: of the two main ones, of special methods, of the others."""

    main: int = 110
    special: int = 20
    other: int = 30

    def by_kind(self) -> dict[Kind, int]:
        """The limits of all kinds."""
        chosen = dict.fromkeys(Kind, self.other)
        return {**chosen, **dict.fromkeys(MAIN, self.main), Kind.SPECIAL: self.special}


@dataclass(frozen=True)
class Judged:
    """What the suite and admission say of a mutant.

    Of the callers that are named: by the suite, a call from there was seen; by the traceback, a frame of it is in
    there; by its text, the name stands in there. `callers` is from how many other lines the suite calls it.
    """

    project: str
    mutant: str
    kind: Kind
    is_breaking: bool
    level: Level
    evidence: tuple[str, ...]
    by_suite: bool
    by_traceback: bool
    by_text: bool
    callers: int
    seconds: float
    named: tuple[str, ...] = field(default=(), repr=False)
    notices: tuple[str, ...] = field(default=(), repr=False)
    crash: str = field(default="", repr=False)
    said: str = field(default="", repr=False)

    @property
    def is_flagged(self) -> bool:
        """Whether it is not simply let in."""
        return self.level > Level.ADMITTED

    @property
    def names_caller(self) -> bool:
        """Whether it is blocked, and one who really calls it is among those that are named.

        What no line of the project is seen to call (a callback, a context manager) has callers by its name alone.
        """
        is_real = self.by_suite or self.by_traceback or (not self.callers and self.by_text)
        return self.level is Level.BLOCKED and is_real


def measure(repositories: Iterable[Repository], suites: Suites, limits: Limits) -> list[Judged]:
    """Judge the mutants of all projects."""
    return [judged for repository in repositories for judged in _of_project(project(repository), suites, limits)]


def _of_project(known: Project, suites: Suites, limits: Limits) -> list[Judged]:
    found = mutants(known.sources, limits.by_kind())
    print(f"{known.name}: {len(found)} mutants of {known.commit[:12]}", flush=True)
    whole = Trial(known.place, known.commit, {}, {})
    trials = [whole, *(_trial(known, mutant) for mutant in found)]
    green, *outcomes = suites.outcomes(trials)
    assert green.passed, f"the suite of {known.name} fails as it is: {green.said}"
    callers = Callers(known, suites)
    with Typed(suites.python) as typed:
        admission = Admission(known.files, typed.holding(known.files) if suites.types else None)
        tried = zip(found, outcomes, strict=True)
        return [_judged(known, mutant, outcome, callers, admission) for mutant, outcome in tried]


def _trial(known: Project, mutant: Mutant) -> Trial:
    base = {mutant.path: known.files[mutant.path]}
    return Trial(known.place, known.commit, base, {mutant.path: mutant.source})


def _judged(known: Project, mutant: Mutant, outcome: Outcome, callers: Callers, admission: Admission) -> Judged:
    start = perf_counter()
    verdict = admission.verdict({mutant.path: mutant.source})
    seconds = perf_counter() - start
    real = callers.of(mutant)
    outside = [each for each in verdict.blocking if not _is_itself(each, mutant)]
    return Judged(
        project=known.name,
        mutant=str(mutant),
        kind=mutant.kind,
        is_breaking=not outcome.passed,
        level=verdict.level,
        evidence=tuple(sorted({str(each.evidence) for each in verdict.named})),
        by_suite=any(_holds(each, real) for each in outside),
        by_traceback=any(_holds(each, frames(outcome)) for each in outside),
        by_text=any(_called(mutant) in each.text for each in outside),
        callers=len(real),
        seconds=seconds,
        named=tuple(map(str, verdict.named)),
        notices=verdict.notices,
        crash=verdict.crash,
        said=outcome.said if not outcome.passed else "",
    )


def _called(mutant: Mutant) -> str:
    """The name by which it is called: a special method's class's."""
    owner, _, name = mutant.qualname.rpartition(".")
    return owner.rpartition(".")[2] if name.startswith("__") and owner else name


def _is_itself(named: Named, mutant: Mutant) -> bool:
    return named.path == mutant.path and named.qualname.removesuffix(SUFFIX) == mutant.qualname


def _holds(named: Named, places: Iterable[Place]) -> bool:
    return any(path == named.path and line in named.lines for path, line in places)
