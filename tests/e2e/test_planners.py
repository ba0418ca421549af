"""Planners of a real daemon are killed at random, and the daemon with them: what was acknowledged is there, once."""

import json
import os
import random
import re
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from tests.e2e.daemon_process import Client, Place, client, place, serving
from tests.patience import until

from commonhold.client.daemon import start as begin_daemon
from commonhold.kernel.events import Committed
from commonhold.workspace.repository import find_repository

pytestmark = pytest.mark.slow
WORKERS = 6
ROUNDS = 12
SHIFTS = 8
KILLS = 8
LEAST_KILLS = 2
PATHS = ("pack/a.py", "pack/b.py")
BODIES = "".join(f"def w{number}(x):\n    x = 0\n    return x\n\n\n" for number in range(WORKERS * SHIFTS))
PLANNER = b"commonhold.server.planning.planner"
MARK = re.compile(r"    x = '(.+)'")


@pytest.fixture
def shared(root: Path) -> Path:
    """A repository with a package of two files that all write."""
    root.joinpath("pack").mkdir()
    root.joinpath("pack/__init__.py").touch()
    for path in PATHS:
        root.joinpath(path).write_text(BODIES)
    return root


def planners(daemon: int) -> list[int]:
    """The planners of a daemon that has that process id."""
    return [pid for pid, parent in _all_planners() if parent == daemon]


def _all_planners() -> Iterator[tuple[int, int]]:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if PLANNER in stat.with_name("cmdline").read_bytes():
                yield int(stat.parent.name), int(stat.read_text().rpartition(")")[2].split()[1])


def is_there(pid: int) -> bool:
    """Whether a planner is: its number may be that of another process by now, and a zombie has no words."""
    try:
        return PLANNER in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def facts(diaries: list[Path]) -> list[dict[str, str]]:
    return [json.loads(line) for each in diaries if each.exists() for line in each.read_text().splitlines()]


class Killer:
    """Kills planners while the work goes on, and the daemon once; remembers the planners that there were."""

    def __init__(self, found: Place) -> None:
        self.found, self.chance = found, random.Random(13)
        self.seen, self.kills, self.has_killed_daemon = set[int](), 0, False

    @property
    def is_content(self) -> bool:
        return self.has_killed_daemon and self.kills >= LEAST_KILLS

    def attend(self, diaries: list[Path]) -> None:
        """Kill now and then until all has been written down, the daemon when a third has been."""
        while (done := len(facts(diaries))) < WORKERS * ROUNDS:
            time.sleep(self.chance.uniform(0.02, 0.1))
            if not self.found.is_served:
                continue
            with suppress(ProcessLookupError, AssertionError):  # the daemon may be dying: it has no process id then
                self._strike(planners(self.found.pid), is_time=done >= WORKERS * ROUNDS // 3)

    def _strike(self, alive: list[int], *, is_time: bool) -> None:
        self.seen |= set(alive)
        if is_time and not self.has_killed_daemon:
            os.kill(self.found.pid, signal.SIGKILL)
            self.has_killed_daemon = True
        elif alive and self.kills < KILLS:
            os.kill(self.chance.choice(alive), signal.SIGKILL)
            self.kills += 1


def work(shared: Path, diaries: list[Path], killer: Killer) -> None:
    """Let a shift of workers do its rounds."""
    with ExitStack() as stack:
        workers = [stack.enter_context(client(shared, "edit", each.name, ROUNDS, each)) for each in diaries]
        for worker in workers:
            worker.begin()
        killer.attend(diaries)
        assert [worker.hear() for worker in workers] == [{"done": True}] * WORKERS


def test_whatever_was_acknowledged_is_there_once_and_no_planner_is_left(shared: Path, tmp_path: Path) -> None:
    diaries: list[Path] = []
    with place(shared) as found:
        begin_daemon(find_repository(str(shared)))
        found.wait_until_served()
        killer = Killer(found)
        # A shift may be over before its planners are ready: then another one works.
        while not killer.is_content:
            assert len(diaries) < WORKERS * SHIFTS, (killer.kills, killer.has_killed_daemon)
            shift = [tmp_path / f"w{number}" for number in range(len(diaries), len(diaries) + WORKERS)]
            diaries += shift
            work(shared, shift, killer)
        found.wait_until_served()
        seen = killer.seen | set(planners(found.pid))
        with found.session() as hold:
            commits = [each.event for each in hold.log(after=0, limit=100_000) if isinstance(each.event, Committed)]
        os.kill(found.pid, signal.SIGTERM)
        until(lambda: not any(map(is_there, seen)))
    acknowledged = facts(diaries)
    assert {fact["outcome"] for fact in acknowledged} <= {"committed", "merged"}
    assert Counter(each.intent for each in commits) == Counter(fact["mark"] for fact in acknowledged)
    written = Counter(mark for path in PATHS for mark in MARK.findall(shared.joinpath(path).read_text()))
    assert written == Counter(fact["mark"] for fact in acknowledged)


def edit_at_once(shared: Path, stack: ExitStack, *names: str) -> list[Client]:
    """Clients that are connected, and then commit all at once."""
    clients = [stack.enter_context(client(shared, "edit", name, ROUNDS, shared.parent / name)) for name in names]
    for each in clients:
        assert each.hear() == {"ready": True}
    for each in clients:
        each.go_on()
    return clients


def test_planners_begin_when_two_plan_at_once_and_end_with_the_daemon(shared: Path) -> None:
    with serving(shared) as daemon, ExitStack() as stack:
        (alone,) = edit_at_once(shared, stack, "w0")
        assert alone.hear() == {"done": True}
        assert planners(daemon.process.pid) == []
        clients = edit_at_once(shared, stack, "w1", "w2", "w3")
        until(lambda: planners(daemon.process.pid))
        assert [each.hear() for each in clients] == [{"done": True}] * 3
        begun = planners(daemon.process.pid)
        daemon.process.kill()
        daemon.process.wait()
        until(lambda: not any(map(is_there, begun)), what="planners read the end of their input")
