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
KILLS = 8
PATHS = ("pack/a.py", "pack/b.py")
BODIES = "".join(f"def w{number}(x):\n    x = 0\n    return x\n\n\n" for number in range(WORKERS))
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
            if b"commonhold.server.planning.planner" in stat.with_name("cmdline").read_bytes():
                yield int(stat.parent.name), int(stat.read_text().rpartition(")")[2].split()[1])


def is_there(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def facts(diaries: list[Path]) -> list[dict[str, str]]:
    return [json.loads(line) for each in diaries if each.exists() for line in each.read_text().splitlines()]


def kill_now_and_then(found: Place, diaries: list[Path]) -> set[int]:
    """Kill planners while the work goes on, and the daemon when a third is done; the planners that there were."""
    chance, seen, kills, has_killed_daemon = random.Random(13), set[int](), 0, False
    while (done := len(facts(diaries))) < WORKERS * ROUNDS:
        time.sleep(chance.uniform(0.02, 0.1))
        if not found.is_served:
            continue
        with suppress(ProcessLookupError, AssertionError):  # the daemon may be dying: it has no process id then
            alive = planners(found.pid)
            seen |= set(alive)
            if done >= WORKERS * ROUNDS // 3 and not has_killed_daemon:
                os.kill(found.pid, signal.SIGKILL)
                has_killed_daemon = True
            elif alive and kills < KILLS:
                os.kill(chance.choice(alive), signal.SIGKILL)
                kills += 1
    assert has_killed_daemon
    assert kills > 1
    return seen


def test_whatever_was_acknowledged_is_there_once_and_no_planner_is_left(shared: Path, tmp_path: Path) -> None:
    diaries = [tmp_path / f"w{number}" for number in range(WORKERS)]
    with place(shared) as found, ExitStack() as stack:
        begin_daemon(find_repository(str(shared)))
        found.wait_until_served()
        workers = [stack.enter_context(client(shared, "edit", each.name, ROUNDS, each)) for each in diaries]
        for worker in workers:
            worker.begin()
        seen = kill_now_and_then(found, diaries)
        assert [worker.hear() for worker in workers] == [{"done": True}] * WORKERS
        found.wait_until_served()
        seen |= set(planners(found.pid))
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
