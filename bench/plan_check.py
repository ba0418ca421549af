"""`commonhold plan check` on plans made from real histories. `make bench-plan-check ARGS="--repos DIR... --work DIR"`.

Each commit is a task: its message is the text, its changed regions are the truth; nothing is declared by hand. A plan
has commits at equal distances, and predictions are made from the state and the history before the first of them. Two
tasks collide if they change overlapping regions and the merge that a validated commit makes is not proven: the later
commit is first carried over to the state before the earlier one, as git does; one that does not fit there collides,
too.

`--learn` fits the weights of the prediction to the given repositories and prints them; the figures count only for
other repositories.
"""

import argparse
import math
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path

from bench.merging.repository import ABSENT, Repository
from bench.reporting import Figure, at_most, report
from commonhold.code.regions.discover import discover
from commonhold.index.index import SqliteIndex
from commonhold.kernel.keys import Key, file_key, overlaps
from commonhold.kernel.task import Task
from commonhold.merging.merge import MAX_BYTES, merge
from commonhold.merging.verdict import Proven
from commonhold.tasks.prediction import (
    FITTED,
    MOST_COMMITS,
    SIGNS,
    PastCommit,
    Predictor,
    Project,
    Signs,
    Touch,
    Weights,
)
from commonhold.tasks.scheduling import Work, limit_for, overlap_of
from commonhold.workspace.git.past_commits import past_commits
from commonhold.workspace.git.process import Git

_MOST_FILES = 40
_NEEDLESS = 0.15
_BROKEN = 0.01
_ROUNDS = 25
_RIDGE = 1.0


@dataclass(frozen=True)
class Sizes:
    """How many plans are made of each history, how many tasks each has, and how far apart their commits are."""

    plans: int = 10
    tasks: int = 12
    distance: int = 10


@dataclass
class Commit:
    """A commit as a task: the bytes of each changed file before and after; None where there is none."""

    id: str
    parent: str
    message: str
    files: Mapping[str, tuple[bytes | None, bytes | None]] = field(repr=False)

    @cached_property
    def regions(self) -> Mapping[str, frozenset[Key]]:
        """The changed regions of each file; the whole file where it was added or removed."""
        return {path: frozenset(_changed(path, *versions)) for path, versions in self.files.items()}


def _changed(path: str, before: bytes | None, after: bytes | None) -> Iterator[Key]:
    if before is None or after is None or max(len(before), len(after)) > MAX_BYTES:
        yield file_key(path)
        return
    old, new = ({each.key: each.hash for each in discover(text, path).leaves()} for text in (before, after))
    yield from (key for key in {*old, *new} if old.get(key) != new.get(key))


@dataclass(frozen=True)
class Sample:
    """A task of a plan: the commit, the signs of each file, what is predicted, and the limit of the risk then."""

    commit: Commit
    signs: Mapping[str, Signs]
    touches: tuple[Touch, ...]
    limit: float


@dataclass(frozen=True)
class Pair:
    """Two tasks of one plan: whether they are serialised, change a region in common, and collide."""

    is_serial: bool
    shares_region: bool
    collides: bool


def history_of(repository: Repository, most: int) -> list[Commit]:
    """Return the newest commits of a repository, merges and sweeping changes left out."""
    words = ("log", "--no-merges", f"--max-count={most}", "--format=%x01%H%x00%P%x00%B")
    found = []
    for record in repository.run(*words).decode("utf-8", "replace").split("\x01")[1:]:
        name, parent, message = record.split("\0")
        changed = repository.differences(parent, name) if parent and " " not in parent else {}
        if 0 < len(changed) <= _MOST_FILES:
            names = repository.names(parent, list(changed))
            before, after = (_contents(repository, each) for each in (names, changed))
            files = {path: (before[path], after[path]) for path in changed}
            found.append(Commit(name, parent, message.strip(), files))
    return found


def _contents(repository: Repository, names: Mapping[str, str]) -> dict[str, bytes | None]:
    blobs = repository.blobs(list(names.values()))
    return {path: None if name == ABSENT else blob for (path, name), blob in zip(names.items(), blobs, strict=True)}


def plans_of(commits: Sequence[Commit], sizes: Sizes) -> list[list[Commit]]:
    """Return plans of commits at equal distances, each with its oldest commit last."""
    span = sizes.tasks * sizes.distance
    plans = []
    for number in range(sizes.plans):
        start = number // sizes.distance * span + number % sizes.distance
        plans.append(list(commits[start : start + span : sizes.distance]))
    return [plan for plan in plans if len(plan) == sizes.tasks]


