"""Projects whose suites can be run: their repositories, the commits that are looked at, and their files."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench.merging.repository import Repository

# One environment has what the suites of all three need; what a checkout has itself goes before what is installed.
NEEDED: Final = (
    "pytest==8.4.2", "trio==0.32.0", "markupsafe==3.0.3", "werkzeug==3.1.3", "itsdangerous==2.2.0", "blinker==1.9.0",
    "asgiref==3.13.0", "python-dotenv==1.2.4", "greenlet==3.5.6", "jinja2==3.1.6", "click==8.5.1", "flask==3.1.3",
)  # fmt: skip
_OLD: Final = (
    "pytest==7.4.4", "trio==0.22.2", "markupsafe==2.1.5", "itsdangerous==2.1.2", "blinker==1.8.2", "asgiref==3.7.2",
    "python-dotenv==1.0.1", "greenlet==3.1.1", "jinja2==3.1.4", "click==8.1.8",
)  # fmt: skip
# What the suites of older commits need, the newest first.
ERAS: Final = (NEEDED, *((*_OLD, f"werkzeug=={each}") for each in ("3.0.6", "2.3.8", "2.2.3")))
# The releases whose functions are changed, where a project is one of these; HEAD of any other.
RELEASES: Final = {"flask": "3.1.3", "click": "8.5.0"}
# The first collects 31,000 repetitions of a test that it then leaves out, which takes as long as all others; the second
# holds tracebacks to the words of one version of Python.
_LEFT_OUT: Final = ("tests/test_stream_lifecycle.py", "tests/test_debug.py")
OPTIONS: Final = ("--tb=short", *(f"--ignore={path}" for path in _LEFT_OUT))
SUITE: Final = ("tests",)
SECONDS: Final = 180.0


@dataclass(frozen=True)
class Project:
    """A project at one commit, with the bytes of all its files."""

    name: str
    place: Path
    commit: str
    files: dict[str, bytes] = field(repr=False, compare=False)

    @property
    def sources(self) -> dict[str, bytes]:
        """What the project is made of, less its tests, examples and documents."""
        return {path: source for path, source in self.files.items() if path.startswith("src/") and is_python(path)}


def is_python(path: str) -> bool:
    """Whether a file is Python's, by its name."""
    return path.endswith(".py")


def project(repository: Repository) -> Project:
    """A project at the commit whose functions are changed."""
    commit = repository.run("rev-parse", f"{RELEASES.get(str(repository), 'HEAD')}^{{commit}}").decode().strip()
    return Project(str(repository), repository.place, commit, tree(repository, commit))


def tree(repository: Repository, commit: str) -> dict[str, bytes]:
    """The bytes of every file of a commit; links and submodules are left out."""
    said = repository.run("ls-tree", "-r", "-z", commit).decode(errors="surrogateescape")
    rows = [row.partition("\t") for row in said.split("\0")[:-1]]
    found = {path: head.split()[2] for head, _, path in rows if head.startswith("100")}
    blobs = repository.blobs(list(found.values()))
    return {path: blob for path, blob in zip(found, blobs, strict=True) if blob is not None}


def changed_commits(repository: Repository, count: int) -> list[tuple[str, str]]:
    """The newest commits that changed a file of Python's, as (first parent, commit), newest first."""
    said = repository.run("log", "--first-parent", f"-{count}", "--format=%P %H", "HEAD", "--", "*.py")
    rows = [line.split() for line in said.decode().splitlines()]
    return [(row[0], row[-1]) for row in rows if len(row) > 1]


def named(repositories: Iterable[Repository], names: Iterable[str]) -> list[Repository]:
    """Those of the repositories that go by these names."""
    wanted = set(names)
    return [each for each in repositories if str(each) in wanted]
