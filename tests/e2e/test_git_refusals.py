"""What would throw away others' work is refused in a session's shell; what is the session's own goes through."""

from pathlib import Path

import pytest
from tests.e2e.git_sessions import Checkout, make_checkout

from commonhold.agents.installing import with_unseen

pytestmark = pytest.mark.slow

ANN, BOB = "claude:ann", "codex:bob"
INTENT = "round the totals"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return make_checkout(tmp_path / "work", {"a.txt": "a\n", "b.txt": "b\n", "sub/s.txt": "s\n"})


@pytest.fixture
def shared(checkout: Checkout) -> Checkout:
    """Ann has changed a.txt and made x.txt; Bob has changed b.txt and made y.txt."""
    checkout.edit(ANN, "a.txt", "ann\n")
    checkout.edit(ANN, "x.txt", "x\n")
    checkout.edit(BOB, "b.txt", "bob\n", INTENT)
    checkout.edit(BOB, "y.txt", "y\n")
    return checkout


OF_ALL = [
    ("reset", "--hard"),
    ("reset", "--har", "HEAD"),
    ("checkout", "--", "."),
    ("checkout", "."),
    ("checkout", "-f"),
    ("checkout", "HEAD", "--", "a.txt", "b.txt"),
    ("checkout", "--pathspec-from-file=list"),
    ("restore", "."),
    ("restore", "-SW", "b.txt"),
    ("restore", "--source=HEAD", ":/"),
    ("stash",),
    ("stash", "push", "-m", "mine"),
    ("stash", "-u"),
    ("rm", "-f", "b.txt"),
    ("rm", "-rf", "."),
    ("mv", "-f", "a.txt", "b.txt"),
    ("read-tree", "-u", "--reset", "HEAD"),
    ("checkout-index", "-f", "-a"),
    ("switch", "--discard-changes", "main"),
    ("rebase", "--autostash", "main"),
]


def test_what_takes_away_changes_of_files(shared: Checkout) -> None:
    before = shared.text("a.txt"), shared.text("b.txt"), shared.text("x.txt")
    for words in OF_ALL:
        said = shared.refused(ANN, *words)
        assert f'b.txt ({BOB}: "{INTENT}")' in said
        assert "Next: " in said
        assert "a.txt (" not in said
    assert (shared.text("a.txt"), shared.text("b.txt"), shared.text("x.txt")) == before


def test_each_file_is_told_with_what_it_was_changed_for(checkout: Checkout) -> None:
    checkout.edit(BOB, "a.txt", "bob\n", INTENT)
    checkout.edit(BOB, "b.txt", "bob\n", "name the sums")
    said = checkout.refused(ANN, "checkout", ".")
    assert f'a.txt ({BOB}: "{INTENT}"), b.txt ({BOB}: "name the sums")' in said


def test_a_session_alone_may_throw_its_own_away(checkout: Checkout) -> None:
    for words in OF_ALL[:4]:
        checkout.edit(ANN, "a.txt", "ann\n")
        checkout.git(ANN, *words, ok=True)
        assert checkout.text("a.txt") == "a\n"
    assert checkout.staged() == ""


def test_who_is_waited_for_is_at_work(shared: Checkout) -> None:
    """A session that has ended commits nothing any more."""
    shared.edit(BOB, "b.txt", "more\n", "round the “Beträge”")
    with shared.log_of(str(shared.root), BOB) as bob:
        bob.start_session()
        said = shared.refused(ANN, "pull")
        assert f'b.txt ({BOB}: "round the “Beträge”")' in said
        assert "Next: wait until they have committed, or work on it in a tree of your own: git worktree add" in said
        bob.end_session()
    assert "Next: none of them is known to be at work any more, so make it yours: " in shared.refused(ANN, "pull")


def test_the_next_step_that_is_told_can_be_taken(shared: Checkout) -> None:
    said = shared.refused(ANN, "checkout", "--", ".")
    words = said.partition("Next: git ")[2].split()
    assert words == ["restore", "--", ":/a.txt"]
    shared.git(ANN, *words, ok=True)
    assert (shared.text("a.txt"), shared.text("b.txt")) == ("a\n", "bob\n")


