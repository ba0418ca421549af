"""The index of a large repository: made from nothing, then asked when nothing changed, and when something did.

`python -m bench.index FOLDER...`: each is a git repository, whose files are copied first.
"""

import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.reporting import Figure, report, seconds
from commonhold.index.index import SqliteIndex
from commonhold.machine.worker_process import usable_processors
from commonhold.workspace.git.process import Git

ROUNDS = 15
REVISIONS = 3


def measure(repository: Path) -> list[Figure]:
    """Figures for one repository, on a copy of it."""
    with tempfile.TemporaryDirectory(prefix="commonhold-bench-") as folder:
        root, state = Path(folder, "tree"), Path(folder, "state")
        subprocess.run(["git", "clone", "--quiet", "--local", str(repository), str(root)], check=True)  # noqa: S603, S607
        state.mkdir()
        cold = _cold(root, state)
        return [*cold, *_warm(root, state), *_revisions(root, state)]


def _open(root: Path, state: Path) -> SqliteIndex:
    return SqliteIndex(str(state), str(root), Git(str(root)))


def _cold(root: Path, state: Path) -> list[Figure]:
    index = _open(root, state)
    taken = seconds(index.library)
    paths = index.library().paths
    index.close()
    lines = sum((root / path).read_bytes().count(b"\n") for path in paths)
    ours, theirs = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    busy = theirs.ru_utime + theirs.ru_stime
    memory = (ours.ru_maxrss + usable_processors() * theirs.ru_maxrss) / 1024
    size = sum(place.stat().st_size for place in state.iterdir()) / 1e6
    return [
        Figure("files", len(paths), "files"),
        Figure("lines", lines, "lines"),
        Figure("from nothing", taken, "s", "<= 15 on two cores for Django"),
        Figure("from nothing: work of the processes", busy, "s"),
        Figure("from nothing: memory of all processes", memory, "MB", "<= 500"),
        Figure("the file of the index", size, "MB"),
    ]


def _warm(root: Path, state: Path) -> list[Figure]:
    index = _open(root, state)
    first = seconds(index.library)
    library = index.library()
    path = max(library.paths, key=lambda each: (root / each).stat().st_size)
    name = max(library.summary(path).offered_names, key=lambda each: len(tuple(library.users(each))))  # type: ignore[union-attr]
    place = root / path
    before = place.read_bytes()

    def edit(number: int) -> Callable[[], object]:
        place.write_bytes(before + b"# %d\n" % number)
        return index.library

    figures = [
        Figure("opened again", first * 1000, "ms"),
        Figure("nothing changed", _often(lambda _: index.library), "ms", "<= 10 for Django"),
        Figure("one file changed, the largest", _often(edit), "ms"),
        Figure("a candidate seen before", _often(lambda _: lambda: index.summary(path, before)), "ms"),
        Figure("who uses a name that many do", _often(lambda _: lambda: library.users(name)), "ms", "<< 1"),
    ]
    index.close()
    return figures


def _often(prepared: Callable[[int], Callable[[], object]]) -> float:
    return median(seconds(prepared(number)) for number in range(ROUNDS)) * 1000


def _revisions(root: Path, state: Path) -> list[Figure]:
    git = Git(str(root))
    names = (git.line("rev-list", f"--max-count={REVISIONS}", "HEAD") or "").split()
    index = _open(root, state)
    unseen = seconds(lambda: [index.of_revision(name) for name in names])
    index.close()
    index = _open(root, state)
    seen = seconds(lambda: [index.of_revision(name) for name in names])
    again = _often(lambda _: lambda: [index.of_revision(name) for name in names])
    index.close()
    return [
        Figure("revisions", len(names), "revisions"),
        Figure("revisions never seen", unseen * 1000, "ms"),
        Figure("revisions seen by another process", seen * 1000, "ms", "<= 100 for click"),
        Figure("revisions seen by this one", again, "ms"),
    ]


def main() -> None:
    """Measure the repositories that are named."""
    assert shutil.which("git"), "there is no git"
    for folder in sys.argv[1:]:
        report(f"index-{Path(folder).name}", measure(Path(folder)))


if __name__ == "__main__":
    main()
