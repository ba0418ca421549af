"""Which commits are part of which branch, as git says."""

import subprocess
from pathlib import Path

import pytest
from tests.e2e.cli_driver import git

from commonhold.kernel.errors import Code, InputError
from commonhold.workspace.git.history import GitHistory
from commonhold.workspace.git.process import Git
from commonhold.workspace.git.reachability import GitRevisions


def commit(root: Path, name: str) -> str:
    (root / name).write_text("x\n", encoding="utf-8")
    git(root, "add", name)
    git(root, "commit", "--quiet", "-m", name)
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "-b", "main")
    return tmp_path


def test_commits_are_part_of_a_branch_or_not_or_unknown(root: Path) -> None:
    revisions = GitRevisions(Git(str(root)))
    first = commit(root, "a")
    git(root, "switch", "--quiet", "-c", "feature")
    second = commit(root, "b")
    assert revisions.reached("main", [first, second, "d" * 40]) == {first: True, second: False}
    assert revisions.reached("feature", [first, second]) == {first: True, second: True}
    assert revisions.reached("main", []) == {}


def test_a_branch_that_does_not_exist_says_nothing(root: Path) -> None:
    revisions = GitRevisions(Git(str(root)))
    assert revisions.reached("nowhere", [commit(root, "a")]) == {}
    assert revisions.reached("--all", ["a" * 40]) == {}


def test_the_branch_and_a_revision_are_found(root: Path) -> None:
    revisions = GitRevisions(Git(str(root)))
    assert revisions.branch() == "main"
    first = commit(root, "a")
    assert revisions.commit_of("HEAD") == revisions.commit_of(first[:10]) == first
    git(root, "switch", "--quiet", "--detach")
    assert revisions.branch() == ""
    with pytest.raises(InputError, match="there is no local branch 'dev'"):
        revisions.branch_ref("dev")
    for wrong in ("nowhere", "HEAD:a", "--all", ""):
        with pytest.raises(InputError) as raised:
            revisions.commit_of(wrong)
        assert raised.value.code is Code.REVISION_UNKNOWN


def test_a_branch_without_a_commit_is_named_with_the_way_to_make_one(root: Path) -> None:
    revisions, history = GitRevisions(Git(str(root))), GitHistory(Git(str(root)), str(root / ".git"))
    for ask in (
        lambda: revisions.commit_of("HEAD"),
        lambda: revisions.commit_of("main"),
        lambda: revisions.branch_ref("main"),
        revisions.main_branch,
        lambda: history.meeting("main"),
        lambda: history.meeting_of("HEAD", "main"),
    ):
        with pytest.raises(InputError, match="the current branch has no commit yet") as raised:
            ask()
        assert raised.value.hint == "make the first commit: git add -A && git commit"
    with pytest.raises(InputError, match="git knows no commit 'nowhere'"):
        revisions.commit_of("nowhere")
    with pytest.raises(InputError, match="there is no branch, tag or commit 'nowhere'"):
        history.meeting_of("nowhere", "main")