def samples_of(repository: Repository, plan: Sequence[Commit], index: SqliteIndex, weights: Weights) -> list[Sample]:
    """Return the tasks of a plan with their predictions, made from the state before its oldest commit."""
    base = plan[-1].parent
    git = Git(str(repository.place))
    library = index.of_revision(base)
    listed = repository.run("ls-tree", "-r", "-z", "--name-only", base).decode("utf-8", "surrogateescape")
    history = [PastCommit(*each) for each in past_commits(git, MOST_COMMITS, base)]
    predictor = Predictor(Project(listed.split("\0")[:-1], library, history), weights)
    limit = limit_for(predictor)
    return [Sample(each, predictor.signs(each.message), predictor.predict(each.message), limit) for each in plan]


def pairs_of(samples: Sequence[Sample]) -> Iterator[Pair]:
    """Yield all pairs of a plan."""
    works = [Work(Task(each.commit.id, ""), each.touches) for each in samples]
    for one, other in combinations(range(len(samples)), 2):
        # The older one is the later in the list.
        later, earlier = samples[one].commit, samples[other].commit
        shared = share_region(earlier, later)
        is_serial = overlap_of(works[one], works[other]).risk > samples[one].limit
        yield Pair(is_serial, shared, shared and collide(earlier, later))


def share_region(one: Commit, other: Commit) -> bool:
    """Whether two commits change a region in common."""
    return any(
        overlaps(mine, theirs)
        for path in one.regions.keys() & other.regions.keys()
        for mine in one.regions[path]
        for theirs in other.regions[path]
    )


def collide(earlier: Commit, later: Commit) -> bool:
    """Whether the changes of both, made to the state before the earlier one, need a decision in any file."""
    return any(
        not _is_proven(path, *earlier.files[path], *later.files[path])
        for path in earlier.files.keys() & later.files.keys()
    )


def _is_proven(path: str, base: bytes | None, ours: bytes | None, before: bytes | None, after: bytes | None) -> bool:
    """Whether the change `before` to `after`, carried over to `base`, is proven to go together with that to `ours`."""
    if base is None or ours is None or before is None or after is None:
        return False
    theirs = _carried_over(base, before, after)
    return theirs is not None and isinstance(merge(base, ours, theirs, path), Proven)


def _carried_over(base: bytes, before: bytes, after: bytes) -> bytes | None:
    """Return `base` with the change from `before` to `after`, merged by lines; None if it does not fit."""
    if base == before:
        return after
    with tempfile.TemporaryDirectory(prefix="commonhold-bench-") as folder:
        places = [Path(folder, name) for name in ("base", "before", "after")]
        for place, content in zip(places, (base, before, after), strict=True):
            place.write_bytes(content)
        command = ["git", "merge-file", "--stdout", *map(str, places)]
        done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - git, on files made here
    return done.stdout if done.returncode == 0 else None


def measure(repositories: Sequence[Repository], work: Path, sizes: Sizes) -> list[Figure]:
    """Return the figures of all repositories together, with the weights and the limit of the product."""
    pairs: list[Pair] = []
    for repository in repositories:
        own = [pair for samples in _plans(repository, work, sizes) for pair in pairs_of(samples)]
        broken, needless = shares(own)
        print(
            f"{repository}: {len(own)} pairs, {broken:.1%} of parallel ones collide, {needless:.1%} needless",
            flush=True,
        )
        pairs += own
    return figures(pairs)


def _plans(repository: Repository, work: Path, sizes: Sizes) -> Iterator[list[Sample]]:
    folder = work / str(repository)
    folder.mkdir(parents=True, exist_ok=True)
    commits = history_of(repository, sizes.plans * sizes.tasks + sizes.distance * sizes.tasks)
    with closing(SqliteIndex(str(folder), str(repository.place), Git(str(repository.place)), processes=1)) as index:
        for plan in plans_of(commits, sizes):
            yield samples_of(repository, plan, index, FITTED)


def figures(pairs: Sequence[Pair]) -> list[Figure]:
    """Return how the predictions do on these pairs."""
    broken, needless = shares(pairs)
    return [
        Figure("pairs of tasks", len(pairs), "pairs"),
        Figure("pairs that change a region in common", 100 * _share(pairs, "shares_region"), "%"),
        Figure("pairs that collide after validation", 100 * _share(pairs, "collides"), "%"),
        Figure("pairs that are serialised", 100 * _share(pairs, "is_serial"), "%"),
        at_most("pairs run in parallel that collide", 100 * broken, "%", 100 * _BROKEN),
        at_most("independent pairs that are serialised", 100 * needless, "%", 100 * _NEEDLESS),
    ]