def test_what_nobody_is_known_to_have_changed_is_a_persons(checkout: Checkout) -> None:
    checkout.put("b.txt", "by hand\n")
    said = checkout.refused(ANN, "checkout", "b.txt")
    assert "a person" in said
    assert checkout.text("b.txt") == "by hand\n"
    checkout.git(ANN, "checkout", "a.txt", ok=True)


def test_a_stash_before_a_pull_is_for_a_tree_of_ones_own(shared: Checkout) -> None:
    said = shared.refused(ANN, "stash")
    words = said.partition("in a tree of your own: git ")[2].partition(";")[0].split()
    assert words == ["worktree", "add", "--detach", f"{shared.root}-2", "HEAD"]
    shared.git(ANN, *words, ok=True)
    words = said.partition("to put only your own files aside: git ")[2].split()
    shared.git(ANN, *words, ok=True)
    assert (shared.text("a.txt"), shared.text("b.txt")) == ("a\n", "bob\n")
    said = shared.refused(ANN, "stash", "-u")
    assert shared.text("x.txt") == "x\n"
    said = shared.refused(ANN, "stash", "push", "-u", "--", "x.txt", "y.txt")
    shared.git(ANN, *said.partition("Next: git ")[2].split(), ok=True)
    assert (shared.root / "y.txt").exists()
    assert not (shared.root / "x.txt").exists()


def test_files_that_git_does_not_have(shared: Checkout) -> None:
    shared.git(BOB, "add", "y.txt", ok=True)
    for words in (("clean", "-fd"), ("clean", "-f", "y.txt"), ("clean", "-fdx"), ("stash", "-a")):
        assert BOB in shared.refused(ANN, *words)
    shared.git(ANN, "clean", "-n", ok=True)
    shared.git(ANN, "clean", "-f", "x.txt", ok=True)
    assert not (shared.root / "x.txt").exists()
    assert shared.text("y.txt") == "y\n"


def test_what_is_nobodys_concern_may_be_cleaned_away(checkout: Checkout) -> None:
    """But not what `install` has put there."""
    for path in ("kept.lock", "hand.txt"):
        checkout.put(path, "x\n")
    exclude = checkout.root / ".git/info/exclude"
    exclude.write_text(with_unseen("*.lock\n", ["hooks.lock"]) or "")
    checkout.put("hooks.lock", "{}\n")
    assert "hand.txt" in checkout.refused(ANN, "clean", "-fdx", "-e", "/hooks.lock")
    said = checkout.refused(ANN, "clean", "-fdx", "-e", "hand.txt")
    assert "`commonhold install` has put here" in said
    words = said.partition("Next: the same with ")[2].split()
    checkout.git(ANN, "clean", "-fdxq", "-ehand.txt", *words, ok=True)
    left = {each.name for each in checkout.root.iterdir()}
    assert {"hooks.lock", "hand.txt"} <= left
    assert "kept.lock" not in left
    assert "Next: git stash push -u" in checkout.refused(ANN, "stash", "-a", "--", "hooks.lock")


def test_a_stash_is_popped_by_who_made_it(checkout: Checkout) -> None:
    checkout.edit(BOB, "b.txt", "bob\n")
    checkout.git(BOB, "stash", ok=True)
    checkout.edit(BOB, "b.txt", None)
    checkout.edit(BOB, "b.txt", "b\n")
    checkout.edit(ANN, "a.txt", "ann\n")
    checkout.git(ANN, "stash", "push", ok=True)
    assert "stash@{1}" in checkout.refused(BOB, "stash", "pop")
    for words in (("drop", "stash@{1}"), ("clear",), ("branch", "new", "stash@{1}")):
        assert "this session did not make that stash entry" in checkout.refused(ANN, "stash", *words)
    checkout.git(ANN, "stash", "list", ok=True)
    checkout.git(BOB, "stash", "pop", "stash@{1}", ok=True)
    assert checkout.text("b.txt") == "bob\n"
    checkout.git(ANN, "stash", "pop", ok=True)
    assert checkout.text("a.txt") == "ann\n"


