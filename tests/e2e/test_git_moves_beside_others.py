"""A switch, a merge and their like beside others' uncommitted work: refused only where both concern the same files."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.e2e.git_sessions import Checkout, make_checkout
from tests.e2e.templates import copied

pytestmark = pytest.mark.slow

ANN, BOB = "claude:ann", "codex:bob"
FILES: dict[str, str | bytes] = {"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n", "sub/s.txt": "s\n"}
BRANCHES = {
    "far": ("c.txt", "sub/new.txt"),
    "on_changed": ("b.txt",),
    "on_new": ("y.txt",),
    "below_new": ("y.txt/below.txt",),
    "above_new": ("made",),
}
MEETING = {"on_changed": "b.txt", "on_new": "y.txt", "below_new": "y.txt", "above_new": "made/z.txt"}
MOVES = (
    "checkout -q {}",
    "checkout -q --detach {}",
    "checkout -q -b new {}",
    "switch -q {}",
    "switch -q --detach {}",
    "switch -q -c new {}",
    "merge -q {}",
    "merge -q --no-ff -m joined {}",
    "cherry-pick {}",
    "pull -q --no-rebase . {}",
    "am {}.patch",
)


@pytest.fixture
def shared(tmp_path: Path) -> Checkout:
    """Several branches that each write other files; Bob has changed b.txt and made y.txt and made/z.txt."""
    made = Checkout(copied(tmp_path / "work", "branches that move", make_branches))
    made.write(BOB, {"b.txt": "bob\n", "y.txt": "y\n", "made/z.txt": "z\n"}, "round the totals")
    return made


def make_branches(root: Path) -> None:
    made = make_checkout(root, FILES)
    with TemporaryDirectory() as folder:
        for branch, paths in BRANCHES.items():
            commit(made, Path(folder, "tree"), branch, *paths)
            patch = made.person("format-patch", "-1", "--stdout", branch).out
            made.root.joinpath(f".git/{branch}.patch").write_text(patch)


def commit(checkout: Checkout, tree: Path, branch: str, *paths: str) -> None:
    """A person commits some files on a branch from main, as in another working tree."""
    checkout.person("worktree", "add", "-q", "-b", branch, str(tree), "main")
    for path in paths:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(f"{branch}\n")
    for words in (("add", "-A"), ("commit", "-qm", branch)):
        assert checkout.person("-C", str(tree), *words).status == 0
    checkout.person("worktree", "remove", str(tree))


def words_of(move: str, branch: str) -> list[str]:
    word = f".git/{branch}" if ".patch" in move else branch
    return move.format(word).split()


@pytest.mark.parametrize("move", MOVES)
def test_it_goes_through_where_the_files_do_not_meet(shared: Checkout, move: str) -> None:
    shared.git(ANN, *words_of(move, "far"), ok=True)
    assert (shared.text("c.txt"), shared.text("sub/new.txt")) == ("far\n", "far\n")
    assert [shared.text(path) for path in ("b.txt", "y.txt", "made/z.txt")] == ["bob\n", "y\n", "z\n"]
    shared.git(BOB, "add", "-A", ok=True)
    shared.git(BOB, "commit", "-qm", "bob", ok=True)
    assert shared.changed_in() == {"b.txt", "y.txt", "made/z.txt"}
    assert shared.person("status", "--porcelain").out == ""


@pytest.mark.parametrize("move", MOVES)
def test_it_is_refused_where_they_meet(shared: Checkout, move: str) -> None:
    for branch, path in MEETING.items():
        said = shared.refused(ANN, *words_of(move, branch))
        assert "it would change files under other sessions, whose work here is not committed: " in said
        assert f'{path} ({BOB}: "round the totals")' in said
        assert [each for each in ("b.txt (", "y.txt (", "made/z.txt (") if each in said] == [f"{path} ("]
        assert "Next: " in said
    assert shared.person("symbolic-ref", "--short", "HEAD").out == "main\n"


def test_a_pull_is_judged_by_what_it_brings(shared: Checkout, tmp_path: Path) -> None:
    far = tmp_path / "far"
    shared.person("clone", "-q", "--bare", ".", str(far))
    shared.person("remote", "add", "origin", str(far))
    shared.person("fetch", "-q", "origin")
    shared.person("branch", "-q", "--set-upstream-to=origin/main", "main")
    shared.person("-C", str(far), "branch", "-f", "main", "on_changed")
    assert "b.txt (" in shared.refused(ANN, "pull", "-q")
    shared.person("-C", str(far), "branch", "-f", "main", "far")
    shared.git(ANN, "pull", "-q", ok=True)
    assert (shared.text("c.txt"), shared.text("b.txt")) == ("far\n", "bob\n")


def test_a_merge_of_the_upstream_needs_no_name(shared: Checkout) -> None:
    for branch in ("on_changed", "far"):
        shared.person("branch", "-q", f"--set-upstream-to={branch}", "main")
        assert shared.git(ANN, "merge", "-q").is_refused is (branch == "on_changed")
    assert shared.text("c.txt") == "far\n"


def test_a_branch_that_only_a_remote_has(shared: Checkout, tmp_path: Path) -> None:
    far = tmp_path / "far"
    shared.person("clone", "-q", "--bare", ".", str(far))
    shared.person("remote", "add", "origin", str(far))
    shared.person("fetch", "-q", "origin")
    for branch in ("far", "on_changed"):
        shared.person("branch", "-q", "-D", branch)
    assert "b.txt (" in shared.refused(ANN, "switch", "on_changed")
    shared.git(ANN, "switch", "-q", "far", ok=True)


def test_git_rebases_beside_new_files_alone(shared: Checkout) -> None:
    """Of what others have changed git would say only that there is something."""
    shared.edit(ANN, "a.txt", "ann\n")
    shared.git(ANN, "commit", "-qam", "ann", ok=True)
    for words in (("rebase", "far"), ("pull", "--rebase", ".", "far")):
        said = shared.refused(ANN, *words)
        assert "git rebases only where nothing is uncommitted, and other sessions have uncommitted work here: " in said
        assert "b.txt (" in said
        assert "y.txt (" not in said
    shared.git(BOB, "commit", "-qm", "b", "--", "b.txt", ok=True)
    assert "y.txt (" in shared.refused(ANN, "rebase", "on_new")
    shared.git(ANN, "rebase", "-q", "far", ok=True)
    assert (shared.text("a.txt"), shared.text("b.txt"), shared.text("c.txt")) == ("ann\n", "bob\n", "far\n")


@pytest.mark.parametrize("move", ["switch nowhere", "merge nowhere", "bisect start", "rebase --onto far main"])
def test_where_the_target_cannot_be_told_it_is_refused(shared: Checkout, move: str) -> None:
    assert BOB in shared.refused(ANN, *move.split())


def test_nobody_else_keeps_it_back(shared: Checkout) -> None:
    shared.git(BOB, "add", "-A", ok=True)
    shared.git(BOB, "commit", "-qm", "bob", ok=True)
    shared.edit(ANN, "a.txt", "ann\n")
    shared.git(ANN, "switch", "-q", "far", ok=True)
    assert shared.text("a.txt") == "ann\n"
