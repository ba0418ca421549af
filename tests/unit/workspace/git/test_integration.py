"""The branch that a merge queue lands on: moved by compare-and-swap, never under somebody's uncommitted work."""

import subprocess
from pathlib import Path

import pytest
from tests.e2e.branches import asked, commit, state
from tests.e2e.cli_driver import git

from commonhold.kernel.errors import InputError
from commonhold.workspace.git.integration import NOTES, IntegrationBranch, Moving
from commonhold.workspace.git.process import Git

MAIN = "refs/heads/main"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with `main` at two commits, the older one being the branch's head; `next` is the newer one."""
    made = tmp_path / "r"
    made.mkdir()
    git(made, "init", "--quiet")
    commit(made, {"a.txt": "a\n", "b.txt": "b\n"}, "begin")
    git(made, "switch", "--quiet", "--create", "next")
    commit(made, {"a.txt": "A\n"}, "next")
    return made


def branch(root: Path) -> IntegrationBranch:
    return IntegrationBranch(Git(str(root)), MAIN)


def test_a_branch_that_is_not_checked_out_moves_by_compare_and_swap(root: Path) -> None:
    old, new = asked(root, "rev-parse", "main", "next").split()
    assert branch(root).head() == old
    assert branch(root).move(new, new).moving is Moving.STALE
    assert branch(root).move(old, new).moving is Moving.MOVED
    assert branch(root).move(old, new).moving is Moving.STALE
    assert asked(root, "rev-parse", "main") == new
    assert "merge queue" in asked(root, "reflog", "-1", "main")


def test_a_clean_checkout_moves_with_its_branch_and_keeps_what_others_changed_elsewhere(root: Path) -> None:
    git(root, "switch", "--quiet", "main")
    (root / "b.txt").write_text("mine\n", encoding="utf-8")
    old, new = asked(root, "rev-parse", "main", "next").split()
    assert branch(root).move(old, new).moving is Moving.MOVED
    assert asked(root, "rev-parse", "HEAD") == new
    assert ((root / "a.txt").read_text(encoding="utf-8"), (root / "b.txt").read_text(encoding="utf-8")) == (
        "A\n",
        "mine\n",
    )
    assert asked(root, "status", "--porcelain") == "M b.txt"


def test_a_checkout_with_changes_in_the_way_stays_as_it_is(root: Path) -> None:
    git(root, "switch", "--quiet", "main")
    (root / "a.txt").write_text("mine\n", encoding="utf-8")
    before, (old, new) = state(root), asked(root, "rev-parse", "main", "next").split()
    found = branch(root).move(old, new)
    assert found.moving is Moving.BLOCKED
    assert "a.txt would be overwritten: commit or stash it there" in found.why
    assert state(root) == before


def test_a_linked_checkout_is_found_and_one_amid_a_merge_is_left_alone(root: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(root, "worktree", "add", "--quiet", str(linked), "main")
    old, new = asked(root, "rev-parse", "main", "next").split()
    git_dir = asked(linked, "rev-parse", "--absolute-git-dir")
    Path(git_dir, "MERGE_HEAD").write_text(f"{new}\n", encoding="utf-8")
    found = branch(root).move(old, new)
    assert (found.moving, "a merge is under way" in found.why) == (Moving.BLOCKED, True)
    Path(git_dir, "MERGE_HEAD").unlink()
    assert branch(root).move(old, new).moving is Moving.MOVED
    assert (linked / "a.txt").read_text(encoding="utf-8") == "A\n"


def test_a_merge_commit_is_the_same_whenever_it_is_made(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = asked(root, "rev-parse", "main", "next").split()
    tree = asked(root, "rev-parse", "next^{tree}")
    first = branch(root).merge_commit(old, new, tree, "Land next\n\nCommonhold-Entry: e1")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z")
    assert branch(root).merge_commit(old, new, tree, "Land next\n\nCommonhold-Entry: e1") == first
    assert asked(root, "show", "--no-patch", "--format=%P %T %an", first) == f"{old} {new} {tree} t"
    assert branch(root).is_part(new, first)
    assert not branch(root).is_part("d" * 40, first)


def test_landed_commits_carry_their_attribution(root: Path) -> None:
    old, new = asked(root, "rev-parse", "main", "next").split()
    tree = asked(root, "rev-parse", "next^{tree}")
    message = "Land next: next\n\nCommonhold-Entry: e1\nCommonhold-Task: price\nCommonhold-Agent: claude:1"
    built = branch(root).merge_commit(old, new, tree, message)
    for _ in range(2):
        branch(root).annotate(old, built, "Commonhold-Entry: e1\n")
    for each in (built, new):
        assert asked(root, "notes", "--ref", NOTES, "show", each) == "Commonhold-Entry: e1"
    shown = subprocess.run(["git", "notes", "--ref", NOTES, "show", old], cwd=root, check=False, capture_output=True)
    assert shown.returncode
    assert branch(root).landed_since(old, built) == ("e1",)
    (line,) = branch(root).changes_to("a.txt", old, built)
    assert line.endswith("Land next: next (entry e1, task price, agent claude:1)")
    assert branch(root).changes_to("b.txt", old, built) == ()


def test_a_branch_that_does_not_exist_is_an_error(root: Path) -> None:
    with pytest.raises(InputError, match="refs/heads/nowhere"):
        IntegrationBranch(Git(str(root)), "refs/heads/nowhere").head()


def test_a_tested_commit_that_git_has_pruned_must_be_made_again(root: Path) -> None:
    old = asked(root, "rev-parse", "main")
    found = branch(root).move(old, "d" * 40)
    assert (found.moving, found.why) == (Moving.STALE, "the merge commit of its batch is no longer in the repository")
    assert branch(root).head() == old