def _share(pairs: Sequence[Pair], what: str) -> float:
    return sum(bool(getattr(pair, what)) for pair in pairs) / max(1, len(pairs))


def shares(pairs: Sequence[Pair]) -> tuple[float, float]:
    """Return two shares: of colliding pairs among those run in parallel, of serialised ones among the independent."""
    parallel = [pair for pair in pairs if not pair.is_serial]
    independent = [pair for pair in pairs if not pair.collides]
    broken = sum(pair.collides for pair in parallel) / max(1, len(parallel))
    return broken, sum(pair.is_serial for pair in independent) / max(1, len(independent))


def learn(repositories: Sequence[Repository], work: Path, sizes: Sizes) -> Weights:
    """Fit the weights to the files that the commits of these repositories changed, and print them."""
    samples = [plan for repository in repositories for plan in _plans(repository, work, sizes)]
    rows = [
        ((1.0, *astuple(signs)), path in sample.commit.files)
        for plan in samples
        for sample in plan
        for path, signs in sample.signs.items()
    ]
    weights = fitted(rows)
    print(f"Weights({weights[0]:.2f}, ({', '.join(f'{each:.2f}' for each in weights[1:])}))  # {', '.join(SIGNS)}")
    return Weights(weights[0], tuple(weights[1:]))


def fitted(rows: Sequence[tuple[Sequence[float], bool]]) -> list[float]:
    """Return the weights of a logistic regression with a small penalty, by Newton's method."""
    size = len(rows[0][0])
    weights = [0.0] * size
    for _ in range(_ROUNDS):
        slope = [-_RIDGE * weight for weight in weights]
        curve = [[_RIDGE * (one == other) for other in range(size)] for one in range(size)]
        for values, is_true in rows:
            chance = 1 / (1 + math.exp(-sum(weight * value for weight, value in zip(weights, values, strict=True))))
            present = [number for number in range(size) if values[number]]
            for one in present:
                slope[one] += (is_true - chance) * values[one]
                for other in present:
                    curve[one][other] += chance * (1 - chance) * values[one] * values[other]
        step = _solved(curve, slope)
        before = _loss(rows, weights)
        # A whole step can lead away where the curve is flat.
        while _loss(rows, [weight + each for weight, each in zip(weights, step, strict=True)]) > before:
            step = [each / 2 for each in step]
        weights = [weight + each for weight, each in zip(weights, step, strict=True)]
        if max(map(abs, step)) < 1e-4:  # noqa: PLR2004 - more digits than are printed
            break
    return weights


def _loss(rows: Sequence[tuple[Sequence[float], bool]], weights: Sequence[float]) -> float:
    """Return what the regression makes small: the surprise at what changed, and the penalty."""
    total = _RIDGE / 2 * sum(weight * weight for weight in weights)
    for values, is_true in rows:
        score = sum(weight * value for weight, value in zip(weights, values, strict=True))
        total += math.log1p(math.exp(-abs(score))) + max(score, 0.0) - score * is_true
    return total


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Return the solution of linear equations with a positive definite matrix, by elimination."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for pivot, row in enumerate(rows):
        for other in rows[pivot + 1 :]:
            factor = other[pivot] / row[pivot]
            for column in range(pivot, len(row)):
                other[column] -= factor * row[column]
    found = [0.0] * len(rows)
    for pivot in reversed(range(len(rows))):
        row = rows[pivot]
        known = sum(row[column] * found[column] for column in range(pivot + 1, len(rows)))
        found[pivot] = (row[-1] - known) / row[pivot]
    return found


def main() -> None:
    """Measure, or learn from, the repositories that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m bench.plan_check", description=__doc__)
    parser.add_argument("--repos", type=Path, nargs="+", required=True, help="git repositories with their history")
    parser.add_argument("--work", type=Path, required=True, help="where to keep the index of each")
    parser.add_argument("--plans", type=int, default=Sizes.plans, help="how many plans to make of each")
    parser.add_argument("--learn", action="store_true")
    chosen = parser.parse_args()
    repositories = [Repository(each) for each in chosen.repos]
    sizes = Sizes(plans=chosen.plans)
    if chosen.learn:
        learn(repositories, chosen.work, sizes)
    else:
        report("plan_check", measure(repositories, chosen.work, sizes))


if __name__ == "__main__":
    main()
