"""What a shell command of an agent costs beside itself in a large repository, the daemon warm.

Each command is run in turn by itself and through `commonhold exec`, in one repository; what it costs beside itself is
the median of the differences. The files are copies of the standard library.
"""

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path
from statistics import median
from typing import Final

from bench.contention.served import repository
from bench.git import record
from bench.reporting import Figure, at_most, report, seconds
from commonhold.client.launcher import launching
from commonhold.workspace.daemon_files import http_address
from commonhold.workspace.repository import find_repository

MOST_BYTES: Final = 60_000
HOLDER: Final = "bench"
IDENTITY: Final = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "bench"), ("EMAIL", "bench@example.invalid"))
}
FILE: Final = "copy0/abc.py"
NEW: Final = f"date +%N >> {FILE}"
COMMIT: Final = f"{NEW}; git add -A && git commit -qm bench"


@dataclass(frozen=True)
class Sizes:
    """How many files there are, and how often each command is run."""

    files: int = 20_000
    rounds: int = 25


QUICK: Final = Sizes(60, 2)
Command = Sequence[str]


def fill(root: Path, files: int) -> None:
    """Lay so many modules of the standard library into `root`, with a rule about what is ignored, and commit them."""
    library = Path(sysconfig.get_path("stdlib"))
    found = (path for path in sorted(library.rglob("*.py")) if "site-packages" not in path.parts)
    modules = [path for path in found if path.stat().st_size < MOST_BYTES]
    copies = ((number, path) for number in count() for path in modules)
    for number, path in islice(copies, files):
        place = root / f"copy{number}" / path.relative_to(library)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    (root / FILE).touch()
    (root / ".gitignore").write_text("__pycache__/\nbuild/\n")
    record(root)


@contextmanager
def served(files: int) -> Iterator[Path]:
    """Such a repository, with its daemon."""
    with repository(lambda root: fill(root, files)) as root:
        yield root


@dataclass(frozen=True)
class Bench:
    """Runs commands in a repository, by themselves and through us."""

    root: Path
    rounds: int

    def run(self, command: Command) -> None:
        """Run a command, which must succeed."""
        environment = {**os.environ, **IDENTITY}
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
        assert done.returncode == 0, (command, done.stdout, done.stderr)

    def compared(self, ours: Command, theirs: Command) -> tuple[float, float]:
        """The median of what ours takes longer, and of what theirs takes, in milliseconds."""
        run: Callable[[Command], float] = lambda command: seconds(partial(self.run, command)) * 1e3  # noqa: E731
        run(ours)
        pairs = [(run(ours), run(theirs)) for _ in range(self.rounds)]
        return median(mine - other for mine, other in pairs), median(other for _, other in pairs)

    def figures(self) -> Iterator[Figure]:
        """All figures."""
        program = [str(Path(sys.executable).with_name("commonhold")), "exec", "--agent", HOLDER, "--"]
        address = http_address(find_repository(str(self.root)).state_folder)
        launcher = launching(address, HOLDER, "deny", ())
        nothing, look, change, commit = ["true"], ["git", "status"], ["sh", "-c", NEW], ["sh", "-c", COMMIT]
        over, bare = self.compared([*program, *nothing], nothing)
        yield at_most("commonhold exec -- true, beside true", over, "ms", 60)
        yield Figure("true", bare, "ms")
        interpreter = [sys.executable, "-I", "-S", "-c", "pass"]
        over, bare = self.compared([*launcher, *nothing], interpreter)
        yield Figure("an agent's shell that runs true, beside an interpreter", over, "ms")
        yield Figure("an interpreter", bare, "ms")
        over, _ = self.compared([*launcher, *change], change)
        yield Figure("a command that changes a file, beside itself", over, "ms")
        over, bare = self.compared([*launcher, *look], look)
        yield at_most("git status in an agent's shell, beside itself", over, "ms", 100)
        yield Figure("git status", bare, "ms")
        over, bare = self.compared([*launcher, *commit], commit)
        yield Figure("git add -A && git commit in an agent's shell, beside itself", over, "ms")
        yield Figure("git add -A && git commit", bare, "ms")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all, one after the other."""
    parser = argparse.ArgumentParser(prog="python -m bench.exec_overhead")
    parser.add_argument("--quick", action="store_true", help="only show that it works")
    sizes = QUICK if parser.parse_args(arguments).quick else Sizes()
    with served(sizes.files) as root:
        figures = [Figure("files", sizes.files, "files"), *Bench(root, sizes.rounds).figures()]
    report("exec", figures)


if __name__ == "__main__":
    main()
