"""A command beside files that others hold: it runs without write access to them, or not at all, or is watched."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
PROGRAM = """
import os, sys
from commonhold.client.launching import running
from commonhold.workspace.sandbox import mounts
number, failures, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
def mask(paths, kept):
    with open(f"{folder}/tries", "a") as file:
        file.write("x")
    if os.path.getsize(f"{folder}/tries") <= failures:
        raise OSError(number, "not now")
mounts.mask = mask
allowance = running.Allowance(running.UNBOUND | {"masked": ["held"], "env": {}})
status = running.run(["touch", f"{folder}/ran"], allowance)
print(allowance.masked, file=sys.stderr)
sys.exit(status)
"""


def run(folder: Path, number: int, failures: int) -> subprocess.CompletedProcess[str]:
    """Run a command whose mounts fail so often with this error."""
    words = [sys.executable, "-c", PROGRAM, str(number), str(failures), str(folder)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_a_file_that_was_just_replaced_is_mounted_over_at_the_next_attempt(tmp_path: Path) -> None:
    done = run(tmp_path, errno.ENOENT, 2)
    assert (done.returncode, done.stderr) == (0, "['held']\n")
    assert (tmp_path / "ran").exists()


def test_no_command_runs_where_mounting_fails_for_a_reason_that_may_pass(tmp_path: Path) -> None:
    done = run(tmp_path, errno.ENOMEM, 99)
    assert done.returncode == 126
    assert "commonhold: the command was not run: the files that others hold could not be made read-only" in done.stderr
    assert "Next: run it again" in done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOSPC])
def test_whoever_may_not_mount_runs_it_at_once_and_says_so(tmp_path: Path, number: int) -> None:
    """It is watched, and nothing is masked: the launcher reports that."""
    done = run(tmp_path, number, 99)
    assert (done.returncode, done.stderr) == (0, "[]\n")
    assert ((tmp_path / "tries").read_text(), (tmp_path / "ran").exists()) == ("x", True)
