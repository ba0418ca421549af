"""Limits by control groups: real ones where this user may make them, and what is written for version 2."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.session_host.test_turn import in_a_process, workspace_at

from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.managed_session import EndCause, ManagedSession, SessionMove
from commonhold.session_host.limits import Limits, limits_of, remove_limits
from commonhold.session_host.turn import Turn
from commonhold.sessions.commands import SessionReport

pytestmark = pytest.mark.slow
NAME = f"test-{os.getpid()}"


def session(**more: float) -> ManagedSession:
    return ManagedSession("s1", "do it", "x", "c" * 40, "/", "here", **more)  # type: ignore[arg-type]


@pytest.fixture
def limited() -> Iterator[Limits]:
    try:
        yield limits_of(session(memory_bytes=64 << 20, cpus=0.5), NAME)
    except StoreError as fault:
        pytest.skip(fault.message)
    finally:
        remove_limits(NAME)


def turn(limits: Limits, folder: Path, line: str) -> SessionReport:
    one = Turn(workspace_at(folder), folder / "1.log", dict(os.environ), lambda: None, tuple, limits=limits)
    return in_a_process(lambda: one.run(session(), ("/bin/sh", "-c", line), is_first=True))


def test_an_agent_that_eats_its_memory_is_said_to_have_done_so(limited: Limits, tmp_path: Path) -> None:
    eats = f"""{sys.executable} -c "b'x' * (200 << 20)" """
    report = turn(limited, tmp_path, f"{eats}; exit 7")
    assert (report.move, report.cause, report.status) == (SessionMove.FAIL, EndCause.OUT_OF_MEMORY, 7)
    assert "its limit is 64 MiB, its peak was 6" in report.note
    assert turn(limited, tmp_path, f"{eats}; exit 0").move is SessionMove.FINISH
    assert turn(limited, tmp_path, "exit 3").cause is EndCause.EXITED
    remove_limits(NAME)
    assert not any(group.exists() for group in limited.groups)


def test_all_processes_are_in_the_groups(limited: Limits, tmp_path: Path) -> None:
    assert turn(limited, tmp_path, "(setsid cat /proc/self/cgroup); sleep 0.1").move is SessionMove.FINISH
    listed = (tmp_path / "1.log").read_text()
    assert listed.count(f"/commonhold/{NAME}") == len(limited.groups)


def test_version_2_has_one_group_with_all_limits(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu memory\n")
    made = limits_of(session(memory_bytes=64 << 20, cpus=1.5), "s1", tmp_path)
    (group,) = made.groups
    assert group == tmp_path / "commonhold/s1"
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+memory +cpu"
    assert (group / "memory.max").read_text() == str(64 << 20)
    assert (group / "cpu.max").read_text() == "150000 100000"
    (group / "memory.events").write_text("low 0\nhigh 0\nmax 4\noom 1\noom_kill 2\n")
    (group / "memory.peak").write_text(f"{60 << 20}\n")
    assert made.kills == 2
    assert made.told == "its limit is 64 MiB, its peak was 60 MiB"


def test_without_limits_there_is_no_group(tmp_path: Path) -> None:
    assert limits_of(session(), "s1", tmp_path) == Limits()
    assert [*tmp_path.iterdir()] == []


def test_limits_that_cannot_be_set_are_an_error_and_leave_nothing(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/commonhold").write_text("in the way")
    with pytest.raises(StoreError, match="cannot be set") as caught:
        limits_of(session(memory_bytes=64 << 20), "s1", tmp_path)
    assert caught.value.code is Code.SANDBOX_FAILED
    assert [*tmp_path.rglob("s1")] == []
