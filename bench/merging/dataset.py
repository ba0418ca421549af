"""Tasks of two or more features, each made apart on the same commit, in the layout of CooperBench.

`dataset/<project>_task/task<id>/` holds `setup.sh`, which names the commit, `runner.sh`, which names the tests to run,
and `feature<N>/{feature.patch,tests.patch}`.
"""

import hashlib
import pickle
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Final

from bench.merging.repository import Changes, Repository

BASE: Final = re.compile(r'^BASE_COMMIT="?([0-9a-f]{40})', re.MULTILINE)
TESTS: Final = re.compile(r"^(?:\S+ )?(?:-m )?pytest ((?:[\w./-]+\.py ?)+)", re.MULTILINE)
TEST_FILE: Final = re.compile(r"(?:^|/)test_[^/]*\.py$")
TEST_FILES: Final = ("tests/*", "*/tests/*", "test_*.py", "*/test_*.py", "*/conftest.py")


@dataclass(frozen=True)
class Feature:
    """One feature: its commit, what it changes, and the tests that come with it."""

    number: int
    commit: str
    changes: Changes
    tests: Changes


@dataclass(frozen=True)
class Task:
    """Features that were made apart on the same commit. `base` holds every file that any of them changes.

    `suites` are the test files to run for each feature, `tests` all that the project has.
    """

    name: str
    commit: str
    suites: tuple[str, ...]
    tests: tuple[str, ...]
    features: tuple[Feature, ...]
    base: Changes

    @property
    def pairs(self) -> Iterator[tuple[Feature, Feature]]:
        """Every two of its features."""
        return combinations(self.features, 2)


class Dataset:
    """The tasks whose commits are in one of the repositories that `store` sees."""

    def __init__(self, source: Repository, store: Repository) -> None:
        """Read tasks from `source`, write their trees to `store`."""
        self._source, self._store = source, store

    def names(self) -> list[str]:
        """Every task, as `click/task2068`."""
        return list(self._folders)

    @cached_property
    def _folders(self) -> dict[str, str]:
        listed = self._source.run("ls-tree", "-r", "--name-only", "HEAD", "dataset/").decode().splitlines()
        folders = (path.removesuffix("/setup.sh") for path in listed if path.endswith("/setup.sh"))
        return {_short(each): each for each in folders}

    def has_commit(self, name: str) -> bool:
        """Whether the commit that the task begins with is at hand."""
        return self._store.holds(self._commit(name))

    def _commit(self, name: str) -> str:
        found = BASE.search(self._source.text(f"HEAD:{self._folders[name]}/setup.sh"))
        return found[1] if found else ""

    def task(self, name: str) -> Task:
        """The task, with a commit for each of its features; what was read once is kept beside the store."""
        path = self._store.place.with_name("tasks") / f"{name.replace('/', '-')}-{self._version}.pickle"
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            written = path.with_suffix(".part")
            written.write_bytes(pickle.dumps(self._read(name)))
            written.replace(path)
        task: Task = pickle.loads(path.read_bytes())  # noqa: S301 - we wrote it
        return task

    @cached_property
    def _version(self) -> str:
        """Another one as soon as the data, or the way to read it, is another."""
        head = self._source.run("rev-parse", "HEAD")
        return hashlib.sha256(head + Path(__file__).read_bytes()).hexdigest()[:12]

    def _read(self, name: str) -> Task:
        folder, commit = self._folders[name], self._commit(name)
        runner = TESTS.search(self._source.text(f"HEAD:{folder}/runner.sh").replace("python -m ", ""))
        if not runner:
            raise ValueError(f"{name}: runner.sh names no tests")
        listed = self._source.run("ls-tree", "-d", "--name-only", "HEAD", f"{folder}/").decode().splitlines()
        numbers = sorted(int(found[1]) for each in listed if (found := re.search(r"/feature(\d+)$", each)))
        features = tuple(self._feature(f"{folder}/feature{number}", number, commit) for number in numbers)
        paths = sorted({path for each in features for path in (*each.changes, *each.tests)})
        base = dict(zip(paths, self._store.blobs([f"{commit}:{path}" for path in paths]), strict=True))
        return Task(name, commit, tuple(runner[1].split()), self._tests(commit), features, base)

    def _tests(self, commit: str) -> tuple[str, ...]:
        listed = self._store.run("ls-tree", "-r", "--name-only", commit).decode().splitlines()
        return tuple(path for path in listed if TEST_FILE.search(path))

    def _feature(self, folder: str, number: int, commit: str) -> Feature:
        product = self._applied(f"{folder}/feature.patch", commit, [f"--exclude={each}" for each in TEST_FILES])
        tests = self._applied(f"{folder}/tests.patch", commit, [])
        return Feature(number, product, self._store.changes(commit, product), self._store.changes(commit, tests))

    def _applied(self, patch: str, commit: str, options: Sequence[str]) -> str:
        given = self._source.run("cat-file", "blob", f"HEAD:{patch}")
        with tempfile.TemporaryDirectory() as folder:
            index = Path(folder) / "index"
            self._store.run("read-tree", commit, index=index)
            leniently = ["--ignore-whitespace", "--whitespace=nowarn"]
            plain = self._store.attempt("apply", "--cached", *leniently, *options, given=given, index=index)
            if plain.returncode:
                self._store.run("apply", "--cached", "--3way", *options, given=given, index=index)
            tree = self._store.run("write-tree", index=index).decode().strip()
        return self._store.commit(tree, [commit])


def _short(folder: str) -> str:
    project, task = folder.split("/")[-2:]
    return f"{project.removesuffix('_task').rpartition('_')[2]}/{task}"
