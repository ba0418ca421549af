"""Commits of sessions in one shared checkout hold what each session did itself, and nothing of anybody else."""

from pathlib import Path

import pytest
from tests.e2e.git_sessions import Checkout, make_checkout

from commonhold.agents.git import calls as git_calls

pytestmark = pytest.mark.slow

ANN, BOB = "claude:ann", "codex:bob"
CODE = "import os\n\n\ndef a():\n    return 1\n\n\ndef b():\n    return 2\n"
A = CODE.replace("return 1", "return 11")
B = CODE.replace("return 2", "return 22")
BOTH = A.replace("return 2", "return 22")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    files: dict[str, str | bytes] = {"m.py": CODE, "n.txt": "n\n", "gone.txt": "gone\n", "sub/s.txt": "s\n"}
    return make_checkout(tmp_path / "work", files)


@pytest.fixture
def mixed(checkout: Checkout) -> Checkout:
    """Both sessions have changed a function of one file, and made a file; a person has changed another."""
    checkout.edit(ANN, "m.py", A)
    checkout.edit(BOB, "m.py", BOTH, "double b")
    checkout.edit(ANN, "ann.txt", "ann\n")
    checkout.edit(BOB, "bob.txt", "bob\n")
    checkout.put("n.txt", "by hand\n")
    return checkout


@pytest.mark.parametrize(
    "calls",
    [
        [("add", "-A"), ("commit", "-m", "x")],
        [("add", "."), ("commit", "-m", "x")],
        [("add", "m.py", "ann.txt"), ("commit", "-qm", "x")],
        [("add", "ann.txt"), ("commit", "-a", "-m", "x")],
        [("add", "ann.txt"), ("commit", "-am", "x")],
        [("add", "ann.txt"), ("commit", "-i", "m.py", "-m", "x")],
        [("add", "-N", "ann.txt"), ("commit", "-m", "x", "--", ".")],
        [("update-index", "--add", "m.py", "ann.txt", "bob.txt", "n.txt"), ("commit", "-m", "x")],
    ],
    ids=lambda calls: " ".join(calls[0]) + ", " + " ".join(calls[1]),
)
def test_a_commit_holds_what_the_session_did(mixed: Checkout, calls: list[tuple[str, ...]]) -> None:
    said = "".join(mixed.git(ANN, *call, ok=True).said for call in calls)
    assert mixed.changed_in() == {"m.py", "ann.txt"}
    assert mixed.committed("m.py") == A
    assert mixed.text("m.py") == BOTH
    assert "m.py" in said
    assert mixed.staged() == ""
    mixed.git(BOB, "add", "-A", ok=True)
    mixed.git(BOB, "commit", "-m", "y", ok=True)
    assert mixed.changed_in() == {"m.py", "bob.txt"}
    assert mixed.committed("m.py") == BOTH
    assert mixed.person("status", "--porcelain").out == " M n.txt\n"


def test_what_its_subagents_did_is_a_sessions_own_but_not_the_other_way_round(mixed: Checkout) -> None:
    part = f"{ANN}/part"
    mixed.edit(part, "part.txt", "part\n")
    mixed.edit(part, "ann.txt", "ann, and her part\n")
    mixed.git(f"{ANN}/other", "add", "-A", ok=True)
    assert mixed.git(f"{ANN}/other", "diff", "--cached", "--name-only", ok=True).out == ""
    mixed.git(ANN, "add", "-A", ok=True)
    mixed.git(ANN, "commit", "-qm", "x", ok=True)
    assert mixed.changed_in() == {"m.py", "ann.txt", "part.txt"}
    assert mixed.committed("ann.txt") == "ann, and her part\n"


def test_paths_that_are_named_are_committed_alone(mixed: Checkout) -> None:
    mixed.git(ANN, "add", "ann.txt", ok=True)
    mixed.git(ANN, "commit", "-m", "x", "m.py", ok=True)
    assert mixed.changed_in() == {"m.py"}
    mixed.git(ANN, "commit", "-m", "y", ok=True)
    assert mixed.changed_in() == {"ann.txt"}


