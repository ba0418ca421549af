"""What is read without git is what git says, or git is asked."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.e2e.cli_driver import GIT

from commonhold.shell.git_words import GitCall
from commonhold.workspace.git import plain_files
from commonhold.workspace.git.aliases import resolved
from commonhold.workspace.git.differences import branch_of, find_tree, head_of
from commonhold.workspace.git.process import Git

pytestmark = pytest.mark.slow


def git(root: Path, *words: str) -> str:
    done = subprocess.run((*GIT, *words), cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    (place / "src/deep").mkdir(parents=True)
    (place / "src/a").write_text("a")
    git(place, "init", "-q", "-b", "main")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "first")
    git(place, "commit", "-qm", "second", "--allow-empty")
    return place


def test_in_an_ordinary_repository_git_is_not_started(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = git(root, "rev-parse", "HEAD")
    monkeypatch.setattr(Git, "run", lambda *_, **__: pytest.fail("git was started"))
    assert plain_files.git_folder_of(str(root / "src/deep")) == (str(root), f"{root}/.git")
    assert head_of(Git(str(root))) == commit
    assert branch_of(Git(str(root))) == "main"
    call = GitCall((), "status", ())
    assert resolved(Git(str(root)), call, ()) is call


def unborn(root: Path) -> None:
    git(root, "checkout", "-q", "--orphan", "new")


def detached(root: Path) -> None:
    git(root, "checkout", "-q", "--detach", "HEAD~1")


def packed(root: Path) -> None:
    git(root, "pack-refs", "--all")


def branched(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "feature/\u00e9")


def symbolic(root: Path) -> None:
    git(root, "symbolic-ref", "refs/heads/other", "refs/heads/main")
    git(root, "symbolic-ref", "HEAD", "refs/heads/other")


def moved(root: Path) -> None:
    (root.parent / "elsewhere").mkdir()
    git(root, "config", "core.worktree", str(root.parent / "elsewhere"))


def bare(root: Path) -> None:
    git(root, "config", "core.bare", "true")


def included(root: Path) -> None:
    (root.parent / "more").write_text("[core]\n\tbare = true\n")
    git(root, "config", "include.path", str(root.parent / "more"))


def separate(root: Path) -> None:
    git(root, "init", "-q", "--separate-git-dir", str(root.parent / "git"))


def linked(root: Path) -> None:
    (root / ".git").rename(root.parent / "git")
    (root / ".git").symlink_to(root.parent / "git")


def nested(root: Path) -> None:
    git(root / "src", "init", "-q")


def bare_inside(root: Path) -> None:
    git(root, "init", "-q", "--bare", "src/deep")


def submodule(root: Path) -> None:
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(root), "src/deep/sub")


def other_tree(root: Path) -> None:
    git(root, "worktree", "add", "-q", "src/deep/tree")
    git(root / "src/deep/tree", "commit", "-qm", "third", "--allow-empty")


def broken(root: Path) -> None:
    (root / ".git/HEAD").unlink()


def untouched(_root: Path) -> None:
    return


STATES: list[Callable[[Path], None]] = [
    *(untouched, unborn, detached, packed, branched, symbolic, moved, bare, included, separate, linked, nested),
    *(bare_inside, submodule, other_tree, broken),
]


@pytest.mark.parametrize("state", STATES)
def test_what_is_found_is_what_git_says(
    root: Path, state: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    state(root)
    (root.parent / "way").symlink_to(root / "src")
    folders = [root, *(Path(each) for each, _, _ in os.walk(root)), root.parent / "way/deep", root.parent]

    def said() -> list[object]:
        return [(find_tree(git), head_of(git), branch_of(git)) for git in (Git(str(each)) for each in folders)]

    found = said()
    monkeypatch.setattr(plain_files, "git_folder_of", lambda _: None)
    assert found == said()
