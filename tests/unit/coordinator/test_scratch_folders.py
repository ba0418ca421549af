"""Folders for copies of a project: removed after use, and by a later process if theirs was killed."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from commonhold.coordinator.scratch_folders import NEW_SECONDS, PREFIX, remove_abandoned, scratch_folder

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
    subprocess.run([sys.executable, "-c", KILLED], check=False)
    (left,) = temporary.iterdir()
    (temporary / f"{PREFIX}of-an-older-version").mkdir()
    later = time.time() + 2 * NEW_SECONDS
    with scratch_folder() as folder:
        assert left.exists(), "it is too young"
        remove_abandoned(str(temporary), later)
        assert Path(folder).exists()
        assert not left.exists()
    remove_abandoned(str(temporary / "missing"), later)
    assert [each.name for each in temporary.iterdir()] == [f"{PREFIX}of-an-older-version"]