def test_on_a_branch_that_has_no_commit_yet_others_changes_are_still_theirs(shared: Checkout) -> None:
    assert BOB in shared.refused(ANN, "switch", "--orphan", "lone")
    shared.git(ANN, "checkout", "-q", "--orphan", "lone", ok=True)
    assert BOB in shared.refused(ANN, "rm", "-rf", ".")
    shared.git(ANN, "commit", "-qam", "root", ok=True)
    assert (shared.committed("a.txt"), shared.committed("b.txt")) == ("ann\n", "b\n")
    assert shared.person("status", "--porcelain").out.splitlines() == [" M b.txt", "?? x.txt", "?? y.txt"]
    shared.git(BOB, "commit", "-qam", "bob", ok=True)
    assert shared.changed_in() == {"b.txt"}


def test_the_tree_is_not_moved_under_others(shared: Checkout) -> None:
    shared.git(ANN, "checkout", "-q", "-b", "same", ok=True)
    shared.git(ANN, "commit", "-am", "x", ok=True)
    tree = shared.root.parent / "tree"
    shared.person("worktree", "add", "-q", "-b", "other", str(tree), "main")
    for path in ("b.txt", "y.txt"):
        (tree / path).write_text("other\n")
    shared.person("-C", str(tree), "add", "-A")
    shared.person("-C", str(tree), "commit", "-qm", "other")
    shared.person("worktree", "remove", str(tree))
    for words in (("checkout", "other"), ("switch", "other"), ("merge", "other"), ("pull",), ("rebase", "other")):
        said = shared.refused(ANN, *words)
        assert BOB in said
        assert (
            f"make it yours: commonhold adopt file:b.txt file:y.txt --from {BOB} --agent {ANN}, or work on it" in said
        )
    shared.git(BOB, "add", "-A", ok=True)
    shared.git(BOB, "commit", "-m", "y", ok=True)
    shared.git(ANN, "clean", "-f", "x.txt", ok=True)
    shared.git(ANN, "switch", "other", ok=True)
    assert (shared.text("a.txt"), shared.text("b.txt")) == ("a\n", "other\n")
    assert shared.person("status", "--porcelain").out == ""


def test_commits_of_others_stay_on_a_branch(checkout: Checkout) -> None:
    checkout.edit(BOB, "b.txt", "bob\n")
    checkout.git(BOB, "commit", "-am", "bob", ok=True)
    checkout.edit(ANN, "a.txt", "ann\n")
    checkout.git(ANN, "commit", "-am", "ann", ok=True)
    for words in (("reset", "--soft", "HEAD~2"), ("reset", "HEAD~2"), ("branch", "-f", "main", "HEAD~2")):
        assert BOB in checkout.refused(ANN, *words)
    checkout.git(ANN, "reset", "--hard", "HEAD~1", ok=True)
    assert (checkout.text("a.txt"), checkout.text("b.txt")) == ("a\n", "bob\n")
    checkout.git(BOB, "checkout", "-q", "-b", "tmp", ok=True)
    checkout.edit(BOB, "b.txt", "more\n")
    checkout.git(BOB, "commit", "-am", "more", ok=True)
    checkout.git(BOB, "checkout", "-q", "main", ok=True)
    forced = ("fetch . +main:tmp", "fetch --force . main:refs/heads/tmp")
    for line in ("branch -D tmp", "worktree add -B tmp ../new", "switch --force-c tmp", *forced):
        assert BOB in checkout.refused(ANN, *line.split())
    checkout.git(ANN, "worktree", "add", "-q", "-B", "other", "../new", ok=True)
    checkout.git(BOB, "branch", "-D", "tmp", ok=True)


