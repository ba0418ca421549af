"""How long the workspace of a managed session takes: an overlay, and a plain git worktree, in two repositories.

They lie in the folder for temporary files: TMPDIR=/dev/shm measures without a disk.
"""

import argparse
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from statistics import median
from tempfile import mkdtemp
from typing import TypeVar

from bench.reporting import Figure, at_most, report
from commonhold.config import OverlayUse, Settings
from commonhold.kernel.managed_session import ManagedSession
from commonhold.session_host.session_files import SessionFiles, WorkspaceNote
from commonhold.session_host.worktrees import Worktrees
from commonhold.workspace.git.process import Git
from commonhold.workspace.repository import find_repository

T = TypeVar("T")
SIZES = (50_000, 200_000)
ROUNDS = 5
MOST_SECONDS = 0.1
MOST_TIMES = 2.0
_PER_FOLDER = 50
_LINE = b"value = compute(argument, other_argument)  # of file %d\n"


class Bench:
    """A repository with many files, whose sessions have workspaces of one kind or the other."""

    def __init__(self, folder: Path, files: int) -> None:
        """Make it in `folder`, with one commit."""
        self.root = folder / "project"
        subprocess.run(("git", "init", "--quiet", "--initial-branch=main", self.root), check=True)  # noqa: S603, S607
        stream = b"".join(_stream(files))
        subprocess.run(("git", "fast-import", "--quiet"), cwd=self.root, input=stream, check=True)  # noqa: S607
        subprocess.run(("git", "reset", "--quiet", "--mixed"), cwd=self.root, check=True)  # noqa: S607
        self.base = Git(str(self.root)).ask("rev-parse", "HEAD").decode().strip()
        self.folder = folder
        self._numbers = count(1)

    def worktrees(self, use: OverlayUse) -> Worktrees:
        """Return the workspaces of one kind."""
        settings = Settings(workspaces=str(self.folder / use), overlays=use)
        return Worktrees(Git(str(self.root)), SessionFiles.of(find_repository(str(self.root)), settings))

    def made(self, use: OverlayUse) -> tuple[float, Worktrees, WorkspaceNote]:
        """Make a workspace as a supervisor does, and return how many seconds that took."""
        worktrees = self.worktrees(use)
        session = ManagedSession(f"s{next(self._numbers)}", "x", "x", self.base, str(self.root), "")
        seconds, note = timed(lambda: worktrees.make(session, 1))
        return seconds, worktrees, note


def _stream(files: int) -> Iterator[bytes]:
    """Yield a commit with that many files of two kilobytes, for `git fast-import`."""
    yield b"commit refs/heads/main\ncommitter b <b> 1700000000 +0000\ndata 1\nx\n"
    for number in range(files):
        content = _LINE % number * 40
        folder = number // _PER_FOLDER
        name = b"p%d/m%d/f%d.py" % (folder // _PER_FOLDER, folder % _PER_FOLDER, number)
        yield b"M 100644 inline %s\ndata %d\n%s\n" % (name, len(content), content)


def timed(call: Callable[[], T]) -> tuple[float, T]:
    """Return how many seconds a call takes, and its result."""
    begun = time.perf_counter()
    result = call()
    return time.perf_counter() - begun, result


def processor() -> float:
    """Return the seconds of a processor that this process and its children have spent: other work adds nothing."""
    return sum(sum(getrusage(who)[:2]) for who in (RUSAGE_SELF, RUSAGE_CHILDREN))


@contextmanager
def repository(files: int) -> Iterator[Bench]:
    """Yield one of that size, below the folder for temporary files."""
    folder = Path(mkdtemp(prefix="commonhold-bench-"))
    try:
        yield Bench(folder, files)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def figures_of(files: int, rounds: int) -> Iterator[Figure]:
    """Measure both kinds in turn, so that noise hits both."""
    size = f"{files:,} files"
    with repository(files) as bench:
        first, worktrees, note = bench.made(OverlayUse.ALWAYS)
        worktrees.remove(note)
        yield Figure(f"{size}: the first overlay, with its base", first, "s")
        spent: dict[str, list[float]] = {}
        for _ in range(rounds):
            for use, name in ((OverlayUse.ALWAYS, "overlay"), (OverlayUse.NEVER, "git worktree")):
                before = processor()
                seconds, worktrees, note = bench.made(use)
                steps = {
                    f"{name} made": seconds,
                    f"{name} made, processor": processor() - before,
                    f"{name}, git status": timed(lambda: Git(note.path).ask("status", "--porcelain"))[0],  # noqa: B023
                    f"{name}, work kept": timed(lambda: worktrees.harvest(note))[0],  # noqa: B023
                    f"{name} removed": timed(lambda: worktrees.remove(note))[0],  # noqa: B023
                }
                for step, took in steps.items():
                    spent.setdefault(step, []).append(took)
        middle = {step: median(all_of_it) for step, all_of_it in spent.items()}
        for step, took in middle.items():
            name = f"{size}: {step}"
            has_goal = step.startswith("overlay made")
            yield at_most(name, took, "s", MOST_SECONDS) if has_goal else Figure(name, took, "s")
        ratio = middle["git worktree made, processor"] / middle["overlay made, processor"]
        yield Figure(f"{size}: git worktree against overlay, processor", ratio, "times")


def measured(sizes: tuple[int, ...], rounds: int) -> list[Figure]:
    """Return all figures, and the ratio of the largest to the smallest repository."""
    figures = [each for files in sizes for each in figures_of(files, rounds)]
    made = [each.value for each in figures if each.name.endswith("overlay made, processor")]
    growth = made[-1] / made[0]
    return [*figures, at_most("overlay made, processor: the largest against the smallest", growth, "times", MOST_TIMES)]


def main() -> None:
    """Measure, and write the report."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="the numbers of files")
    options.add_argument("--rounds", type=int, default=ROUNDS)
    given = options.parse_args()
    report("session-workspaces", measured(tuple(given.sizes), given.rounds))


if __name__ == "__main__":
    main()
