"""What a shell command finds in a working tree."""

import os
from pathlib import Path

import pytest
from tests.e2e.cli_driver import git

from commonhold.workspace.repository import find_repository
from commonhold.workspace.survey.ground import ScanScope

pytestmark = pytest.mark.slow


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    git(made, "init", "--quiet")
    return made


def ground(root: Path, line: str) -> ScanScope:
    return ScanScope(find_repository(str(root)), str(root), ("bash", "-c", line))


@pytest.mark.parametrize("target", ["../elsewhere", ".git", ".git/hooks"])
def test_what_a_link_leads_to_elsewhere_is_no_concern(root: Path, target: str) -> None:
    (root / "link").symlink_to(target)
    assert ground(root, "echo > link/new; rm -r link/").named == ()


def test_a_folder_is_looked_into_or_goes_as_a_whole(root: Path) -> None:
    (root / "src").mkdir()
    found = ground(root, "ruff format . src; rm -r src; cp a src/; touch src/new/x")
    assert [(each.path, each.is_within) for each in found.named] == [
        *(("", True), ("src/", True), ("src/", False), ("src/a", False), ("src/new/x", False))
    ]


def test_what_git_ignores_is_nobodys_concern(root: Path) -> None:
    (root / ".gitignore").write_text("build/\n*.log\n")
    found = ground(root, "echo > a.log; echo > build/x; mkdir build; echo > src/x")
    assert [each.path for each in found.concern] == ["src/x"]


def test_what_a_program_writes_of_its_own_is_known_by_its_verb(root: Path) -> None:
    lines = {
        "npm ci": [],
        "npm install": ["package-lock.json"],
        "npm install x": ["package.json", "package-lock.json"],
        "go mod download": [],
        "go mod tidy": ["go.mod", "go.sum"],
        "uv sync": ["uv.lock"],
    }
    assert {line: [each.path for each in ground(root, line).named] for line in lines} == lines


def test_of_very_many_files_that_are_written_some_are_leased(root: Path) -> None:
    places = [root / folder / f"{number:03}.txt" for folder in ("a", "b", "c") for number in range(300)]
    for place in places:
        place.parent.mkdir(exist_ok=True)
        place.touch()
    found = ground(root, "sed -i s/a/b/ */*.txt")
    assert [each.path for each in found.named] == [str(place.relative_to(root)) for place in places]
    assert found.leasable == tuple(each.path for each in found.named[:500])


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
    assert [each.path for each in ground(branches, line).named] == OF_GIT[line]


def test_of_very_many_files_any_may_be_written(branches: Path) -> None:
    for number in range(101):
        (branches / f"{number}.txt").write_text("x")
    git(branches, "add", "-A")
    assert [each.path for each in ground(branches, "git reset --hard").named] == [""]


def test_the_index_is_only_read(branches: Path) -> None:
    os.utime(branches / "src/m.py", (1, 1))  # `git diff` and `git status` by themselves would note that it is the same
    (branches / "untracked é.txt").write_text("x")
    index = branches / ".git/index"
    before = index.read_bytes(), index.stat().st_ino
    assert [each.path for each in ground(branches, "git reset --hard").named] == ["a.txt", "untracked é.txt"]
    assert (index.read_bytes(), index.stat().st_ino) == before
