import os
import subprocess
import sys

import pytest

from commonhold.client.hook_client import agent_process
from commonhold.machine.system import RandomIds, SystemClock, is_running, process_umask

pytestmark = pytest.mark.slow


def test_the_clock_goes_on_within_one_boot() -> None:
    first, second = SystemClock().now(), SystemClock().now()
    assert first.epoch == second.epoch != ""
    assert first.ticks <= second.ticks


def test_ids_are_readable_and_never_the_same() -> None:
    ids = {RandomIds().new("lease") for _ in range(1000)}
    assert len(ids) == 1000
    assert all(id_.startswith("lease-") and len(id_) == 22 for id_ in ids)


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_the_umask_is_read_and_left_as_it_is(umask: int) -> None:
    before = os.umask(umask)
    try:
        assert process_umask() == process_umask() == umask
    finally:
        os.umask(before)


@pytest.mark.skipif(sys.platform != "linux", reason="only /proc tells when a process began")
def test_a_process_is_known_by_when_it_began() -> None:
    process = agent_process(os.getpid())
    assert is_running(process)
    pid, began = process.split(":")
    assert not is_running(f"{pid}:{int(began) + 1}")
    child = subprocess.Popen(["true"])
    gone = f"{child.pid}:{began}"
    child.wait()
    assert not any(map(is_running, (gone, "", "7", "x:y", "../1:2", f"{pid}:")))
