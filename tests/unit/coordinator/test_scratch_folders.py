"""Folders for copies of a project: removed after use, and by a later process if theirs was killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from commonhold.coordinator.scratch_folders import PREFIX, SCRATCH, remove_abandoned, scratch_folder

KILLED = """
import os, signal
from commonhold.coordinator.scratch_folders import scratch_folder
with scratch_folder() as folder:
    open(os.path.join(folder, "big"), "w").close()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def test_a_folder_is_empty_and_removed_after_use(temporary: Path) -> None:
    with scratch_folder() as folder:
        assert list(Path(folder).iterdir()) == []
        assert Path(folder).is_relative_to(temporary)
    assert list(temporary.iterdir()) == []


def test_the_folder_of_a_killed_process_is_removed_and_one_in_use_is_not(temporary: Path) -> None:
    with scratch_folder() as folder:
        subprocess.run([sys.executable, "-c", KILLED], check=False)
        (left,) = {*temporary.iterdir()} - {Path(folder).parent}
        (temporary / f"{PREFIX}of-an-older-version").mkdir()
        remove_abandoned(str(temporary))
        assert (Path(folder).exists(), left.exists()) == (True, False)
    remove_abandoned(str(temporary / "missing"))
    assert [each.name for each in temporary.iterdir()] == [f"{PREFIX}of-an-older-version"]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found by /proc")
def test_a_command_that_a_killed_process_has_left_there_is_killed_too(temporary: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED], check=False)
    (left,) = temporary.iterdir()
    command = ["sleep", "600"]
    with (
        subprocess.Popen(command, env={**os.environ, SCRATCH: str(left / "copy")}) as in_it,
        subprocess.Popen(command, env={**os.environ, SCRATCH: f"{left}x/copy"}) as elsewhere,
    ):
        remove_abandoned(str(temporary))
        assert in_it.wait() == -signal.SIGKILL
        assert elsewhere.poll() is None
        elsewhere.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found by /proc")
def test_what_still_runs_in_a_folder_ends_with_it(temporary: Path) -> None:
    with scratch_folder() as folder:
        left = subprocess.Popen(["sleep", "600"], env={**os.environ, SCRATCH: folder}, start_new_session=True)
    with left:
        assert left.wait(60) == -signal.SIGKILL
    assert list(temporary.iterdir()) == []