def test_a_working_tree_with_others_changes_stays(checkout: Checkout, tmp_path: Path) -> None:
    place = tmp_path / "other"
    checkout.git(ANN, "worktree", "add", "-q", str(place), ok=True)
    other = Checkout(place)
    other.edit(BOB, "b.txt", "bob\n")
    assert BOB in checkout.refused(ANN, "worktree", "remove", "--force", str(place))
    checkout.git(BOB, "worktree", "remove", "--force", str(place), ok=True)


DARK = [
    ("push", "--force"),
    ("push", "origin", "+main"),
    ("push", "origin", ":main"),
    ("gc", "--prune=now"),
    ("prune",),
    ("reflog", "expire", "--expire=now", "--all"),
    ("filter-branch", "HEAD"),
    ("submodule", "deinit", "-f", "."),
]


def test_what_cannot_be_looked_into(checkout: Checkout) -> None:
    for words in DARK:
        assert "Next: " in checkout.refused(ANN, *words)


HARMLESS = [
    ("status",),
    ("diff",),
    ("reset",),
    ("reset", "b.txt"),
    ("restore", "--staged", "b.txt"),
    ("checkout", "--help"),
    ("stash", "list"),
    ("checkout", "-b", "new"),
    ("rm", "-n", "-f", "b.txt"),
]


def test_what_takes_nothing_away_is_run(shared: Checkout) -> None:
    for words in HARMLESS:
        assert not shared.git(ANN, *words).is_refused
    assert shared.text("b.txt") == "bob\n"


def test_aliases_are_what_they_stand_for(shared: Checkout) -> None:
    shared.person("config", "alias.wipe", "reset --hard")
    shared.person("config", "alias.oops", "wipe HEAD")
    shared.person("config", "alias.ci", "commit -a")
    assert BOB in shared.refused(ANN, "oops")
    shared.git(ANN, "ci", "-m", "x", ok=True)
    assert shared.changed_in() == {"a.txt"}


def test_an_alias_of_the_call_alone_is_no_way_around(shared: Checkout) -> None:
    assert BOB in shared.refused(ANN, "-c", "alias.wipe=reset --hard", "wipe")
    shared.person("config", "alias.undo", "checkout -- :/b.txt")
    assert BOB in shared.refused(ANN, "--git-dir=../.git", "--work-tree=..", "undo", folder="sub")


@pytest.mark.parametrize("words", [("checkout", "--", "b.txt"), ("clean", "-f"), ("stash",)], ids=" ".join)
def test_from_outside_of_the_tree_it_is_the_same(shared: Checkout, words: tuple[str, ...]) -> None:
    at = (f"--git-dir={shared.root}/.git", f"--work-tree={shared.root}")
    assert BOB in shared.refused(ANN, *at, *words, folder="/")


def test_a_folder_that_is_none_of_its_trees_is_not_taken_for_one(shared: Checkout, tmp_path: Path) -> None:
    (tmp_path / "www").mkdir()
    at = f"--work-tree={tmp_path}/www"
    for words in (("checkout", "-f", "main"), ("checkout", "main", "--", "sub"), ("add", "-A"), ("reset", "--hard")):
        assert "Next: git archive" in shared.refused(ANN, at, *words)
        assert "Next: git archive" in (shared.calls.refusal(ANN, str(shared.root), ("git", at, *words)) or "")
    shared.git(ANN, at, "log", "-1", ok=True)
    assert shared.git(ANN, at, "ls-files", "--deleted", ok=True).out.split() == ["a.txt", "b.txt", "sub/s.txt"]


LINES = [
    ("cd sub && git -C .. reset --hard", True),
    ("make test || git checkout -- .", True),
    ('bash -c "git stash"', True),
    ("for f in *.txt; do git checkout -- $f; done", True),
    ("git checkout -- a.txt && echo git reset --hard", False),
    ("git commit -m 'git reset --hard'", False),
    ("cd /tmp && git reset --hard", False),
]


def test_a_line_of_shell_is_looked_into(shared: Checkout) -> None:
    for line, is_refused in LINES:
        assert bool(shared.calls.refusal(ANN, str(shared.root), ("sh", "-c", line))) is is_refused, line
