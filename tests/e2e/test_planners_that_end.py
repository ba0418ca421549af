"""Real planners that hang, are killed or crash in the middle of a plan: the commit is made, or refused for a reason."""

import os
import signal
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.e2e.test_planners import is_there
from tests.patience import PATIENCE_SECONDS

from commonhold.api.service import Service
from commonhold.bootstrap import Shared, compose
from commonhold.code.type_checkers import TypeReport
from commonhold.commits.plan_sources import Plans
from commonhold.commits.turns import Turns
from commonhold.config import Settings
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.errors import Code, InternalError
from commonhold.machine.worker_process import SILENCE_SECONDS, Ask, WorkerProcess, program_of
from commonhold.server.planning.pool import Planners, PooledPlans
from commonhold.server.planning.wire import Tree
from commonhold.workspace.repository import find_repository

SETTINGS = Settings(types="on")
CALLED = "def f(x: int) -> int:\n    return x\n"
CHANGED = "def f(x: int, y: int = 0) -> int:\n    return x + y\n"

pytestmark = pytest.mark.slow


@dataclass
class Interrupting:
    """A type checker that finds nothing, and that sends a signal to whichever planner asks it."""

    number: signal.Signals
    pool: Planners
    hit: list[int] = field(default_factory=list)

    def compare(
        self, _changes: Mapping[str, bytes | None], _also: Collection[str] = (), _confined: Collection[str] = ()
    ) -> TypeReport:
        (planner,) = (each.process.pid for each in self.pool._planners if each.is_busy)
        self.hit.append(planner)
        os.kill(planner, self.number)
        return TypeReport()

    def close(self) -> None:
        """Nothing to close."""


class Watched(WorkerProcess):
    """A planner that may take as long as it likes, until it was stopped: then it must answer at once."""

    def __init__(self, room: "Room") -> None:
        super().__init__(program_of("commonhold.server.planning.planner", "warning", ""), stderr=None)
        self._room = room

    def ask(self, request: bytes, reply: Ask, silence: Callable[[], float]) -> bytes:  # type: ignore[override]
        assert silence() == SILENCE_SECONDS
        return super().ask(request, reply, lambda: 0.5 if self._is_stopped else PATIENCE_SECONDS)

    @property
    def _is_stopped(self) -> bool:
        checker = self._room.checker
        return checker.number is signal.SIGSTOP and self.pid in checker.hit


class Room:
    """A service in this process with planners of its own, to which a signal is sent when it asks about types."""

    def __init__(self, root: Path, number: signal.Signals, planners: int) -> None:
        self.pool = Planners(planners, lambda: Watched(self))
        self.checker = Interrupting(number, self.pool)
        self._tree = Tree(str(root), SETTINGS, 0o022)
        shared = Shared(plans_of=self._pooled, turns=Turns(is_complete=True))
        self.service: Service = compose(find_repository(str(root)), SETTINGS, agent="ann", shared=shared)
        with self.pool._change:
            self.pool._begin_starting()
            assert self.pool._change.wait_for(lambda: not self.pool._starting, PATIENCE_SECONDS)

    def _pooled(self, own: Plans) -> Plans:
        return PooledPlans(self.pool, self._tree, own, lambda: self.checker)

    def change(self) -> str:
        """Change what a function that others call takes; what became of it."""
        (read,) = self.service.read("pack/a.py#f")
        edit = Edit(Op.REPLACE, read.key, read.hash, CHANGED)
        return self.service.commit(Changeset((edit,), intent="one more parameter")).outcome

    def close(self) -> None:
        self.pool.close()
        self.service.close()


@pytest.fixture
def package(root: Path) -> Path:
    root.joinpath("pack").mkdir()
    root.joinpath("pack/__init__.py").touch()
    root.joinpath("pack/a.py").write_text(CALLED)
    root.joinpath("pack/b.py").write_text("from pack.a import f\n\n\ndef g() -> int:\n    return f(1)\n")
    return root


def test_a_planner_that_stands_still_in_a_plan_is_killed_and_the_commit_made(
    package: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(Room(package, signal.SIGSTOP, 1)) as room:
        assert room.change() == "committed"
        assert package.joinpath("pack/a.py").read_text() == CHANGED
        assert len(room.checker.hit) == 1
        assert not any(map(is_there, room.checker.hit))
        assert "hung and was killed" in caplog.text


def test_a_commit_over_which_two_planners_are_killed_is_made(package: Path) -> None:
    with closing(Room(package, signal.SIGKILL, 2)) as room:
        assert room.change() == "committed"
        assert len(set(room.checker.hit)) == 2
        assert package.joinpath("pack/a.py").read_text() == CHANGED


def test_a_commit_over_which_planners_crash_is_refused_and_nothing_is_written(package: Path) -> None:
    with closing(Room(package, signal.SIGSEGV, 2)) as room:
        with pytest.raises(InternalError) as caught:
            room.change()
        assert caught.value.code is Code.PLANNING_CRASHED
        assert len(set(room.checker.hit)) == 2
        assert package.joinpath("pack/a.py").read_text() == CALLED
