"""Several client processes that begin at once, and what became of their commits in all."""

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import IO, Final

from bench.contention import served
from bench.contention.client import Tally, Task
from bench.contention.package import HOT, keys_of
from bench.daemon import jain
from bench.processes import cpu_seconds

BUSY: Final = ("REPOSITORY_BUSY", "STORE_BUSY")
ENDLESS: Final = 10**9


def start(task: Task) -> subprocess.Popen[str]:
    """A client that waits for a line before it begins."""
    command = [sys.executable, "-m", "bench.contention.client", json.dumps(asdict(task))]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603 - this interpreter


def tasks(
    root: Path, clients: int, kinds: Sequence[str], commits: int, *, layout: str = HOT, name: str = "c"
) -> list[Task]:
    """A task for each client: `commits` edits of functions that no other client edits.

    Two crews in one repository need different names: a text that is there already is no edit.
    """
    return [
        Task(str(root), f"{name}{number}", tuple(kinds), tuple(keys_of(number, clients, layout)), commits)
        for number in range(clients)
    ]


class Crew:
    """Clients that are ready."""

    def __init__(self, members: Sequence[subprocess.Popen[str]]) -> None:
        """Wait until each has said that it is ready. Raises ChildProcessError."""
        self._members = members
        for each in members:
            if _stream(each.stdout).readline() != "ready\n":
                raise ChildProcessError("a client failed before it began")

    def begin(self) -> None:
        """Let them begin."""
        for each in self._members:
            stream = _stream(each.stdin)
            stream.write("\n")
            stream.flush()

    def finish(self) -> list[Tally]:
        """Wait until all have done all their commits. Raises ChildProcessError."""
        told = [_stream(each.stdout).readline() for each in self._members]
        if not all(told):
            raise ChildProcessError("a client failed")
        return [Tally(**json.loads(line)) for line in told]

    def stop(self) -> list[Tally]:
        """Let each end its commit, and no other begin."""
        for each in self._members:
            _stream(each.stdin).close()
        return self.finish()


def _stream(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


@contextmanager
def crew(of: Sequence[Task]) -> Iterator[Crew]:
    """A client for each task; those that are left in the end are killed."""
    members = [start(task) for task in of]
    try:
        yield Crew(members)
    finally:
        for each in members:
            each.kill()
            with each:
                pass


@dataclass(frozen=True)
class Run:
    """What came of commits that several clients made at once."""

    tallies: Sequence[Tally]
    seconds: float
    cpu_seconds: float

    @property
    def waits(self) -> list[float]:
        """All waits, in seconds."""
        return [wait for each in self.tallies for wait in each.waits]

    @property
    def rate(self) -> float:
        """Commits a second."""
        return len(self.waits) / self.seconds

    @property
    def cpu_per_commit(self) -> float:
        """Seconds of processor time that the daemon, its workers and its type checker take for one commit."""
        return self.cpu_seconds / len(self.waits)

    @property
    def fairness(self) -> float:
        """Jain's index over the rates of the clients."""
        return jain([len(each.waits) / each.seconds for each in self.tallies])

    @property
    def longest_against_median(self) -> float:
        """The longest wait, as so many times the median."""
        return max(self.waits) / median(self.waits)

    @property
    def refused(self) -> Counter[str]:
        """How many calls had which code."""
        return sum((Counter(each.refused) for each in self.tallies), Counter())

    @property
    def busy(self) -> int:
        """How many calls were told that others are in the way."""
        return sum(self.refused[code] for code in BUSY)


def run(root: Path, of: Sequence[Task]) -> Run:
    """Have all tasks done at once."""
    with crew(of) as members:
        pid = served.daemon(root)
        before, begun = cpu_seconds(pid), time.perf_counter()
        members.begin()
        tallies = members.finish()
        return Run(tallies, time.perf_counter() - begun, cpu_seconds(pid) - before)