def test_paths_that_only_a_file_names_are_not_committed_unseen(mixed: Checkout) -> None:
    mixed.put("list", "m.py\n")
    for words in (("--pathspec-from-file=list",), ("--pathspec-fr", "list")):
        assert "Next: git commit -- PATH" in mixed.refused(ANN, "commit", "-m", "x", *words)
    mixed.git(ANN, "add", "--pathspec-from-file", "list", ok=True)
    mixed.git(ANN, "commit", "-m", "x", ok=True)
    assert mixed.committed("m.py") == A


@pytest.mark.parametrize("words", [("-p",), ("--patch", "m.py"), ("-pm", "x"), ("--interactive",)], ids=" ".join)
def test_what_is_chosen_while_it_is_committed_is_not_committed_unseen(mixed: Checkout, words: tuple[str, ...]) -> None:
    assert "Next: git add -" in mixed.refused(ANN, "commit", *words)


@pytest.mark.parametrize("how", ["--soft", "--mixed"])
def test_commits_of_ones_own_are_made_one(checkout: Checkout, how: str) -> None:
    for number in (1, 2):
        checkout.edit(ANN, "n.txt", f"{number}\n")
        checkout.git(ANN, "commit", "-qam", "x", ok=True)
    checkout.edit(ANN, "n.txt", "3\n")
    checkout.git(ANN, "reset", "-q", how, "HEAD~2", ok=True)
    staged = checkout.git(ANN, "diff", "--cached", "--name-only", ok=True).out.split()
    assert staged == (["n.txt"] if how == "--soft" else [])
    checkout.git(ANN, "commit", "-qm", "one", ok=bool(staged))
    assert checkout.person("rev-list", "--count", "HEAD").out == ("2\n" if staged else "1\n")
    assert checkout.committed("n.txt") == ("2\n" if staged else "n\n")
    assert checkout.staged() == ""


@pytest.mark.parametrize("odd", ["two\nlines", "\udcff.txt", "tab\t"], ids=ascii)
def test_a_name_that_is_no_text_keeps_nobody_from_committing_the_rest(mixed: Checkout, odd: str) -> None:
    mixed.put(odd, "odd\n")
    added = mixed.git(ANN, "add", "-A", ok=True)
    assert "a person" in added.said
    mixed.git(ANN, "commit", "-qm", "x", ok=True)
    assert mixed.changed_in() == {"m.py", "ann.txt"}
    assert "a person" in mixed.refused(ANN, "clean", "-f")
    mixed.git(ANN, "add", odd, ok=True)
    mixed.git(ANN, "commit", "-qm", "y", ok=True)
    assert mixed.committed(odd) == "odd\n"
    mixed.git(ANN, "rm", "-q", odd, ok=True)


def test_nothing_of_ones_own(mixed: Checkout) -> None:
    before = mixed.person("rev-parse", "HEAD").out
    added = mixed.git(ANN, "add", "n.txt", "bob.txt", ok=True)
    assert "n.txt" in added.said
    assert "a person" in added.said
    assert BOB in added.said
    ran = mixed.git(ANN, "commit", "-m", "x", ok=False)
    assert "nothing added to commit" in ran.out or "no changes added" in ran.out
    assert mixed.person("rev-parse", "HEAD").out == before


def test_what_builds_on_anothers_lines_waits_for_them(checkout: Checkout) -> None:
    checkout.edit(ANN, "m.py", A)
    checkout.edit(BOB, "m.py", CODE.replace("return 1", "return 111"))
    said = checkout.git(BOB, "commit", "-am", "x", ok=False).said
    assert ANN in said
    assert "make it yours: commonhold adopt" in said
    checkout.git(ANN, "commit", "-am", "x", ok=True)
    assert checkout.committed("m.py") == A
    checkout.git(BOB, "commit", "-am", "x", ok=True)
    assert checkout.committed("m.py") == CODE.replace("return 1", "return 111")


