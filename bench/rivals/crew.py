"""Some processes that work at the same time: started, told when to begin, and asked what they got."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Self

from bench.rivals.drivers import Facts
from bench.rivals.loads import Load, Outcome, Tally
from bench.rivals.trials import Trial

ROOT: Final = Path(__file__).parents[2]
THIS_TREE: Final = os.pathsep.join((str(ROOT), str(ROOT / "src")))
RUN_UP_SECONDS: Final = 0.1


@dataclass(frozen=True)
class Contestant:
    """Who is measured: the module of its driver, the interpreter that has it installed, what its environment adds."""

    name: str
    driver: str
    interpreter: str
    environment: Mapping[str, str] = field(default_factory=dict)
    is_ours: bool = False


@dataclass(frozen=True)
class Course:
    """What each contestant goes through: how many processes, for how long, on which disk.

    `hold_seconds` is how long a process keeps the one key when it has it.
    """

    processes: int
    seconds: float
    disk: Path
    hold_seconds: float = 0.0


class Worker:
    """A process that is one agent. Leaving the context ends it, whatever it does."""

    def __init__(self, contestant: Contestant, folder: str, *arguments: object) -> None:
        """Start it, with the arguments that `bench.rivals.worker` takes after the folder."""
        command = ("-m", "bench.rivals.worker", contestant.driver, folder, *map(str, arguments))
        self._name = contestant.name
        self._process = subprocess.Popen(  # noqa: S603 - our own worker
            [contestant.interpreter, *command],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": THIS_TREE, **contestant.environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def facts(self) -> Facts:
        """Wait until it is ready."""
        return Facts.from_json(self._line())

    def begin(self, start: float, until: float) -> None:
        """Tell it when to work."""
        assert self._process.stdin is not None
        print(start, until, file=self._process.stdin, flush=True)

    def outcome(self) -> Outcome:
        """Wait until it is done."""
        outcome = Outcome.from_json(self._line())
        _, errors = self._process.communicate()
        assert self._process.returncode == 0, f"{self._name}: {errors}"
        return outcome

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            _, errors = self._process.communicate()
            raise ChildProcessError(f"{self._name}: a worker failed\n{errors}")
        return line


def run_trial(contestant: Contestant, load: Load, course: Course) -> Trial:
    """One trial, on a fresh state in a folder of its own.

    The first process starts alone: it makes the state, which not every contestant can do eight times at once.
    """
    course.disk.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="rivals-", dir=course.disk.resolve()) as folder, ExitStack() as stack:
        tally = stack.enter_context(closing(Tally(folder)))

        def start(number: int) -> Worker:
            return stack.enter_context(Worker(contestant, folder, load, number, course.hold_seconds))

        first = start(0)
        facts = first.facts()
        others = [start(number) for number in range(1, course.processes)]
        for worker in others:
            worker.facts()
        outcomes = _race((first, *others), course.seconds)
        return Trial(facts, course.seconds, outcomes, tally.count())


def _race(workers: Sequence[Worker], seconds: float) -> tuple[Outcome, ...]:
    """Let all work at once."""
    start = time.monotonic() + RUN_UP_SECONDS
    for worker in workers:
        worker.begin(start, start + seconds)
    return tuple(worker.outcome() for worker in workers)
