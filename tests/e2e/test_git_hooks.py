"""Hooks of a commit see, and stage, what the session did: nothing of others gets into a commit, or lost."""

import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.e2e.git_sessions import Checkout, make_checkout
from tests.patience import until

pytestmark = pytest.mark.slow

ANN, BOB = "claude:ann", "codex:bob"
CODE = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
ANNS = CODE.replace("return 1", "return   11")
BOBS = CODE.replace("return 2", "return 22")
BOTH = ANNS.replace("return 2", "return 22")
FORMATTED = ANNS.replace("return   11", "return 11")
FORMATTER = "sed -i 's/return  */return /' {}"
"""It leaves one space behind `return`."""
STAGED = "git diff --cached --name-only --diff-filter=AM -- '*.py'"
FORMAT_AND_ADD = f"for f in $({STAGED}); do {FORMATTER.format('$f')} && git add $f; done"
FORMAT_AND_FAIL = f"for f in $({STAGED}); do {FORMATTER.format('$f')}; done; git diff --quiet"
STASHING = (
    f"git stash push -q --keep-index && git reset -q --hard && git stash pop -q --index && {{ {FORMAT_AND_ADD}; }}"
)
PRE_COMMIT_FRAMEWORK = f"""
patch=$(mktemp); git diff --binary --no-ext-diff > $patch; git checkout -q -- .
{FORMAT_AND_ADD}
if [ -s $patch ]; then git apply $patch || echo conflict >> conflict.log; fi
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ignored = ".venv/\nnode_modules/\nlocal.cfg\n*.log\n"
    return make_checkout(tmp_path / "work", {"app.py": CODE, "other.txt": "other\n", ".gitignore": ignored})


def hook(checkout: Checkout, text: str, name: str = "pre-commit", folder: str = ".git/hooks") -> None:
    place = checkout.root / folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    place.chmod(0o755)


@pytest.fixture
def shared(checkout: Checkout) -> Checkout:
    """Bob has changed `two`, and made a file; Ann has changed `one`, badly formatted; a person has changed a file."""
    checkout.edit(BOB, "app.py", BOBS, "double two")
    checkout.edit(BOB, "bob.py", "def b():\n    return   0\n")
    checkout.edit(ANN, "app.py", BOTH)
    checkout.put("other.txt", "by hand\n")
    return checkout


WAYS: dict[str, list[tuple[str, ...]]] = {
    "-am": [("commit", "-am", "x")],
    "path": [("commit", "-m", "x", "app.py")],
    "staged": [("add", "app.py"), ("commit", "-qm", "x")],
    "from a file": [("add", "app.py"), ("commit", "-F", "local.cfg")],
    "amended": [("commit", "-nqm", "empty", "--allow-empty"), ("commit", "-a", "--amend", "-qm", "x")],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("text", [FORMAT_AND_ADD, STASHING, PRE_COMMIT_FRAMEWORK, f"{FORMAT_AND_ADD}; git add -A"])
def test_a_hook_that_formats_and_adds_commits_nothing_of_others(shared: Checkout, way: str, text: str) -> None:
    hook(shared, text)
    shared.put("local.cfg", "x\n")
    for call in WAYS[way]:
        shared.git(ANN, *call, ok=True)
    assert shared.changed_in() == {"app.py"}
    assert shared.committed("app.py") == FORMATTED
    assert shared.person("log", "-1", "--format=%s").out == "x\n"
    # The formatting is in the working tree, too, and what others did is there as they left it.
    assert shared.text("app.py") == FORMATTED.replace("return 2", "return 22")
    assert (shared.text("bob.py"), shared.text("other.txt")) == ("def b():\n    return   0\n", "by hand\n")
    assert shared.person("stash", "list").out == ""
    assert shared.staged() == ""
    shared.git(BOB, "commit", "-qam", "y", ok=True)
    assert shared.committed("app.py") == FORMATTED.replace("return 2", "return 22")
    shared.calls.close()
    assert not list(shared.root.parent.glob("**/commonhold-commit-*"))


def test_what_is_said_of_it_is_true(shared: Checkout) -> None:
    hook(shared, FORMAT_AND_ADD)
    said = shared.git(ANN, "commit", "-qam", "x", ok=True).said
    assert f"only this session's own changes are staged: app.py (the rest belongs to {BOB})" in said
    assert "return 22" not in (shared.committed("app.py") or "")


def test_a_hook_that_formats_and_fails_leaves_the_formatting(shared: Checkout) -> None:
    """As `pre-commit` does: what it changed is to be staged, and committed again."""
    hook(shared, FORMAT_AND_FAIL)
    ran = shared.git(ANN, "commit", "-qam", "x", ok=False)
    assert "a copy of the files with only this session's changes" in ran.said
    assert shared.person("log", "-1", "--format=%s").out == "begin\n"
    assert shared.text("app.py") == FORMATTED.replace("return 2", "return 22")
    shared.git(ANN, "commit", "-qam", "x", ok=True)
    assert shared.committed("app.py") == FORMATTED
    assert shared.text("bob.py") == "def b():\n    return   0\n"


def test_what_a_failing_hook_has_staged_stays_staged(shared: Checkout) -> None:
    hook(shared, f"{FORMAT_AND_ADD}; exit 1")
    shared.git(ANN, "add", "app.py", ok=True)
    shared.git(ANN, "commit", "-qm", "x", ok=False)
    assert shared.git(ANN, "show", ":app.py").out == FORMATTED
    assert shared.staged() == ""


def test_files_that_a_hook_makes_and_removes(shared: Checkout) -> None:
    hook(shared, "echo made > made.txt; git add made.txt; echo loose > loose.txt; echo i > i.log; git rm -q .gitignore")
    shared.git(ANN, "commit", "-qam", "x", ok=True)
    assert shared.changed_in() == {"app.py", "made.txt", ".gitignore"}
    assert [shared.text(each) for each in ("made.txt", "loose.txt", "i.log")] == ["made\n", "loose\n", "i\n"]
    assert not (shared.root / ".gitignore").exists()
    assert shared.text("app.py") == BOTH


def test_a_file_that_a_hook_makes_and_another_has_made_stays_the_others(shared: Checkout) -> None:
    hook(shared, "echo made > bob.py; git add bob.py")
    said = shared.git(ANN, "commit", "-qam", "x", ok=True).said
    assert shared.committed("bob.py") == "made\n"
    assert shared.text("bob.py") == "def b():\n    return   0\n"
    assert "the changes that a hook made to bob.py are in the commit, but not in the working tree" in said


def test_where_both_changed_one_place_the_others_stays(shared: Checkout) -> None:
    hook(shared, "sed -i 's/return 2/return 3/' app.py; git add app.py")
    said = shared.git(ANN, "commit", "-qam", "x", ok=True).said
    assert "return 3" in (shared.committed("app.py") or "")
    assert shared.text("app.py") == BOTH
    assert "the changes that a hook made to app.py are in the commit, but not in the working tree" in said


def test_hooks_see_the_commit_and_what_git_ignores(shared: Checkout) -> None:
    """As husky and lint-staged need it: hooks in the repository, tools that git ignores, no variables of git's."""
    tool = shared.root / "node_modules" / ".bin" / "fmt"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\n" + FORMATTER.format('"$@"'), encoding="utf-8")
    tool.chmod(0o755)
    shared.put("local.cfg", "local\n")
    shared.person("config", "core.hooksPath", ".husky/_")
    shared.put(".husky/_/.gitignore", "*\n")
    lines = ("unset GIT_DIR GIT_WORK_TREE", "node_modules/.bin/fmt app.py", "git add -A", "cat local.cfg > cfg.log")
    hook(shared, "; ".join(lines), folder=".husky/_")
    hook(shared, 'grep -q good "$1"', "commit-msg", ".husky/_")
    hook(shared, "git rev-parse HEAD > head.log", "post-commit", ".husky/_")
    shared.git(ANN, "commit", "-qam", "bad", ok=False)
    shared.git(ANN, "commit", "-qam", "good", ok=True)
    assert shared.changed_in() == {"app.py"}
    assert shared.committed("app.py") == FORMATTED
    assert (shared.text("cfg.log"), shared.text("head.log")) == ("local\n", shared.person("rev-parse", "HEAD").out)
    assert tool.read_text(encoding="utf-8").startswith("#!/bin/sh")


