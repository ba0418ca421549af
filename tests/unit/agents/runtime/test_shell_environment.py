"""What the shells of sessions find beside git."""

import os
import subprocess
from pathlib import Path

import pytest

from commonhold import __version__
from commonhold.agents.runtime.shell_environment import with_our_command

pytestmark = pytest.mark.slow


def test_our_command_comes_behind_what_stands_in_for_git(tmp_path: Path) -> None:
    told = with_our_command(str(tmp_path), "ann", {"COMMONHOLD_PROGRAMS": "/stand-in", "GIT_INDEX_FILE": "i"})
    assert told.pop("COMMONHOLD_PROGRAMS").split(os.pathsep) == ["/stand-in", str(tmp_path / "bin")]
    assert told == {"GIT_INDEX_FILE": "i", "COMMONHOLD_AGENT": "ann", "COMMONHOLD_HOLDER": "ann"}


def test_without_git_it_is_there_alone_and_runs(tmp_path: Path) -> None:
    folder = with_our_command(str(tmp_path), "ann", {})["COMMONHOLD_PROGRAMS"]
    done = subprocess.run(
        ("commonhold", "--version"), env={"PATH": f"{folder}:{os.defpath}"}, capture_output=True, text=True, check=True
    )
    assert __version__ in done.stdout
    assert os.listdir(folder) == ["commonhold"]  # noqa: PTH208 - the names alone


def test_what_came_with_a_folder_is_no_program_of_its_shells(tmp_path: Path) -> None:
    """A folder without git may have been unpacked with a state folder: what lies there would be run first."""
    folder, outside = tmp_path / "bin", tmp_path / "outside"
    outside.mkdir()
    (outside / "ls").write_text("theirs")
    (outside / "profile").write_text("mine")
    folder.symlink_to(outside)
    with_our_command(str(tmp_path), "ann", {})
    assert (folder.is_symlink(), os.listdir(folder)) == (False, ["commonhold"])  # noqa: PTH208 - the names alone
    (folder / "ls").write_text("theirs")
    (folder / "commonhold").unlink()
    for name in ("commonhold", "commonhold.new"):
        (folder / name).symlink_to(outside / "profile")
    with_our_command(str(tmp_path), "ann", {})
    assert os.listdir(folder) == ["commonhold"]  # noqa: PTH208 - as above
    assert os.access(folder / "commonhold", os.X_OK)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["bin", "outside"]
    assert {each.name: each.read_text() for each in outside.iterdir()} == {"ls": "theirs", "profile": "mine"}