def test_deleted_renamed_made_and_executable(checkout: Checkout) -> None:
    checkout.write(ANN, {"gone.txt": None, "new/one.txt": "one\n"})
    checkout.write(BOB, {"sub/s.txt": None, "sub/t.txt": "s\n"})
    checkout.edit(ANN, "run.sh", "#!/bin/sh\n")
    (checkout.root / "run.sh").chmod(0o755)
    checkout.git(ANN, "add", "-A", ok=True)
    checkout.git(ANN, "commit", "-m", "x", ok=True)
    assert checkout.changed_in() == {"gone.txt", "new/one.txt", "run.sh"}
    assert checkout.person("ls-tree", "HEAD", "run.sh").out.startswith("100755")
    checkout.git(BOB, "add", "-A", ok=True)
    checkout.git(BOB, "commit", "-m", "y", ok=True)
    assert checkout.changed_in() == {"sub/s.txt", "sub/t.txt"}


def test_ids_of_another_length(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "long", {"a.txt": "a\n", "b.txt": "b\n"}, "--object-format=sha256")
    checkout.edit(BOB, "b.txt", "bob\n")
    checkout.git(BOB, "add", "b.txt", ok=True)
    checkout.write(ANN, {"a.txt": None, "c.txt": "c\n"})
    checkout.git(ANN, "add", "-A", ok=True)
    checkout.git(ANN, "commit", "-m", "x", ok=True)
    assert checkout.changed_in() == {"a.txt", "c.txt"}
    assert checkout.staged() == ""
    checkout.git(BOB, "commit", "-m", "y", ok=True)
    assert checkout.changed_in() == {"b.txt"}


def test_a_file_that_another_moved_keeps_what_is_whose(checkout: Checkout) -> None:
    checkout.edit(ANN, "m.py", A)
    checkout.write(BOB, {"m.py": None, "moved.py": A})
    assert BOB in checkout.git(ANN, "add", "moved.py").said
    checkout.git(BOB, "add", "-A", ok=True)
    checkout.git(BOB, "commit", "-m", "move", ok=True)
    assert checkout.committed("m.py") is None
    assert checkout.committed("moved.py") == CODE
    checkout.git(ANN, "commit", "-am", "mine", ok=True)
    assert checkout.committed("moved.py") == A


def test_a_bit_that_is_set_is_taken_by_whoever_names_the_file(checkout: Checkout) -> None:
    (checkout.root / "n.txt").chmod(0o755)
    (checkout.root / "link").symlink_to("n.txt")
    checkout.edit(ANN, "ann.txt", "ann\n")
    checkout.git(ANN, "add", "-A", ok=True)
    checkout.git(ANN, "commit", "-m", "x", ok=True)
    assert checkout.changed_in() == {"ann.txt"}
    checkout.git(ANN, "add", "n.txt", "link", ok=True)
    checkout.git(ANN, "commit", "-m", "y", ok=True)
    assert checkout.changed_in() == {"n.txt", "link"}


def test_text_that_is_another_in_git_than_on_disk(tmp_path: Path) -> None:
    checkout = make_checkout(
        tmp_path / "work", {".gitattributes": "*.txt text eol=crlf\n", "w.txt": "1\r\n2\r\n3\r\n4\r\n5\r\n"}
    )
    assert checkout.committed("w.txt") == "1\n2\n3\n4\n5\n"
    checkout.edit(ANN, "w.txt", "one\r\n2\r\n3\r\n4\r\n5\r\n")
    checkout.edit(BOB, "w.txt", "one\r\n2\r\n3\r\n4\r\nfive\r\n")
    checkout.git(ANN, "commit", "-am", "x", ok=True)
    assert checkout.committed("w.txt") == "one\n2\n3\n4\n5\n"
    checkout.git(BOB, "commit", "-am", "y", ok=True)
    assert checkout.committed("w.txt") == "one\n2\n3\n4\nfive\n"
    assert checkout.person("status", "--porcelain").out == ""


