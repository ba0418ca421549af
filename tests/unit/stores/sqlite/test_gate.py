"""The gate: one process inside, whatever forks, gives up or dies."""

import fcntl
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commonhold.kernel.errors import Code, StoreError
from commonhold.stores.sqlite.gate import Gate

pytestmark = pytest.mark.slow

Forked = Callable[[Callable[[], bool]], bool]
HOLD = """
import sys
from commonhold.stores.sqlite.gate import Gate
Gate(sys.argv[1]).enter()
print("inside", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "state" / "gate")


@contextmanager
def held_elsewhere(path: str) -> Iterator[subprocess.Popen[str]]:
    """Let another process hold the gate; it lets go when its input ends."""
    command = (sys.executable, "-c", HOLD, path)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "inside\n"
        yield process


def is_free(path: str) -> bool:
    """Say whether a process of its own could enter right now. Stands in no line: a waiter may outlive its patience."""
    with Path(path).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def times_open(path: str) -> int:
    """Count the descriptors of this process that lead to `path`."""
    return sum(os.path.realpath(each) == path for each in Path("/proc/self/fd").iterdir())


def test_the_gate_is_made_on_first_use_for_its_user_alone(path: str) -> None:
    gate = Gate(path)
    gate.enter()
    gate.leave()
    gate.close()
    assert Path(path).stat().st_mode & 0o777 == 0o600
    assert Path(path).parent.stat().st_mode & 0o777 == 0o700


def test_another_process_keeps_us_out_and_we_say_so(path: str) -> None:
    with held_elsewhere(path):
        with pytest.raises(StoreError) as caught:
            Gate(path, patience_seconds=0.01).enter()
        assert caught.value.code is Code.STORE_BUSY
        assert caught.value.retryable


def test_we_keep_another_process_out(path: str, forked: Forked) -> None:
    gate = Gate(path)
    gate.enter()
    assert forked(lambda: not is_free(path))
    gate.leave()
    assert forked(lambda: is_free(path))


def test_it_is_entered_again_by_who_is_inside(path: str) -> None:
    gate = Gate(path)
    gate.enter()
    gate.enter()
    gate.leave()
    assert gate.is_held
    assert not is_free(path)
    gate.leave()
    assert is_free(path)


def test_a_waiter_gets_in_when_the_other_leaves(path: str) -> None:
    gate = Gate(path)
    with held_elsewhere(path) as other:
        entered = threading.Thread(target=gate.enter)
        entered.start()
        assert other.stdin is not None
        other.stdin.close()
        entered.join()
    assert gate.is_held
    assert not is_free(path)


def test_the_death_of_the_holder_frees_it(path: str) -> None:
    with held_elsewhere(path) as other:
        other.kill()
        gate = Gate(path)
        gate.enter()
    assert gate.is_held


def test_a_waiter_that_gives_up_leaks_nothing(path: str) -> None:
    gate = Gate(path, patience_seconds=0.0)
    threads = set(threading.enumerate())
    with held_elsewhere(path) as other:
        for _ in range(3):
            with pytest.raises(StoreError):
                gate.enter()
        assert other.stdin is not None
        other.stdin.close()
        other.wait()
        for waiter in set(threading.enumerate()) - threads:
            waiter.join()
    assert is_free(path)
    gate.close()
    assert times_open(path) == 0
    gate.enter()
    assert gate.is_held


def test_it_can_be_waited_for_again_after_giving_up(path: str) -> None:
    gate = Gate(path, patience_seconds=0.0)
    with held_elsewhere(path), pytest.raises(StoreError):
        gate.enter()
    gate._patience = 60.0
    gate.enter()
    assert gate.is_held


def test_a_forked_child_does_not_share_the_lock(path: str, forked: Forked) -> None:
    gate = Gate(path, patience_seconds=0.0)
    gate.enter()

    def child_is_kept_out() -> bool:
        with pytest.raises(StoreError):
            gate.enter()
        return not gate.is_held

    assert forked(child_is_kept_out)
    assert gate.is_held
    assert not is_free(path)


def test_a_child_forked_inside_frees_nothing_by_leaving_or_closing(path: str, forked: Forked) -> None:
    gate = Gate(path)
    gate.enter()

    def child_leaves() -> bool:
        gate.leave()
        gate.close()
        return not is_free(path)

    assert forked(child_leaves)
    assert not is_free(path)


def test_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    tmp_path.joinpath("gate").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic link"):
        Gate(str(tmp_path / "gate")).enter()
    assert not tmp_path.joinpath("elsewhere").exists()
