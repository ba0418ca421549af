"""What a shell command finds in a working tree."""

from pathlib import Path

import pytest
from tests.e2e.cli_driver import git

from commonhold.adapters.repository import find_repository
from commonhold.adapters.survey.ground import Ground


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    git(made, "init", "--quiet")
    return made


def free(root: Path, *writable: str) -> tuple[str, ...]:
    return Ground(find_repository(str(root)), str(root), ("true",), writable).free()


def test_folders_that_the_settings_name_are_made(root: Path) -> None:
    assert free(root, "build", "./out/deep/") == ("build/", "out/deep/")
    assert (root / "out/deep").is_dir()


@pytest.mark.parametrize("target", ["../elsewhere", ".git", ".git/hooks", "."])
def test_a_link_by_the_name_of_such_a_folder_gives_nothing(root: Path, target: str) -> None:
    """A repository's settings and its links come from the same hand."""
    (root / "build").symlink_to(target)
    assert free(root, "build", "build/new") == (("new/",) if target == "." else ())
    assert not root.with_name("elsewhere").exists()
    assert not (root / ".git/new").exists()


def test_a_file_by_the_name_of_such_a_folder_is_no_obstacle(root: Path) -> None:
    (root / "build").write_text("a file")
    assert free(root, "build/deep", "build", "out") == ("build/deep/", "build/", "out/")