def test_no_commit_yet(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "work", {})
    checkout.edit(ANN, "a.txt", "a\n")
    checkout.edit(BOB, "b.txt", "b\n")
    checkout.git(ANN, "add", ".", ok=True)
    checkout.git(ANN, "commit", "-m", "x", ok=True)
    assert checkout.changed_in() == {"a.txt"}
    checkout.git(BOB, "add", "-A", ok=True)
    checkout.git(BOB, "commit", "-m", "y", ok=True)
    assert checkout.changed_in() == {"b.txt"}
    assert checkout.person("status", "--porcelain").out == ""


def test_what_was_staged_before_another_committed_goes_with_head(mixed: Checkout) -> None:
    mixed.git(ANN, "add", "m.py", ok=True)
    mixed.git(BOB, "commit", "-am", "x", ok=True)
    assert mixed.committed("m.py") == B
    assert mixed.git(ANN, "diff", "--cached", "--name-only").out == "m.py\n"
    mixed.git(ANN, "commit", "-m", "y", ok=True)
    assert mixed.committed("m.py") == BOTH


def test_a_person_commits_and_stages_beside(mixed: Checkout) -> None:
    mixed.person("add", "n.txt")
    mixed.git(ANN, "add", "-A", ok=True)
    mixed.git(ANN, "commit", "-m", "x", ok=True)
    assert mixed.staged() == "M\tn.txt\n"
    mixed.person("commit", "-m", "by hand")
    assert mixed.changed_in() == {"n.txt"}
    assert mixed.git(BOB, "status", "--porcelain").out == " M m.py\n?? bob.txt\n"
    mixed.git(BOB, "commit", "-am", "y", ok=True)
    assert mixed.changed_in() == {"m.py"}
    assert mixed.committed("n.txt") == "by hand\n"


def test_a_commit_can_be_amended_by_who_made_it(mixed: Checkout) -> None:
    mixed.git(ANN, "commit", "-am", "x", ok=True)
    mixed.git(ANN, "add", "ann.txt", ok=True)
    mixed.git(ANN, "commit", "--amend", "--no-edit", ok=True)
    assert mixed.changed_in() == {"m.py", "ann.txt"}
    assert mixed.staged() == ""
    assert ANN in mixed.refused(BOB, "commit", "-a", "--amend", "--no-edit")


@pytest.mark.parametrize("words", [("rm", "--cached", "n.txt"), ("mv", "n.txt", "moved.txt"), ("rm", "n.txt")])
def test_what_git_itself_takes_away_or_moves(checkout: Checkout, words: tuple[str, ...]) -> None:
    checkout.edit(BOB, "m.py", B)
    checkout.git(ANN, *words, ok=True)
    assert checkout.git(ANN, "diff", "--cached", "--name-only", "--no-renames").out.split()[-1] == "n.txt"
    assert checkout.staged() == ""
    checkout.git(ANN, "commit", "-m", "x", ok=True)
    assert "n.txt" in checkout.changed_in()
    assert "m.py" not in checkout.changed_in()


def test_in_a_folder_and_with_minus_c(mixed: Checkout) -> None:
    mixed.edit(ANN, "sub/s.txt", "ann\n")
    mixed.git(ANN, "add", ".", folder="sub", ok=True)
    mixed.git(ANN, "-C", "sub", "commit", "-m", "x", "s.txt", ok=True)
    assert mixed.changed_in() == {"sub/s.txt"}


def test_head_that_is_on_no_branch(mixed: Checkout) -> None:
    mixed.person("checkout", "--detach")
    mixed.git(ANN, "commit", "-am", "x", ok=True)
    assert mixed.changed_in() == {"m.py"}
    assert mixed.staged() == ""


