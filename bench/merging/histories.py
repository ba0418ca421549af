"""Files that both sides of a merge in a project's history changed: what ours makes of them, and what the human made.

Left out is what a side removed, or moved: nothing is left there to merge.
"""

import ast
import json
import traceback
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from time import perf_counter

from bench.merging.methods import merge_file
from bench.merging.repository import ABSENT, Repository
from bench.merging.showing import difference, show
from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven, Reason, Spot, Unproven, Verdict

CHUNK = 8
MOST_CONFLICTS = 127


@dataclass(frozen=True)
class Contested:
    """One file that both sides of a merge changed, each in its own way: the names of its versions."""

    repository: str
    commit: str
    path: str
    base: str
    ours: str
    theirs: str
    human: str
    conflicts: int
    """How many git finds in it; 0 where it merges it."""
    git_same: bool
    """Whether git's own merge says the same as the human's; where it met conflicts, it does not."""

    def __str__(self) -> str:
        """Its name, as `flask:COMMIT:src/flask/app.py`."""
        return f"{self.repository}:{self.commit[:12]}:{self.path}"


@dataclass(frozen=True)
class Seen:
    """What became of a contested file. `same` and `parses` are None where nothing can be said."""

    name: str
    conflicts: int
    git_same: bool
    is_joined: bool
    """Whether the human's file is neither side's."""
    verdict: str
    same: bool | None = None
    is_reordered: bool | None = None
    """Whether it has the very lines of the human's, in another order."""
    parses: bool | None = None
    notes: list[str] = field(default_factory=list)
    spots: list[dict[str, object]] = field(default_factory=list)
    crash: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Texts:
    """The bytes of a contested file; empty where there is none."""

    base: bytes
    ours: bytes
    theirs: bytes
    human: bytes


def contested(repository: Repository, kept: Path, pool: ProcessPoolExecutor) -> list[Contested]:
    """Every contested file in the history of HEAD; the list is kept in the folder `kept`."""
    head = repository.run("rev-parse", "HEAD").decode().strip()
    path = kept / f"{repository}-{head[:12]}.jsonl"
    if not path.exists():
        kept.mkdir(parents=True, exist_ok=True)
        rows = repository.run("rev-list", "--min-parents=2", "--max-parents=2", "--parents", head).decode().splitlines()
        found = chain(*pool.map(_of_merge, [repository] * len(rows), rows, chunksize=CHUNK))
        path.write_text("".join(json.dumps(asdict(each)) + "\n" for each in found))
    return [Contested(**json.loads(line)) for line in path.read_text().splitlines()]


def _of_merge(repository: Repository, row: str) -> list[Contested]:
    commit, ours, theirs = row.split()
    base = repository.attempt("merge-base", ours, theirs).stdout.decode().strip()
    return list(_of_sides(repository, commit, base, ours, theirs)) if base else []


def _of_sides(repository: Repository, commit: str, base: str, ours: str, theirs: str) -> Iterator[Contested]:
    mine, other = repository.differences(base, ours), repository.differences(base, theirs)
    paths = sorted(path for path in {*mine} & {*other} if mine[path] != other[path])
    before = repository.names(base, paths)
    after = repository.names(commit, paths)
    for path in paths:
        names = (before[path], mine[path], other[path], after[path])
        base_text, our_text, their_text, human = (each or b"" for each in repository.blobs(names))
        git = merge_file("", base_text, our_text, their_text)
        if ABSENT not in names[1:3] and git.returncode <= MOST_CONFLICTS:  # above it git says that the file is binary
            same = not git.returncode and same_program(path, git.stdout, human)
            yield Contested(str(repository), commit, path, *names, git.returncode, same)


def texts(repository: Repository, each: Contested) -> Texts:
    """The bytes of all versions."""
    return Texts(*(found or b"" for found in repository.blobs([each.base, each.ours, each.theirs, each.human])))


def look(repository: Repository, each: Contested) -> Seen:
    """Merge one file, and hold the merge to the human's."""
    known = texts(repository, each)
    start = perf_counter()
    try:
        answer = merge(known.base, known.ours, known.theirs, each.path)
    except Exception as error:  # noqa: BLE001 - merging promises never to raise; whether it does is measured
        spot = Spot(Reason.NOT_SOUND, f"merging crashed: {error!r}")
        return _refused(each, [spot], perf_counter() - start, traceback.format_exc())
    seconds = perf_counter() - start
    if isinstance(answer, Unproven):
        return _refused(each, answer.spots, seconds)
    return _held_to(each, known, answer, seconds)


def _refused(each: Contested, spots: Iterable[Spot], seconds: float, crash: str = "") -> Seen:
    told = [asdict(spot) for spot in spots]
    return Seen(*_facts(each), Verdict.REFUSED, spots=told, crash=crash, seconds=seconds)


def _facts(each: Contested) -> tuple[str, int, bool, bool]:
    return str(each), each.conflicts, each.git_same, each.human not in (each.ours, each.theirs)


def _held_to(each: Contested, known: Texts, answer: Proven, seconds: float) -> Seen:
    same = same_program(each.path, answer.source, known.human) if each.human != ABSENT else None
    is_reordered = None if same is None else not same and _lines(answer.source) == _lines(known.human)
    parses = None
    if each.path.endswith(".py") and all(tree_of(source) for source in (known.base, known.ours, known.theirs)):
        parses = tree_of(answer.source) is not None
    return Seen(*_facts(each), Verdict.PROVEN, same, is_reordered, parses, list(answer.notes), seconds=seconds)


def same_program(path: str, one: bytes, other: bytes) -> bool:
    """Whether two files say the same: in Python the same tree, else the same lines but for trailing blanks."""
    if path.endswith(".py") and (tree := tree_of(one)) is not None:
        return tree == tree_of(other)
    mine, theirs = ([line.rstrip() for line in source.rstrip().split(b"\n")] for source in (one, other))
    return mine == theirs


def _lines(source: bytes) -> list[bytes]:
    return sorted(line.strip() for line in source.split(b"\n") if line.strip())


def tree_of(source: bytes) -> str | None:
    """What Python reads in it; None if it reads nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old code is full of what is frowned upon today
        try:
            return ast.dump(ast.parse(source))
        except (SyntaxError, ValueError):
            return None


def measure(repositories: Sequence[Repository], work: Path, processes: int) -> list[Seen]:
    """What became of every contested file of all histories."""
    with ProcessPoolExecutor(processes) as pool:
        seen: list[Seen] = []
        for repository in repositories:
            found = contested(repository, work / "histories", pool)
            seen += pool.map(look, [repository] * len(found), found, chunksize=CHUNK)
        return seen


def explain(repositories: Sequence[Repository], work: Path, name: str) -> Iterator[str]:
    """All about one file, named as `flask:COMMIT:PATH`: lines to read."""
    repository = next(each for each in repositories if str(each) == name.partition(":")[0])
    with ProcessPoolExecutor() as pool:
        each = next(each for each in contested(repository, work / "histories", pool) if str(each) == name)
    known = texts(repository, each)
    answer = merge(known.base, known.ours, known.theirs, each.path)
    yield from show(each.path, (known.base, known.ours, known.theirs), answer)
    yield "----- the human's"
    yield from difference(known.base, known.human)
    if isinstance(answer, Proven):
        yield "----- from what is proven to the human's"
        yield from difference(answer.source, known.human)
