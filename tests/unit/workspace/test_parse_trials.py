"""A parse is tried in a process that can be ended."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.patience import until
from tests.unit.code.regions.hostile import ENDLESS, repeated

from commonhold.code.regions.budget import TRIALS
from commonhold.code.regions.discover import discover
from commonhold.code.regions.languages import language_for
from commonhold.machine.worker_process import WorkerProcess
from commonhold.workspace.parse_trials import Trials, is_quick

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("path", "unit"), ENDLESS)
def test_a_parse_with_an_endless_last_step_is_ended(path: str, unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TRIALS, "is_quick", is_quick)
    assert discover(repeated(unit, 25_000), path).exceeds_budget


def test_a_dense_file_is_quick() -> None:
    source = b"[" + b"0," * 50_000 + b"0]\n"
    language = language_for("a.json", source)
    assert language is not None
    assert is_quick(source, language.name)


def test_where_no_process_can_be_started_a_parse_is_not_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object, **_named: object) -> None:
        raise BlockingIOError

    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert Trials().is_quick(b"[0]", "json")


@pytest.fixture
def trials() -> Iterator[Trials]:
    trials = Trials()
    yield trials
    trials.close()


def only_child(trials: Trials) -> WorkerProcess:
    (child,) = trials._idle
    return child


def test_one_process_is_kept_for_the_next_trial(trials: Trials) -> None:
    assert trials.is_quick(b"[0]", "json")
    first = only_child(trials)
    assert not trials.is_quick(repeated("***a", 12_000), "typescript")
    assert only_child(trials) is first


def test_a_trial_whose_process_was_killed_says_nothing_about_the_file(trials: Trials) -> None:
    assert trials.is_quick(b"[0]", "json")
    os.kill(only_child(trials).pid, signal.SIGKILL)
    assert trials.is_quick(b"[0]", "json")


def test_a_file_over_which_process_after_process_is_killed_is_not_quick(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []

    class Killed(WorkerProcess):
        def __init__(self, program: str) -> None:
            super().__init__(program)
            begun.append(self.pid)
            os.kill(self.pid, signal.SIGKILL)

    monkeypatch.setattr("commonhold.workspace.parse_trials.WorkerProcess", Killed)
    assert not trials.is_quick(b"[0]", "json")
    assert len(begun) == 2


def test_threads_try_beside_each_other_and_one_process_is_left(trials: Trials) -> None:
    together = threading.Barrier(3)

    def tried(_number: int) -> bool:
        together.wait()
        return trials.is_quick(b"[" + b"0," * 5_000 + b"0]\n", "json")

    with ThreadPoolExecutor(3) as threads:
        assert all(threads.map(tried, range(3)))
    child = only_child(trials)
    trials.close()
    until(lambda: child._child.poll() is not None)


def test_a_forked_child_leaves_the_process_to_its_parent(trials: Trials) -> None:
    assert trials.is_quick(b"[0]", "json")
    ours = only_child(trials).pid
    pid = os.fork()
    if pid == 0:
        is_fine = trials.is_quick(b"[0]", "json") and only_child(trials).pid != ours
        trials.close()
        os._exit(not is_fine)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert trials.is_quick(b"[0]", "json")
    assert only_child(trials).pid == ours