def test_each_working_tree_has_indexes_of_its_own(mixed: Checkout, tmp_path: Path) -> None:
    mixed.git(ANN, "add", "m.py", ok=True)
    mixed.git(ANN, "worktree", "add", "-b", "other", str(tmp_path / "other"), ok=True)
    other = Checkout(tmp_path / "other")
    assert other.git(ANN, "status", "--porcelain").out == ""
    other.edit(ANN, "n.txt", "there\n")
    other.git(ANN, "commit", "-am", "there", ok=True)
    assert other.changed_in("other") == {"n.txt"}
    mixed.git(ANN, "commit", "-m", "here", ok=True)
    assert mixed.changed_in("main") == {"m.py"}


def test_another_repository_is_left_alone(mixed: Checkout, tmp_path: Path) -> None:
    strange = tmp_path / "strange"
    mixed.git(ANN, "init", "--quiet", str(strange), ok=True)
    (strange / "f").write_text("f\n", encoding="utf-8")
    mixed.git(ANN, "-C", str(strange), "add", "f", ok=True)
    mixed.git(ANN, "-C", str(strange), "commit", "-m", "x", ok=True)
    assert mixed.git(ANN, "-C", str(strange), "status", "--porcelain").out == ""
    mixed.git(ANN, "-C", str(strange), "reset", "--hard", ok=True)


def test_submodules_are_left_alone(tmp_path: Path) -> None:
    inner = make_checkout(tmp_path / "inner", {"i.txt": "i\n"})
    outer = make_checkout(tmp_path / "work", {"o.txt": "o\n"})
    outer.person("-c", "protocol.file.allow=always", "submodule", "add", str(inner.root), "inner")
    outer.person("commit", "-m", "with it")
    inside = outer.root / "inner"
    (inside / "i.txt").write_text("changed\n", encoding="utf-8")
    outer.person("-C", "inner", "commit", "-am", "inside")
    outer.edit(ANN, "o.txt", "ann\n")
    outer.git(ANN, "commit", "-am", "x", ok=True)
    assert outer.changed_in() == {"o.txt"}
    outer.git(ANN, "add", "inner", ok=True)
    outer.git(ANN, "commit", "-m", "y", ok=True)
    assert outer.changed_in() == {"inner"}


def test_what_is_nobodys_concern_is_staged_as_git_does(checkout: Checkout) -> None:
    checkout.edit(ANN, "a.txt", "ann\n")
    checkout.put("made.lock", "made by a tool\n")
    checkout.git(ANN, "add", "-A", ok=True)
    checkout.git(ANN, "commit", "-m", "x", ok=True)
    assert checkout.changed_in() == {"a.txt", "made.lock"}
    checkout.put("made.lock", "made again\n")
    checkout.git(BOB, "checkout", "--", ".", ok=True)
    assert checkout.text("made.lock") == "made by a tool\n"


def test_what_cannot_be_joined_with_heads_new_version_is_staged_no_more(checkout: Checkout) -> None:
    checkout.edit(ANN, "n.txt", "ann\n")
    checkout.git(ANN, "add", "n.txt", ok=True)
    checkout.edit(ANN, "n.txt", "n\n")
    checkout.edit(BOB, "n.txt", "bob\n")
    checkout.git(BOB, "commit", "-am", "x", ok=True)
    assert "n.txt" in checkout.git(ANN, "status", ok=True).said
    assert checkout.git(ANN, "diff", "--cached", "--name-only").out == ""


def test_calls_whose_end_nobody_tells_are_forgotten(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_calls, "MOST_PENDING", 1)
    checkout.edit(ANN, "n.txt", "ann\n")
    call = {"holder": ANN, "cwd": str(checkout.root), "argv": ["add", "n.txt"]}
    checkout.calls.begin(call)  # makes what is locked
    killed, ended = (checkout.calls.begin({**call, "has_turn": 1})["after"] for _ in range(2))
    assert checkout.calls.end({"after": killed, "status": 0}) == {}
    assert checkout.calls.end({"after": ended, "status": 0}) == {"say": ""}
