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


def test_of_very_many_files_that_are_written_the_folders_are_sought_as_well(root: Path) -> None:
    places = [root / folder / f"{number:03}.txt" for folder in ("a", "b", "c") for number in range(300)]
    for place in places:
        place.parent.mkdir(exist_ok=True)
        place.touch()
    ground = Ground(find_repository(str(root)), str(root), ("bash", "-c", "sed -i s/a/b/ */*.txt"))
    named, folders = ground.sought[:500], ground.sought[500:]
    assert [each.path for each in named] == [str(place.relative_to(root)) for place in places[:500]]
    assert [(each.path, each.folder) for each in folders] == [("b/", "b/"), ("c/", "c/")]


@pytest.fixture
def branches(root: Path) -> Path:
    """`main` has changed docs/n.md, `side` src/m.py, and has made a file; a change of a.txt is not committed."""
    for name in ("src/m.py", "docs/n.md", "a.txt"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("1\n")
    for words in (("add", "-A"), ("commit", "-qm", "begin"), ("branch", "-M", "main"), ("switch", "-qc", "side")):
        git(root, *words)
    (root / "src/m.py").write_text("2\n")
    (root / "src/new.py").write_text("2\n")
    for words in (("add", "-A"), ("commit", "-qm", "side"), ("switch", "-q", "main")):
        git(root, *words)
    (root / "docs/n.md").write_text("3\n")
    git(root, "commit", "-qam", "main")
    (root / "a.txt").write_text("4\n")
    return root


OF_GIT = {
    "git merge side": ["src/m.py", "src/new.py"],
    "git merge nowhere": [""],
    "cd docs; git switch side": ["docs/n.md", "src/m.py", "src/new.py"],
    "git -C src checkout side -- m.py": ["src/m.py"],
    "git checkout $X": [""],
    "git reset --hard": ["a.txt"],
    "git reset --hard side": ["a.txt", "docs/n.md", "src/m.py", "src/new.py"],
    "git cherry-pick side": ["src/m.py", "src/new.py"],
    "git stash; git stash pop": ["a.txt"],
    "git stash && git pull": ["a.txt", ""],
    "git onto side": ["docs/n.md", "src/m.py", "src/new.py"],
    "git log; git status; git add -A": [],
    "cd /; git reset --hard": [],
}


@pytest.mark.parametrize("line", OF_GIT)
def test_what_git_is_about_to_write_is_known(branches: Path, line: str) -> None:
    git(branches, "config", "alias.onto", "rebase")
    ground = Ground(find_repository(str(branches)), str(branches), ("bash", "-c", line))
    assert [each.path for each in ground.sought] == OF_GIT[line]


def test_of_very_many_files_any_may_be_written(branches: Path) -> None:
    for number in range(101):
        (branches / f"{number}.txt").write_text("x")
    git(branches, "add", "-A")
    ground = Ground(find_repository(str(branches)), str(branches), ("git", "reset", "--hard"))
    assert [each.path for each in ground.sought] == [""]