def test_hooks_find_the_tools_of_an_environment_that_git_does_not_ignore(shared: Checkout) -> None:
    """And what they add has no links to it."""
    tool = shared.root / "venv" / "bin" / "fmt"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\n" + FORMATTER.format('"$@"'), encoding="utf-8")
    tool.chmod(0o755)
    hook(shared, "venv/bin/fmt app.py && git add -A")
    shared.git(ANN, "commit", "-qam", "good", ok=True)
    assert shared.changed_in() == {"app.py"}
    assert shared.committed("app.py") == FORMATTED
    assert [each.name for each in tool.parent.parent.iterdir()] == ["bin"]


def test_from_a_folder_and_in_a_linked_working_tree(shared: Checkout, tmp_path: Path) -> None:
    hook(shared, FORMAT_AND_ADD)
    shared.edit(ANN, "sub/s.py", "return   1\n")
    shared.git(ANN, "add", "s.py", folder="sub", ok=True)
    shared.git(ANN, "commit", "-qm", "x", folder="sub", ok=True)
    assert shared.committed("sub/s.py") == "return 1\n"
    shared.person("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    linked = Checkout(tmp_path / "linked")
    gitdir = Path(linked.person("rev-parse", "--absolute-git-dir").out.strip(), "gitdir")
    os.utime(gitdir, (1, 1))
    linked.edit(BOB, "app.py", BOBS)
    linked.edit(ANN, "app.py", BOTH)
    linked.git(ANN, "commit", "-qam", "y", ok=True)
    assert linked.committed("app.py") == FORMATTED
    assert gitdir.read_text(encoding="utf-8").strip() == str(linked.root / ".git")


def test_a_merge_that_is_finished_beside_a_persons_change(checkout: Checkout) -> None:
    hook(checkout, f"{FORMAT_AND_ADD}; git add -A")
    checkout.person("branch", "side")
    checkout.edit(ANN, "app.py", CODE.replace("return 1", "return 11"))
    checkout.git(ANN, "commit", "-qam", "ours", ok=True)
    checkout.git(ANN, "switch", "-q", "side", ok=True)
    checkout.edit(ANN, "app.py", CODE.replace("return 1", "return 12"))
    checkout.git(ANN, "commit", "-qam", "theirs", ok=True)
    checkout.put("other.txt", "by hand\n")
    checkout.git(ANN, "merge", "main", ok=False)
    checkout.edit(ANN, "app.py", CODE.replace("return 1", "return   13"))
    checkout.git(ANN, "add", "app.py", ok=True)
    checkout.git(ANN, "commit", "-qm", "both", ok=True)
    assert len(checkout.person("log", "-1", "--format=%P").out.split()) == 2
    assert checkout.committed("app.py") == CODE.replace("return 1", "return 13")
    assert (checkout.committed("other.txt"), checkout.text("other.txt")) == ("other\n", "by hand\n")


def test_where_nobody_else_has_uncommitted_work_hooks_run_where_they_are(checkout: Checkout) -> None:
    hook(checkout, "pwd > where.log; " + FORMAT_AND_ADD)
    checkout.edit(ANN, "app.py", ANNS)
    with checkout.log_of(str(checkout.root), BOB) as bob:
        bob.start_session()  # who is at work, and has no uncommitted work, changes nothing of that
    checkout.git(ANN, "commit", "-qam", "x", ok=True)
    assert checkout.text("where.log").strip() == str(checkout.root)
    assert checkout.committed("app.py") == checkout.text("app.py") == FORMATTED


@pytest.mark.parametrize("words", [("-am", "x"), ("--amend", "-am", "x")], ids=" ".join)
def test_what_others_write_while_the_hooks_run_is_taken_out_again(checkout: Checkout, words: tuple[str, ...]) -> None:
    hook(
        checkout, f"touch begun.log; until [ -e go.log ]; do sleep 0.05; done; {FORMAT_AND_ADD}; echo n > n; git add n"
    )
    checkout.edit(ANN, "app.py", ANNS)
    checkout.git(ANN, "commit", "-nqm", "first", "--allow-empty", ok=True)

    def write() -> None:
        until((checkout.root / "begun.log").exists)
        checkout.edit(BOB, "app.py", BOTH)
        checkout.put("go.log", "")

    with ThreadPoolExecutor() as pool:
        writing = pool.submit(write)
        said = checkout.git(ANN, "commit", "-q", *words, ok=True).said
        writing.result()
    # Whether the formatting can be told apart from Bob's line or not: Bob's is in the working tree alone.
    assert checkout.committed("app.py") in {ANNS, FORMATTED}
    assert checkout.text("app.py") == FORMATTED.replace("return 2", "return 22")
    assert checkout.committed("n") == "n\n", "what the hook made is in it all the same"
    removed = (
        f"a hook of that commit also staged others' changes, which are removed from the commit again: app.py ({BOB})"
    )
    assert removed in said
    assert checkout.person("log", "-1", "--format=%an %s").out == "Ann Example x\n"
    assert checkout.staged() == ""


def test_no_verify_runs_no_hook(shared: Checkout) -> None:
    hook(shared, "exit 1")
    shared.git(ANN, "commit", "--no-verify", "-qam", "x", ok=True)
    assert shared.committed("app.py") == ANNS


def test_what_a_call_that_died_has_left_is_taken_away(shared: Checkout, tmp_path: Path) -> None:
    hook(shared, "exit 0")
    asked = {"holder": ANN, "cwd": str(shared.root), "argv": ["commit", "-qam", "x"], "temporary": str(tmp_path)}
    assert shared.calls.begin(asked)["turns"]
    shared.calls.begin({**asked, "has_turn": 1})
    (left,) = tmp_path.glob("commonhold-commit-*")
    shared.git(ANN, "commit", "-qam", "x", ok=True)
    assert left not in tmp_path.glob("commonhold-commit-*")
    assert subprocess.run(["git", "fsck"], cwd=shared.root, check=True, capture_output=True).returncode == 0
