"""How long merging a branch of 1,000 changed files takes: ours against git's own plus the gate.

The gate looks at the files that both sides changed, and at all changed ones for what one side does that bears on the
other's; its time is measured apart, in this process.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Final

from bench.merging.repository import WHO
from bench.reporting import Figure, at_most, report, seconds
from commonhold.merging.merge import merge
from commonhold.merging.tree import Changed, bearings

FILES, SHARED, ROUNDS = 1000, 100, 3
FUNCTIONS: Final = 6
GIT: Final = ("git", "merge", "--quiet", "--no-edit")
OURS: Final = (sys.executable, "-m", "commonhold")


def measure() -> None:
    """Measure both in turn, each from the same state."""
    if subprocess.run([*OURS, "merge", "--help"], capture_output=True, check=False).returncode:  # noqa: S603 - ours
        print("\nmerging-tree: left out, since there is no `commonhold merge` yet")
        return
    with tempfile.TemporaryDirectory(prefix="bench-merging-") as folder:
        tree = _Tree(Path(folder))
        rounds = [
            (tree.timed(*GIT, "theirs"), _gate(), seconds(_begin), tree.timed(*OURS, "merge", "theirs"))
            for _ in range(ROUNDS)
        ]
    git, gate, begin, ours = map(median, zip(*rounds, strict=True))
    report(
        "merging-tree",
        [
            Figure(f"git, {FILES} files changed, {SHARED} by both sides", git, "s"),
            Figure("the gate: what both sides changed, and what bears on it", gate, "s"),
            Figure("starting ours and doing nothing", begin, "s"),
            Figure("commonhold merge", ours, "s"),
            at_most("ours against git plus the gate", ours / (git + gate), "ratio", 1.5),
        ],
    )


def _begin() -> None:
    subprocess.run([*OURS, "--version"], capture_output=True, check=True)  # noqa: S603 - ours


def _text(ours: str = "", theirs: str = "") -> str:
    """A file of a few functions; each side changes another of them."""
    changed = {0: ours, FUNCTIONS - 1: theirs}
    return "\n\n".join(
        f"def work_{number}(given, limit=10):\n"
        f'    """Do the work of kind {number}."""\n'
        f"    found = []\n"
        f"{changed.get(number, '')}"
        f"    for each in given:\n"
        f"        if each % {number + 2} < limit:\n"
        f"            found.append(each)\n"
        f"    return found\n"
        for number in range(FUNCTIONS)
    )


BASE: Final = _text()
MINE: Final = _text(ours="    limit = min(limit, 99)\n")
OTHER: Final = _text(theirs="    given = list(given)\n")


def _gate() -> float:
    base, ours, theirs = (source.encode() for source in (BASE, MINE, OTHER))
    files = [Changed(f"part{number}.py", base, ours if number < SHARED else base, theirs) for number in range(FILES)]

    def look() -> None:
        for file in files[:SHARED]:
            merge(base, ours, theirs, file.path)
        bearings(files)

    return seconds(look)


class _Tree:
    """A repository of two branches."""

    def __init__(self, folder: Path) -> None:
        """Make it in `folder`."""
        self._folder = folder
        self._run("git", "init", "--quiet", "--initial-branch", "main")
        for name, value in (("user.name", WHO["GIT_AUTHOR_NAME"]), ("user.email", WHO["GIT_AUTHOR_EMAIL"])):
            self._run("git", "config", name, value)
        self._commit(BASE, FILES)
        self._run("git", "checkout", "--quiet", "-b", "theirs")
        self._commit(OTHER, FILES)
        self._run("git", "checkout", "--quiet", "main")
        self._commit(MINE, SHARED)
        self._run("git", "tag", "start")

    def timed(self, *command: str) -> float:
        """How long the command takes, from the start; it must succeed."""
        self._run("git", "reset", "--quiet", "--hard", "start")
        return seconds(lambda: self._run(*command))

    def _commit(self, text: str, files: int) -> None:
        for number in range(files):
            path = self._folder / f"folder{number % 20}" / f"part{number}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self._run("git", "add", "--all")
        self._run("git", "commit", "--quiet", "--message", "change")

    def _run(self, *command: str) -> None:
        subprocess.run(command, cwd=self._folder, capture_output=True, check=True)  # noqa: S603 - git, or ours
