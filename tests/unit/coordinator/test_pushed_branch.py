"""A branch that lands on a remote: the remote moves first, by compare-and-swap, and the local one follows it."""

from pathlib import Path

import pytest
from tests.e2e.branches import asked, commit
from tests.e2e.cli_driver import git
from tests.unit.coordinator.test_integration import branch as local_branch

from commonhold.coordinator.integration import GitBranch
from commonhold.kernel.errors import Code, InputError, StoreError, UsageError
from commonhold.workspace.git.integration import Moving
from commonhold.workspace.git.process import Git
from commonhold.workspace.git.remote_branch import RemoteBranch

MAIN = "refs/heads/main"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with `main` checked out and pushed to the bare repository beside it, and a newer commit `next`."""
    made = tmp_path / "r"
    made.mkdir()
    git(made, "init", "--quiet")
    commit(made, {"a.txt": "a\n"}, "begin")
    git(made, "init", "--quiet", "--bare", str(tmp_path / "origin.git"))
    git(made, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(made, "push", "--quiet", "origin", "main")
    git(made, "switch", "--quiet", "--create", "next")
    commit(made, {"a.txt": "next\n"}, "next")
    git(made, "switch", "--quiet", "main")
    return made


def branch(root: Path) -> GitBranch:
    found = local_branch(root)
    found._remote = RemoteBranch(Git(str(root)), "origin", MAIN)
    return found


def ends(root: Path) -> tuple[str, str]:
    """Return where the branch is here, and at the remote."""
    return asked(root, "rev-parse", "main"), asked(root, "ls-remote", "origin", MAIN).split("\t")[0]


def push_by_another(root: Path) -> str:
    """Let another clone push a commit; return it."""
    other = root.parent / "other"
    git(root, "clone", "--quiet", "--branch", "main", str(root.parent / "origin.git"), str(other))
    commit(other, {"b.txt": "b\n"}, "by another")
    git(other, "push", "--quiet", "origin", "main")
    return asked(other, "rev-parse", "main")


def test_both_move_to_the_tested_commit_with_the_files_of_the_checkout(root: Path) -> None:
    old, new = asked(root, "rev-parse", "main", "next").split()
    assert branch(root).head() == old
    assert branch(root).move(old, new).moving is Moving.MOVED
    assert ends(root) == (new, new)
    assert (root / "a.txt").read_text(encoding="utf-8") == "next\n"


def test_commits_that_others_push_are_followed_and_never_overwritten(root: Path) -> None:
    old, new = asked(root, "rev-parse", "main", "next").split()
    theirs = push_by_another(root)
    found = branch(root).move(old, new)
    assert (found.moving, found.why) == (Moving.STALE, "origin/main was moved by others")
    assert ends(root) == (old, theirs)
    assert branch(root).head() == theirs
    assert ends(root) == (theirs, theirs)
    assert (root / "b.txt").exists()


def test_a_runner_that_was_killed_between_the_two_moves_is_followed_by_one_that_makes_the_second(root: Path) -> None:
    old, new = asked(root, "rev-parse", "main", "next").split()
    assert RemoteBranch(Git(str(root)), "origin", MAIN).push(old, new).moving is Moving.MOVED
    assert ends(root) == (old, new)
    assert RemoteBranch(Git(str(root)), "origin", MAIN).push(old, new).moving is Moving.MOVED
    successor = branch(root)
    assert successor.is_part(new, successor.head())
    assert ends(root) == (new, new)


def test_a_checkout_in_the_way_holds_up_the_remote_too(root: Path) -> None:
    old, new = asked(root, "rev-parse", "main", "next").split()
    (root / "a.txt").write_text("mine\n", encoding="utf-8")
    assert branch(root).move(old, new).moving is Moving.BLOCKED
    assert ends(root) == (old, old)


def test_a_commit_that_the_remote_does_not_take_moves_nothing(root: Path) -> None:
    old, new = asked(root, "rev-parse", "main", "next").split()
    hook = root.parent / "origin.git" / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'no release note' >&2\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    found = branch(root).move(old, new)
    assert found.moving is Moving.REFUSED
    assert "origin/main does not take it" in found.why
    assert "no release note" in found.why
    assert ends(root) == (old, old)


def test_local_commits_that_the_remote_lacks_are_not_published_unasked(root: Path) -> None:
    commit(root, {"c.txt": "c\n"}, "not pushed")
    with pytest.raises(InputError, match="main has commits that origin/main lacks") as ahead:
        branch(root).head()
    assert (ahead.value.code, "git push origin main" in ahead.value.hint) == (Code.BRANCH_DIVERGED, True)
    push_by_another(root)
    with pytest.raises(InputError) as apart:
        branch(root).head()
    assert "git pull --rebase origin main" in apart.value.hint


def test_a_remote_that_is_missing_or_cannot_be_reached_is_an_error(root: Path) -> None:
    for name in ("nowhere", "--upload-pack=x"):
        with pytest.raises(UsageError, match="there is no git remote"):
            RemoteBranch(Git(str(root)), name, MAIN)
    with pytest.raises(InputError, match="the remote origin has no branch other"):
        RemoteBranch(Git(str(root)), "origin", "refs/heads/other").head()
    git(root, "remote", "set-url", "origin", str(root.parent / "gone.git"))
    with pytest.raises(StoreError, match="git ls-remote"):
        branch(root).head()
