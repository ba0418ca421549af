"""What happens beside a session's call of git: other sessions, a person, a lock that stays, a merge under way."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.e2e.git_sessions import IDENTITY, Checkout, make_checkout, run

pytestmark = pytest.mark.slow

ANN, BOB = "claude:ann", "codex:bob"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return make_checkout(tmp_path / "work", {"a.txt": "a\n", "b.txt": "b\n"})


def commit(checkout: Checkout, holder: str, number: int) -> None:
    checkout.git(holder, "add", "-A", ok=True)
    checkout.git(holder, "commit", "-m", f"{holder} {number}", ok=True)


def test_many_commit_at_once(tmp_path: Path) -> None:
    lines = "".join(f"{number}\n\n\n" for number in range(8))
    checkout = make_checkout(tmp_path / "work", {"all.txt": lines})
    holders = [f"claude:{number}" for number in range(8)]
    for number, holder in enumerate(holders):
        checkout.edit(holder, "all.txt", checkout.text("all.txt").replace(f"{number}\n", f"{number} {holder}\n"))
        checkout.edit(holder, f"{number}.txt", "own\n")
    with ThreadPoolExecutor(len(holders)) as threads:
        list(threads.map(lambda holder: commit(checkout, holder, 1), holders))
    assert checkout.person("rev-list", "--count", "HEAD").out == "9\n"
    for made in checkout.person("rev-list", "HEAD", "--not", "HEAD~8").out.split():
        whose = checkout.person("log", "-1", "--format=%s", made).out.split()[0].partition(":")[2]
        assert checkout.changed_in(made) == {"all.txt", f"{whose}.txt"}
        assert checkout.person("diff", "--numstat", f"{made}~", made, "--", "all.txt").out.split()[:2] == ["1", "1"]
    assert checkout.person("status", "--porcelain").out == ""


def test_a_lock_that_a_stranger_left_fails_nobody(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonhold.workspace.git.indexes._LOCK_SECONDS", 0.0)
    lock = checkout.root / ".git" / "index.lock"
    lock.touch()
    checkout.edit(ANN, "a.txt", "ann\n")
    checkout.git(ANN, "add", "a.txt", ok=True)
    checkout.git(ANN, "commit", "-m", "x", ok=True)
    assert checkout.changed_in() == {"a.txt"}
    assert lock.exists()
    lock.unlink()
    checkout.edit(ANN, "a.txt", "more\n")
    checkout.git(ANN, "commit", "-am", "y", ok=True)
    assert checkout.staged() == ""


def test_a_lock_of_its_own_that_a_killed_call_left(checkout: Checkout) -> None:
    checkout.edit(ANN, "a.txt", "ann\n")
    index = checkout.calls.environment(ANN, str(checkout.root))["GIT_INDEX_FILE"]
    Path(f"{index}.lock").touch()
    checkout.git(ANN, "commit", "-am", "x", ok=True)


def test_a_person_who_commits_in_the_middle_loses_nothing(checkout: Checkout) -> None:
    """Between our look at HEAD and git's own: the commit is rebuilt on top of the person's."""
    checkout.edit(ANN, "a.txt", "ann\n")
    asked = {"holder": ANN, "cwd": str(checkout.root), "argv": ["commit", "-am", "x"], "has_turn": True}
    answer = checkout.calls.begin(asked)
    checkout.put("b.txt", "by hand\n")
    checkout.person("commit", "-m", "by hand", "b.txt")
    done = run(str(checkout.root), answer["argv"], answer["env"])
    told = checkout.calls.end({"after": answer["after"], "status": done.returncode})
    assert told == {"again": True}
    checkout.git(ANN, "commit", "-am", "x", ok=True)
    assert checkout.changed_in() == {"a.txt"}
    assert checkout.committed("b.txt") == "by hand\n"
    assert checkout.person("log", "--format=%s").out.split("\n")[:3] == ["x", "by hand", "begin"]


@pytest.fixture
def crossed(checkout: Checkout) -> Checkout:
    """Two branches that changed the same line."""
    checkout.person("checkout", "-q", "-b", "other")
    checkout.put("a.txt", "theirs\n")
    checkout.person("commit", "-qam", "theirs")
    checkout.person("checkout", "-q", "main")
    checkout.put("a.txt", "ours\n")
    checkout.person("commit", "-qam", "ours")
    return checkout


def test_a_merge_is_finished_by_who_began_it(crossed: Checkout) -> None:
    crossed.git(ANN, "merge", "other", ok=False)
    crossed.edit(BOB, "b.txt", "bob\n")
    said = crossed.refused(BOB, "commit", "-am", "x")
    assert ANN in said
    assert "merge" in said
    crossed.edit(ANN, "a.txt", "both\n")
    crossed.git(ANN, "add", "a.txt", ok=True)
    crossed.git(ANN, "commit", "-m", "joined", ok=True)
    assert len(crossed.person("log", "-1", "--format=%p").out.split()) == 2
    assert crossed.committed("a.txt") == "both\n"
    crossed.git(BOB, "commit", "-am", "x", ok=True)
    assert crossed.changed_in() == {"b.txt"}
    assert crossed.person("status", "--porcelain").out == ""


def test_a_rebase_that_stops_goes_on(crossed: Checkout) -> None:
    crossed.git(ANN, "rebase", "other", ok=False)
    crossed.edit(ANN, "a.txt", "both\n")
    assert ANN in crossed.refused(BOB, "rebase", "--continue")
    crossed.git(ANN, "add", "a.txt", ok=True)
    crossed.git(ANN, "-c", "core.editor=true", "rebase", "--continue", ok=True)
    assert crossed.committed("a.txt") == "both\n"
    assert crossed.person("status", "--porcelain").out == ""


def test_a_merge_that_a_person_began_is_taken_over_by_who_solves_it(crossed: Checkout) -> None:
    crossed.person("merge", "other")
    crossed.edit(BOB, "b.txt", "bob\n")
    assert "without a session" in crossed.refused(BOB, "commit", "-am", "x")
    crossed.edit(ANN, "a.txt", "both\n")
    crossed.git(ANN, "add", "a.txt", ok=True)
    assert ANN in crossed.refused(BOB, "commit", "-am", "x")
    crossed.git(ANN, "commit", "-m", "joined", ok=True)
    assert len(crossed.person("log", "-1", "--format=%p").out.split()) == 2
    assert crossed.person("status", "--porcelain").out == " M b.txt\n"
    assert crossed.git(ANN, "status", "--porcelain").out == " M b.txt\n"


def test_hooks_and_identity_are_the_users(checkout: Checkout) -> None:
    hook = checkout.root / ".git" / "hooks" / "commit-msg"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\necho "checked" >> "$1"\n', encoding="utf-8")
    hook.chmod(0o755)
    checkout.edit(ANN, "a.txt", "ann\n")
    checkout.git(ANN, "commit", "-am", "x", ok=True)
    told = checkout.person("log", "-1", "--format=%an %ae %B").out
    assert told.startswith(f"{IDENTITY['GIT_AUTHOR_NAME']} {IDENTITY['GIT_AUTHOR_EMAIL']} x")
    assert "checked" in told
    hook.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    checkout.edit(ANN, "a.txt", "more\n")
    checkout.git(ANN, "commit", "-am", "y", ok=False)
    assert checkout.git(ANN, "diff", "--cached", "--name-only").out == ""


def test_a_file_that_changes_within_a_second_and_keeps_its_size_is_seen(checkout: Checkout) -> None:
    """Git compares times in seconds, and looks again only at what is as new as the index."""
    for number in range(4):
        checkout.edit(ANN, "a.txt", f"{number}\n")
        os.utime(checkout.root / "a.txt", (1_000_000_000, 1_000_000_000))
        index = Path(checkout.calls.environment(ANN, str(checkout.root))["GIT_INDEX_FILE"])
        os.utime(index, (1_000_000_000, 1_000_000_000))
        checkout.git(ANN, "add", "a.txt", ok=True)
        checkout.git(ANN, "commit", "-m", str(number), ok=True)
        assert checkout.committed("a.txt") == f"{number}\n"


def test_files_that_are_not_to_be_there_are_deleted_in_no_index(checkout: Checkout) -> None:
    checkout.edit(ANN, "sub/s.txt", "s\n")
    checkout.person("add", "sub")
    checkout.person("commit", "-qm", "sub")
    checkout.git(ANN, "sparse-checkout", "set", "--no-cone", "/*", "!/sub/", ok=True)
    assert not (checkout.root / "sub/s.txt").exists()
    assert checkout.person("status", "--porcelain").out == ""
    assert checkout.git(ANN, "status", "--porcelain", ok=True).out == ""
    checkout.git(ANN, "sparse-checkout", "disable", ok=True)
    assert checkout.text("sub/s.txt") == "s\n"
    assert checkout.person("status", "--porcelain").out == checkout.git(ANN, "status", "--porcelain").out == ""
