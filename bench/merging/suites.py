"""A feature's own tests, run on a composed tree; what they said is kept, so that it is asked once."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Final

from bench.merging.dataset import Feature, Task
from bench.merging.repository import Changes, Repository

SERVER: Final = Path(__file__).with_name("suite_server.py")
SECONDS: Final = 60.0


@dataclass(frozen=True)
class Outcome:
    """Whether the tests passed, and the end of what they said."""

    passed: bool
    said: str = ""


class Outcomes:
    """What was seen before, by what was tested."""

    def __init__(self, path: Path) -> None:
        """Open, or begin, the record at `path`."""
        self._rows = sqlite3.connect(path, timeout=60.0, isolation_level=None)
        self._rows.execute("CREATE TABLE IF NOT EXISTS outcomes (key TEXT PRIMARY KEY, passed INTEGER, said TEXT)")

    def find(self, key: str) -> Outcome | None:
        """What was seen of `key`."""
        row = self._rows.execute("SELECT passed, said FROM outcomes WHERE key = ?", (key,)).fetchone()
        return Outcome(bool(row[0]), row[1]) if row else None

    def close(self) -> None:
        """Close the record."""
        self._rows.close()

    def keep(self, key: str, outcome: Outcome) -> None:
        """Remember what was seen."""
        row = (key, outcome.passed, outcome.said)
        self._rows.execute("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?)", row)


class Checkouts:
    """Folders that hold a commit, each used by one process at a time and left as it was found."""

    def __init__(self, folder: Path, store: Repository) -> None:
        """Keep the folders below `folder`."""
        self._folder, self._store = folder, store
        self._mine: dict[str, tuple[Path, IO[str]]] = {}

    def folder(self, commit: str, python: str) -> Path:
        """The folder of `commit` that this process keeps to itself until it ends."""
        if commit not in self._mine:
            self._mine[commit] = self._claimed(commit)
            self._fill(self._mine[commit][0], commit, python)
        return self._mine[commit][0]

    def close(self) -> None:
        """Leave the folders to others."""
        for _, lock in self._mine.values():
            lock.close()

    def _claimed(self, commit: str) -> tuple[Path, IO[str]]:
        self._folder.mkdir(parents=True, exist_ok=True)
        number = 0
        while True:
            place = self._folder / f"{commit[:12]}-{number}"
            lock = place.with_suffix(".lock").open("w")
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return place, lock
            lock.close()
            number += 1

    def _fill(self, place: Path, commit: str, python: str) -> None:
        if place.exists() and not _mark(place).exists():
            return
        _mark(place).touch()
        shutil.rmtree(place, ignore_errors=True)
        with tarfile.open(fileobj=BytesIO(self._store.run("archive", commit))) as archive:
            archive.extractall(place, filter="tar")
        # Caches that are compared by content, since trees come and go within the second that times are kept to.
        compiling = [python, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", str(place)]
        subprocess.run(compiling, check=False, capture_output=True)  # noqa: S603 - the interpreter that was chosen
        _mark(place).unlink()


def _mark(place: Path) -> Path:
    return place.with_suffix(".dirty")


@contextlib.contextmanager
def overlaid(place: Path, base: Changes, changes: Changes) -> Iterator[None]:
    """Have `changes` in the folder, and `base` again afterwards. A mark outlives whoever dies meanwhile."""
    _mark(place).touch()
    _write(place, changes)
    yield
    _write(place, {path: base[path] for path in changes})
    _mark(place).unlink()


def _write(place: Path, changes: Changes) -> None:
    for path, source in changes.items():
        target = place / path
        if source is None:
            target.unlink(missing_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source)


class Runner:
    """Runs features' tests on composed trees with the interpreter `python`."""

    def __init__(
        self, work: Path, store: Repository, python: str, *, seconds: float = SECONDS, options: Sequence[str] = ()
    ) -> None:
        """Keep checkouts and outcomes in `work`; a run may take `seconds`, and pytest is given `options` too."""
        self._checkouts, self._python = Checkouts(work / "checkouts", store), python
        self._seconds, self._options = seconds, tuple(options)
        self._outcomes = Outcomes(work / "outcomes.db")
        self._server: subprocess.Popen[str] | None = None

    def close(self) -> None:
        """End what was begun."""
        if self._server:
            self._server.communicate()
        self._checkouts.close()
        self._outcomes.close()

    def both_pass(self, task: Task, composed: Changes, pair: Sequence[Feature]) -> bool:
        """Whether the tree passes the tests of every feature of `pair`."""
        return all(self.outcome(task, composed, feature).passed for feature in pair)

    def outcome(self, task: Task, composed: Changes, feature: Feature) -> Outcome:
        """What the tests of `feature` say of the composed tree."""
        return self._tested(task, {**composed, **feature.tests}, task.suites)

    def others_pass(self, task: Task, composed: Changes, pair: Sequence[Feature]) -> bool | None:
        """Whether the tree passes what no feature of `pair` changed in the project's tests.

        Files of tests that fail before any change are left out; None if one of the features alone fails.
        """
        changed = {path for each in pair for path in each.tests}
        tests = [path for path in task.tests if path not in changed and self._tested(task, {}, [path]).passed]
        if not all(self._tested(task, each.changes, tests).passed for each in pair):
            return None
        return self._tested(task, composed, tests).passed

    def _tested(self, task: Task, changes: Changes, tests: Sequence[str]) -> Outcome:
        return self.tested(task.commit, task.base, changes, tests)

    def tested(self, commit: str, base: Changes, changes: Changes, tests: Sequence[str]) -> Outcome:
        """What `tests` say of `commit` with `changes`; `base` has what the commit itself holds at their paths."""
        tree = {path: each for path, each in changes.items() if each != base[path]}
        key = self._key(commit, tree, tests)
        outcome = self._outcomes.find(key)
        if outcome is None:
            place = self._checkouts.folder(commit, self._python)
            with overlaid(place, base, tree):
                outcome = self._run(place, tests)
            self._outcomes.keep(key, outcome)
        return outcome

    def _key(self, commit: str, tree: Changes, tests: Sequence[str]) -> str:
        digest = hashlib.sha256(json.dumps([commit, self._python, list(tests)]).encode())
        for path in sorted(tree):
            source = tree[path]
            digest.update(json.dumps([path, source and hashlib.sha256(source).hexdigest()]).encode())
        return digest.hexdigest()

    def _run(self, place: Path, tests: Sequence[str]) -> Outcome:
        asked, told = self._pipes()
        request = {"folder": str(place.resolve()), "tests": list(tests), "seconds": self._seconds}
        request |= {"options": list(self._options)} if self._options else {}
        asked.write(json.dumps(request) + "\n")
        asked.flush()
        return Outcome(**json.loads(told.readline()))

    def _pipes(self) -> tuple[IO[str], IO[str]]:
        if self._server is None:
            command, settings = [self._python, str(SERVER)], {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
            both = subprocess.PIPE
            self._server = subprocess.Popen(command, stdin=both, stdout=both, text=True, env=settings)  # noqa: S603 - ours
        assert self._server.stdin
        assert self._server.stdout
        return self._server.stdin, self._server.stdout
