"""How long each level takes beyond what cannot be saved, and how much memory an index needs while it is made."""

import ast
import gc
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Final

from bench.git import record
from bench.merging.repository import Repository
from bench.processes import memory_megabytes
from bench.reporting import Figure, report, seconds
from bench.semantics.mutants import SEED, Kind, Mutant, mutants
from bench.semantics.projects import Project, is_python, project
from bench.semantics.typed import Typed
from bench.semantics.verdicts import Admission
from commonhold.code.analysis import admission
from commonhold.code.analysis.repository.examination import examine
from commonhold.code.analysis.repository.library import Overlay
from commonhold.code.regions.discover import discover
from commonhold.code.regions.region import RegionMap
from commonhold.index.index import SqliteIndex
from commonhold.workspace.git.process import Git

FILES, EDITS, ROUNDS = 60, 60, 3
LIMITS: Final = {Kind.REQUIRED: EDITS}
SMALL, LARGE = 2_000, 60_000
TICK: Final = 0.02
# What the measured process does: make the index of the folder that it is given, with a state folder of its own.
COLD: Final = """
import sys, time
from commonhold.workspace.git.process import Git
from commonhold.index.index import SqliteIndex
start = time.perf_counter()
index = SqliteIndex(sys.argv[2], sys.argv[1], Git(sys.argv[1]), processes=2)
print(len(index.library().paths), time.perf_counter() - start)
"""


def measure(tree: Path | None, repositories: Iterable[Repository], python: str) -> None:
    """Measure what there is data for."""
    known = {str(each): each for each in repositories}
    figures: list[Figure] = []
    if "flask" in known:
        flask = project(known["flask"])
        figures += [*_same_file(flask), *_types(flask, python)]
    if tree is not None:
        with tempfile.TemporaryDirectory(prefix="bench-semantics-") as folder:
            figures += _large(_copied(tree, Path(folder) / "tree"), Path(folder))
    if figures:
        report("semantics-speed", figures)


def _spread(name: str, times: Iterable[float], goal: str) -> list[Figure]:
    found = [each * 1e3 for each in times]
    tail = quantiles(found, n=20)[-1]
    half = Figure(f"{name}: median of {len(found)}", median(found), "ms", goal)
    return [half, Figure(f"{name}: 19 of 20 within", tail, "ms")]


def _same_file(known: Project) -> list[Figure]:
    """A required parameter added, examined within the file, less what Python's own parser takes for both texts."""
    own, ratios = [], []
    for mutant in mutants(known.sources, LIMITS):
        source = known.sources[mutant.path]
        before, after = discover(source, mutant.path), discover(mutant.source, mutant.path)
        changed = _changed(before, after)
        whole = min(_busy(lambda: admission.examine(before, after, changed)) for _ in range(ROUNDS))  # noqa: B023 - called at once
        parsing = min(_busy(lambda: (ast.parse(source), ast.parse(mutant.source))) for _ in range(ROUNDS))  # noqa: B023
        own.append(whole - parsing)
        ratios.append(whole / parsing)
    against = Figure("same file, all of it against parsing both texts", median(ratios), "ratio")
    return [*_spread("same file, beyond parsing", own, "≤ 5"), against]


def _changed(before: RegionMap, after: RegionMap) -> list[admission.Changed]:
    old = {leaf.key: leaf.hash for leaf in before.leaves()}
    return [admission.Changed(leaf.key, leaf.key) for leaf in after.leaves() if old.get(leaf.key) != leaf.hash]


def _types(known: Project, python: str) -> list[Figure]:
    """What the type checker adds to the verdict on a changed signature, once it knows the tree."""
    with Typed(python) as typed:
        checker = typed.holding(known.files)
        tied, both = Admission(known.files), Admission(known.files, checker)
        first, *edits = [{mutant.path: mutant.source} for mutant in mutants(known.sources, LIMITS)]
        start = seconds(lambda: both.verdict(first))
        added = [seconds(partial(both.verdict, edit)) - seconds(partial(tied.verdict, edit)) for edit in edits]
    cold = Figure("types, the first verdict (the checker starts)", start, "s")
    return [*_spread(f"types, on {known.name}", added, "≤ 200"), cold]


def _copied(tree: Path, folder: Path) -> Path:
    """The tree as a repository of git's, as agents have it."""
    for path in sorted(path for path in tree.rglob("*") if path.is_file() and ".git" not in path.parts):
        target = folder / path.relative_to(tree)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    record(folder)
    return folder


def _large(tree: Path, folder: Path) -> list[Figure]:
    state = folder / "state"
    (count, cold), peak = _watched([sys.executable, "-c", COLD, str(tree), str(state)])
    with closing(SqliteIndex(str(state), str(tree), Git(str(tree)))) as index:
        opening = seconds(index.library)
        edits = list(_edits(tree))
        gc.collect()
        times = [_indexed(index, mutant) for mutant in edits]
    return [
        Figure(f"index, cold: {count:.0f} files, two processes", cold, "s", "≤ 15"),
        Figure("index, cold: memory of all processes at most", peak, "MB", "≤ 500"),
        Figure("index, opened again", opening, "s"),
        *_spread("index, warm: a changed signature", times, "≤ 20"),
    ]


def _indexed(index: SqliteIndex, mutant: Mutant) -> float:
    """The look whether any file changed, the summary of the new text, and the examination of the whole repository."""

    def ask() -> None:
        library = index.library()
        after = Overlay(library, {mutant.path: index.summary(mutant.path, mutant.source)})
        examine(library, after, [mutant.path])

    return _busy(ask)


def _busy(work: Callable[[], object]) -> float:
    """How long this process works at it: what others do on the machine does not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def _edits(tree: Path) -> Iterator[Mutant]:
    paths = [path for path in sorted(tree.rglob("*.py")) if "tests" not in path.parts]
    sizes = [path for path in paths if is_python(path.name) and SMALL < path.stat().st_size < LARGE]
    chosen = random.Random(SEED).sample(sizes, min(FILES, len(sizes)))  # noqa: S311 - the same each time
    files: Mapping[str, bytes] = {path.relative_to(tree).as_posix(): path.read_bytes() for path in chosen}
    yield from mutants(files, LIMITS)


def _watched(command: list[str]) -> tuple[tuple[float, ...], float]:
    """The numbers that a process prints, and how many megabytes it and its children had at most together."""
    started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - this interpreter
    peak = 0.0
    while started.poll() is None:
        peak = max(peak, memory_megabytes(started.pid))
        time.sleep(TICK)
    said, _ = started.communicate()
    assert started.returncode == 0, "the index could not be made"
    return tuple(map(float, said.split())), peak
