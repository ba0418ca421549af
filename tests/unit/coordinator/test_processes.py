"""Commands of roles: what they are given, how they end, and that nothing of them is left."""

import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.patience import until
from tests.processes import is_alive

from commonhold.coordinator import processes
from commonhold.coordinator.processes import Ended, run_command

pytestmark = pytest.mark.slow


def run(
    line: str, folder: Path, given: bytes = b"", seconds: float = 60.0, stop: threading.Event | None = None
) -> Ended:
    return run_command(("/bin/sh", "-c", line), str(folder), {"NAME": "ann"}, given, seconds, stop or threading.Event())


def test_a_command_reads_its_input_and_its_environment_in_its_folder(tmp_path: Path) -> None:
    ended = run('cat; echo " $NAME $PWD"; echo careful >&2', tmp_path, b"hello")
    assert (ended.status, ended.output.decode()) == (0, f"hello ann {tmp_path}\n")
    assert ended.tail.endswith("careful")


def test_a_command_finds_the_repository_of_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    assert run('test -z "$GIT_DIR"', tmp_path).status == 0


def test_a_command_need_not_read_a_long_input(tmp_path: Path) -> None:
    assert run("exit 3", tmp_path, b"x" * 1_000_000).status == 3


def test_a_command_that_does_not_exist_has_failed(tmp_path: Path) -> None:
    ended = run_command(("./nowhere",), str(tmp_path), {}, b"", 60.0, threading.Event())
    assert (ended.status, ended.tail) == (127, "./nowhere: No such file or directory")


def test_what_a_command_has_started_ends_with_it(tmp_path: Path) -> None:
    ended = run(f"{sys.executable} -c 'import time; time.sleep(600)' & echo $!", tmp_path)
    until(lambda: not is_alive(int(ended.output)))


@pytest.mark.parametrize("line", ["yes", "yes >&2", "yes & yes >&2"])
def test_a_command_that_prints_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    monkeypatch.setattr(processes, "MOST_PRINTED", 1 << 20)
    ended = run(line, tmp_path)
    assert (ended.status, ended.why) == (None, "it printed more than 1 MiB")
    assert ended.tail.endswith("y\ny")


def test_a_command_is_ended_when_its_time_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time is up as soon as it has printed something."""
    looks: list[float] = []

    def monotonic() -> float:
        looks.append(300.0 if looks and (tmp_path / "printed").exists() else 0.0)
        return looks[-1]

    monkeypatch.setattr(processes, "time", SimpleNamespace(monotonic=monotonic))
    ended = run("echo begun; touch printed; exec sleep 600", tmp_path, seconds=300.0)
    assert (ended.status, ended.output, ended.why) == (None, b"begun\n", "it did not end within 300 seconds")


def test_a_command_is_ended_at_the_sign_to_stop(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    ended = run("exec sleep 600", tmp_path, stop=stop)
    assert (ended.status, ended.why) == (None, "it was stopped")
