"""Real commits that kept the suite green, each as one changeset: what admission has against them is a false alarm."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from time import perf_counter
from typing import Final

from bench.merging.repository import ABSENT, Changes, Repository
from bench.semantics.projects import changed_commits, tree
from bench.semantics.truth import Suites, Trial
from bench.semantics.typed import Typed
from bench.semantics.verdicts import Admission, Level

COMMITS: Final = 100
# As many more are asked for, since not every old commit passes with what is installed now.
MORE: Final = 1.25


@dataclass(frozen=True)
class Replayed:
    """A commit that keeps its suite green, and what admission says of it after its first parent."""

    commit: str
    subject: str
    files: int
    level: Level
    evidence: tuple[str, ...]
    seconds: float
    named: tuple[str, ...] = field(default=(), repr=False)
    notices: tuple[str, ...] = field(default=(), repr=False)
    crash: str = field(default="", repr=False)


def measure(repositories: Iterable[Repository], suites: Suites, commits: int = COMMITS) -> list[Replayed]:
    """Replay as many commits of each project."""
    return [replayed for repository in repositories for replayed in _of_project(repository, suites, commits)]


def _of_project(repository: Repository, suites: Suites, commits: int) -> list[Replayed]:
    newest = changed_commits(repository, int(commits * MORE))
    outcomes = suites.greenest(trials(repository, [after for _, after in newest]))
    green = [pair for pair, outcome in zip(newest, outcomes, strict=True) if outcome.passed]
    looked_at = newest.index(green[:commits][-1]) + 1 if green else len(newest)
    red = looked_at - len(green[:commits])
    print(f"{repository}: the newest {looked_at} commits to files of Python's; {red} are not green here", flush=True)
    with Typed(suites.python) as typed:
        chosen = typed if suites.types else None
        return [replay(repository, before, after, chosen) for before, after in islice(green, commits)]


def trials(repository: Repository, commits: Sequence[str]) -> list[Trial]:
    """Each commit, as what differs from HEAD: one checkout serves all."""
    head = repository.run("rev-parse", "HEAD").decode().strip()
    return [_trial(repository, head, commit) for commit in commits]


def _trial(repository: Repository, head: str, commit: str) -> Trial:
    changes = repository.changes(head, commit)
    names = repository.names(head, list(changes)) if changes else {}
    blobs = repository.blobs(list(names.values())) if names else []
    pairs = zip(names.items(), blobs, strict=True)
    base: Changes = {path: None if name == ABSENT else blob for (path, name), blob in pairs}
    return Trial(repository.place, head, base, changes)


def replay(repository: Repository, before: str, after: str, typed: Typed | None = None) -> Replayed:
    """Ask admission about one commit."""
    changes, parent = repository.changes(before, after), tree(repository, before)
    known = Admission(parent, typed.holding(parent) if typed else None)
    start = perf_counter()
    verdict = known.verdict(changes)
    seconds = perf_counter() - start
    subject = repository.run("log", "-1", "--format=%s", after).decode().strip()
    evidence = tuple(sorted({str(each.evidence) for each in verdict.named}))
    facts = (f"{repository}:{after[:10]}", subject, len(changes), verdict.level, evidence, seconds)
    return Replayed(*facts, tuple(map(str, verdict.named)), verdict.notices, verdict.crash)
