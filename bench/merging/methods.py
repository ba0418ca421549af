"""Ways to make one tree of two: git's, the union of lines, and ours."""

import subprocess
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product
from pathlib import Path
from time import perf_counter

from bench.merging.repository import Changes, Repository, Said
from commonhold.merging.merge import merge
from commonhold.merging.tree import Changed, bearings
from commonhold.merging.verdict import Candidate, Proven, Reason, Sides, Spot, Unproven

Answers = Mapping[str, Proven | Unproven]
"""What ours says of each file that both sides changed."""


@dataclass(frozen=True)
class Versions:
    """A tree's base and what each side made of it."""

    base: Changes
    ours: Changes
    theirs: Changes

    def contested(self) -> list[str]:
        """The files that both sides changed, each in its own way."""
        return sorted(path for path in {*self.ours} & {*self.theirs} if self.ours[path] != self.theirs[path])

    def uncontested(self) -> dict[str, bytes | None]:
        """What only one side changed, or both alike."""
        contested = {*self.contested()}
        return {path: source for path, source in {**self.ours, **self.theirs}.items() if path not in contested}

    def of(self, path: str) -> tuple[bytes, bytes, bytes]:
        """Base, ours and theirs; empty where there is none."""
        return self.base.get(path) or b"", self.ours[path] or b"", self.theirs[path] or b""


def by_git(store: Repository, base: str, ours: str, theirs: str) -> Changes | None:
    """What git makes of two commits; None if it meets a conflict."""
    done = store.attempt("merge-tree", "--write-tree", "--no-messages", ours, theirs)
    if done.returncode:
        return None
    return store.changes(base, done.stdout.decode().split()[0])


def by_union(versions: Versions) -> Changes | None:
    """What git makes of each file when it keeps the lines of both; None if a side removed one."""
    paths = versions.contested()
    if any(side[path] is None for side in (versions.ours, versions.theirs) for path in paths):
        return None
    return {**versions.uncontested(), **{path: lines_of_both(*versions.of(path)) for path in paths}}


def lines_of_both(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """One file with the lines of both sides at each conflict."""
    return merge_file("--union", base, ours, theirs).stdout


def merge_file(option: str, base: bytes, ours: bytes, theirs: bytes) -> Said:
    """What `git merge-file` says; its status counts conflicts."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("ours", "base", "theirs")]
        for path, source in zip(paths, (ours, base, theirs), strict=True):
            path.write_bytes(source)
        command = ["git", "merge-file", "-p", "-q", *([option] if option else []), *map(str, paths)]
        return subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - git on our own files


@dataclass(frozen=True)
class Answered:
    """Our merge of a tree, file by file, before anything is tried."""

    settled: Changes
    answers: Answers
    seconds: float
    crashes: Mapping[str, str] = field(default_factory=dict)
    met: Mapping[str, Spot] = field(default_factory=dict)

    @property
    def is_proven(self) -> bool:
        """Whether every file is, and nothing bears on another."""
        return not self.unproven and not self.met

    @property
    def unproven(self) -> dict[str, Unproven]:
        """The files that cannot be shown to merge."""
        return {path: each for path, each in self.answers.items() if isinstance(each, Unproven)}

    def spots(self) -> Iterator[tuple[str, Spot]]:
        """Every spot, with its file."""
        yield from ((path, spot) for path, each in self.unproven.items() for spot in each.spots)
        yield from self.met.items()

    def notes(self) -> list[str]:
        """What was joined, where it was proven."""
        return [note for each in self.answers.values() if isinstance(each, Proven) for note in each.notes]

    def composed(self) -> Changes:
        """The tree, if all is proven."""
        proven = {path: each.source for path, each in self.answers.items() if isinstance(each, Proven)}
        return {**self.settled, **proven}

    def candidates(self, most: int) -> Iterator[tuple[Changes, str]]:
        """Trees that may be meant, at most `most`, the likeliest of every file first."""
        if self.crashes:
            return iter(())
        paths = list(self.unproven)
        lists = [list(islice(each.candidates(), most)) for each in self.unproven.values()]
        ranked = sorted(product(*(list(enumerate(each)) for each in lists)), key=lambda row: sum(at for at, _ in row))
        return (self._with(dict(zip(paths, (each for _, each in row), strict=True))) for row in ranked[:most])

    def _with(self, chosen: Mapping[str, Candidate]) -> tuple[Changes, str]:
        sources = {path: each.source for path, each in chosen.items()}
        return {**self.composed(), **sources}, "; ".join(f"{path}: {each.how}" for path, each in chosen.items())


def by_us(versions: Versions, sides: Sides) -> Answered:
    """What our merge says of each file that both sides changed. A crash is an answer too: it is to be counted."""
    answers: dict[str, Proven | Unproven] = {}
    crashes: dict[str, str] = {}
    start = perf_counter()
    for path in versions.contested():
        try:
            answers[path] = merge(*versions.of(path), path, sides)
        except Exception as error:  # noqa: BLE001 - merging promises never to raise; whether it does is measured
            crashes[path] = traceback.format_exc()
            answers[path] = Unproven((Spot(Reason.NOT_SOUND, f"merging crashed: {error!r}"),))
    met = _met(versions)
    return Answered(versions.uncontested(), answers, perf_counter() - start, crashes, met)


def _met(versions: Versions) -> Mapping[str, Spot]:
    """What one side did in one file that bears on what the other did in another."""
    paths = {*versions.ours, *versions.theirs}
    files = [
        Changed(path, base, versions.ours.get(path, base), versions.theirs.get(path, base))
        for path, base in ((path, versions.base.get(path)) for path in sorted(paths))
    ]
    return {f"{each.ours_path} and {each.theirs_path}": each.spot for each in bearings(files)}
