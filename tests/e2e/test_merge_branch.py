"""`commonhold merge BRANCH` in real repositories: all of it proven or verified, or nothing changed and the reasons."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.branches import Files, asked, commit, state, two_branches, write
from tests.e2e.cli_driver import GIT, Call, Outcome, call, git, process, start
from tests.line_engine import by_lines, never
from tests.patience import until
from tests.processes import is_alive

from commonhold.merging.branches.merge_branch import merge_branch
from commonhold.merging.verdict import Proven

pytestmark = pytest.mark.slow

A = "A = 1\n\n\n\n\n\n\nLIMIT = 3\n\n\n\n\n\n\nZ = 1\n"
BOTH = A.replace("= 1", "= 2")
BASE: Files = {"a.py": A, "b.py": "B = 1\n", "c.txt": "c\n"}
Engine = Callable[..., Any]


def changed(old: str, new: str) -> Files:
    return {"a.py": A.replace(old, new)}


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[Engine], None]:
    """Put another engine in place of the real one."""

    def put(engine: Engine) -> None:
        assert merge_branch.__kwdefaults__ is not None
        monkeypatch.setitem(merge_branch.__kwdefaults__, "merge", engine)

    return put


@pytest.fixture
def by_line(use: Callable[[Engine], None]) -> None:
    use(by_lines)


@pytest.fixture
def merge(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Call it in the repository of the test."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return lambda *words: call(capsysbinary, monkeypatch, "-C", str(tmp_path / "r"), "merge", *words)


def repository(tmp_path: Path, ours: Files, theirs: Files, base: Files = BASE) -> Path:
    return two_branches(tmp_path / "r", base, ours, theirs)


@pytest.fixture
def disjoint(tmp_path: Path) -> Path:
    return repository(tmp_path, changed("A = 1", "A = 2"), {**changed("Z = 1", "Z = 2"), "b.py": "B = 2\n"})


@pytest.fixture
def clashing(tmp_path: Path) -> Path:
    return repository(tmp_path, changed("3", "4"), changed("3", "5"))


def refused(done: Outcome, root: Path, before: Any) -> Any:
    """The answer in JSON, of a merge that left all as it was."""
    assert done.status == 1, done.err
    assert state(root) == before
    answer = done.json
    assert answer["outcome"] == "refused"
    assert answer["why"]
    assert answer["hint"]
    assert answer["commit"] is None
    return answer


@pytest.mark.usefixtures("by_line")
def test_both_sides_work_is_merged_and_committed(disjoint: Path, merge: Call) -> None:
    ours, theirs = asked(disjoint, "rev-parse", "main"), asked(disjoint, "rev-parse", "other")
    done = merge("other")
    assert done.status == 0, done.text
    assert done.text.startswith("merged as ")
    assert ": PROVEN, 1 file changed on both sides\nPROVEN: a.py\n  joined: lines of a.py\n" in done.text
    assert asked(disjoint, "rev-parse", "HEAD^1", "HEAD^2").split() == [ours, theirs]
    assert asked(disjoint, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert (disjoint / "a.py").read_text(encoding="utf-8") == BOTH
    assert (disjoint / "b.py").read_text(encoding="utf-8") == "B = 2\n"
    assert asked(disjoint, "status", "--porcelain") == ""
    assert asked(disjoint, "log", "-1", "--format=%an <%ae>|%cn|%s") == (
        "Ann Example <ann@example.org>|Ann Example|Merge branch 'other'"
    )
    assert asked(disjoint, "reflog", "-1", "--format=%gs").startswith("merge other")


@pytest.mark.usefixtures("by_line")
def test_json_and_a_message_of_ones_own(disjoint: Path, merge: Call) -> None:
    answer = merge("other", "-m", "join\n\nthem", "--json").json
    assert (answer["outcome"], answer["verdict"], answer["check"]) == ("merged", "PROVEN", None)
    assert answer["commit"] == asked(disjoint, "rev-parse", "HEAD")
    assert (answer["ours"]["name"], answer["ours"]["intent"]) == ("main", "what we want")
    assert (answer["theirs"]["name"], answer["theirs"]["intent"]) == ("other", "what they want")
    assert asked(disjoint, "log", "-1", "--format=%B") == "join\n\nthem"


def test_what_the_engine_proves_is_taken_though_lines_conflict(clashing: Path, merge: Call, use: Any) -> None:
    use(lambda *_: Proven(b"LIMIT = 45\n", ("a union",)))
    assert merge("other").status == 0
    assert (clashing / "a.py").read_bytes() == b"LIMIT = 45\n"
    assert asked(clashing, "show", "HEAD:a.py") == "LIMIT = 45"
    assert asked(clashing, "status", "--porcelain") == ""


def test_two_literals_for_one_are_refused_with_both_intents(clashing: Path, merge: Call) -> None:
    before = state(clashing)
    answer = refused(merge("other", "--json"), clashing, before)
    (file,) = answer["files"]
    assert (file["path"], file["verdict"]) == ("a.py", "REFUSED")
    assert file["spots"][0]["reason"]
    told = merge("other").text
    assert "what we want" in told
    assert "what they want" in told
    assert "\nhint: `commonhold merge other --check COMMAND` tries the candidates; " in told
    assert told.endswith("\nnext: commonhold merge other --keep-conflicts\n")
    assert state(clashing) == before


def test_lines_that_merge_cleanly_are_not_trusted(disjoint: Path, merge: Call, use: Any) -> None:
    use(never)
    before = state(disjoint)
    answer = refused(merge("other", "--json"), disjoint, before)
    assert answer["files"][0]["spots"][0]["reason"] == "INTERFERES"


def test_what_git_makes_of_them_is_the_first_that_is_checked(disjoint: Path, merge: Call, use: Any) -> None:
    use(never)
    done = merge("other", "--check", "python3 a.py && grep -q 'A = 2' a.py && grep -q 'B = 2' b.py", "--json")
    assert done.status == 0, done.text
    assert (done.json["verdict"], done.json["check"]["tried"]) == ("VERIFIED", 1)
    assert (done.json["files"][0]["verdict"], "git" in done.json["files"][0]["how"]) == ("VERIFIED", True)
    assert (disjoint / "a.py").read_text(encoding="utf-8") == BOTH


def test_what_git_makes_is_not_tried_where_it_is_no_program(tmp_path: Path, merge: Call, use: Any) -> None:
    text = "def f():\n    first = 1\n\n\n\n\n    last = 1\n"
    ours, theirs = text.replace("first", "X"), text.replace("last = 1", "global X")
    root = repository(tmp_path, {"a.py": ours}, {"a.py": theirs}, {"a.py": text})
    use(never)
    answer = refused(merge("other", "--check", "false", "--json"), root, state(root))
    assert answer["check"]["tried"] == 2


@pytest.mark.usefixtures("by_line")
def test_candidates_are_tried_where_lines_conflict(clashing: Path, merge: Call) -> None:
    done = merge("other", "--check", "tail -8 a.py | grep -q 4 && grep -q 5 a.py")
    assert done.status == 0, done.text
    assert "VERIFIED: a.py passes" in done.text
    assert (clashing / "a.py").read_text(encoding="utf-8") == A.replace("3", "5") + A.replace("3", "4")


@pytest.mark.usefixtures("by_line")
def test_a_check_that_nothing_passes_changes_nothing(clashing: Path, merge: Call) -> None:
    before = state(clashing)
    answer = refused(merge("other", "--check", "echo no good; false", "--json"), clashing, before)
    assert (answer["check"]["tried"], answer["check"]["printed"]) == (2, "no good")
    told = merge("other", "--check", "echo no good; false").text
    assert told.count("no good\n") == 1


@pytest.mark.usefixtures("by_line")
@pytest.mark.parametrize("theirs", [changed("Z = 1", "Z = 2"), {"b.py": "B = 2\n"}], ids=["one file", "two files"])
def test_the_whole_has_to_pass_the_check_also_where_all_is_proven(theirs: Files, tmp_path: Path, merge: Call) -> None:
    root = repository(tmp_path, changed("A = 1", "A = 2"), theirs)
    before = state(root)
    broken = "! { grep -q 'A = 2' a.py && cat a.py b.py | grep -q -e 'Z = 2' -e 'B = 2'; }"
    answer = refused(merge("other", "--check", broken, "--json"), root, before)
    assert answer["why"] == "the merge fails the check"
    done = merge("other", "--check", "grep -q 'A = 2' a.py")
    assert done.status == 0
    assert "the whole passes grep" in done.text


@pytest.mark.usefixtures("by_line")
def test_files_are_chosen_together(tmp_path: Path, merge: Call) -> None:
    names = ("x.txt", "y.txt", "z.txt")
    root = two_branches(tmp_path / "r", *(dict.fromkeys(names, f"{side}\n") for side in ("base", "ours", "theirs")))
    check = "test \"$(head -qn1 x.txt y.txt z.txt | tr '\\n' ' ')\" = 'theirs ours theirs '"
    assert merge("other", "--check", check).status == 0
    assert [(root / name).read_text(encoding="utf-8").split()[0] for name in names] == ["theirs", "ours", "theirs"]


def test_already_up_to_date(tmp_path: Path, merge: Call) -> None:
    root = repository(tmp_path, {}, {})
    git(root, "checkout", "--quiet", "-B", "main", "other")
    before = state(root)
    assert merge("other").text == "already up to date\n"
    assert merge("HEAD").status == 0
    assert state(root) == before


def test_only_they_have_commits(tmp_path: Path, merge: Call) -> None:
    root = repository(tmp_path, {}, {"b.py": "B = 2\n"})
    git(root, "reset", "--quiet", "--hard", "HEAD^")
    assert merge("other", "--dry-run").text.startswith("fast-forward: ")
    write(root, {"b.py": "B = 3\n"})
    before = state(root)
    assert refused(merge("other", "--json"), root, before)["in_the_way"] == ["b.py"]
    write(root, {"b.py": "B = 1\n"})
    assert merge("other").status == 0
    assert asked(root, "rev-parse", "main") == asked(root, "rev-parse", "other")
    assert (root / "b.py").read_text(encoding="utf-8") == "B = 2\n"


@pytest.mark.usefixtures("by_line")
def test_a_dry_run_changes_nothing(disjoint: Path, merge: Call) -> None:
    before = state(disjoint)
    done = merge("other", "--dry-run")
    assert done.text.startswith("merged: PROVEN, 1 file changed on both sides (dry run: nothing is changed)\n")
    assert state(disjoint) == before
    assert merge("other", "--dry-run", "--no-commit").status == 2


@pytest.mark.usefixtures("by_line")
def test_without_a_commit_it_is_left_to_be_committed(disjoint: Path, merge: Call) -> None:
    head = asked(disjoint, "rev-parse", "HEAD")
    before = state(disjoint)
    done = merge("other", "--no-commit", "-m", "mine")
    assert done.status == 0
    assert "hint: `git merge --abort` takes it back\nnext: git commit\n" in done.text
    assert asked(disjoint, "rev-parse", "HEAD") == head
    assert asked(disjoint, "status", "--porcelain").split() == ["M", "a.py", "M", "b.py"]
    git(disjoint, "merge", "--abort")
    assert state(disjoint) == before
    merge("other", "--no-commit", "-m", "mine")
    git(disjoint, "commit", "--quiet", "--no-edit")
    assert asked(disjoint, "log", "-1", "--format=%s %p").startswith("mine ")
    assert len(asked(disjoint, "log", "-1", "--format=%p").split()) == 2
    assert asked(disjoint, "status", "--porcelain") == ""


def test_without_a_commit_what_the_engine_proved_is_staged(clashing: Path, merge: Call, use: Any) -> None:
    use(lambda *_: Proven(b"LIMIT = 45\n"))
    assert merge("other", "--no-commit").status == 0
    assert asked(clashing, "status", "--porcelain") == "M  a.py"
    assert asked(clashing, "show", ":a.py") == "LIMIT = 45"
    assert (clashing / "a.py").read_bytes() == b"LIMIT = 45\n"


@pytest.mark.usefixtures("by_line")
def test_conflicts_can_be_kept_as_git_keeps_them(tmp_path: Path, merge: Call) -> None:
    both = {"a.py": A.replace("3", "4"), "n.py": A.replace("A = 1", "A = 2")}
    other = {"a.py": A.replace("3", "5"), "n.py": A.replace("Z = 1", "Z = 2"), "b.py": None}
    root = repository(tmp_path, both, other, {**BASE, "n.py": A})
    before = state(root)
    done = merge("other", "--keep-conflicts")
    assert done.status == 1
    assert "hint: fix the unmerged files, `git add` them, then `git commit`; `git merge --abort`" in done.text
    assert done.text.endswith("\nnext: git status\n")
    assert asked(root, "ls-files", "--unmerged").count("a.py") == 3
    text = (root / "a.py").read_text(encoding="utf-8")
    assert "<<<<<<< main: what we want\nLIMIT = 4\n=======\nLIMIT = 5\n>>>>>>> other: what they want\n" in text
    assert (root / "n.py").read_text(encoding="utf-8") == BOTH
    assert asked(root, "status", "--porcelain").splitlines() == ["UU a.py", "D  b.py", "M  n.py"]
    assert merge("other").text.startswith("refused: a merge is under way in this working tree\n")
    git(root, "merge", "--abort")
    assert state(root) == before


def test_a_clean_merge_of_lines_that_is_refused_is_kept_as_a_conflict(disjoint: Path, merge: Call, use: Any) -> None:
    use(never)
    assert merge("other", "--keep-conflicts").status == 1
    assert asked(disjoint, "status", "--porcelain").splitlines() == ["UU a.py", "M  b.py"]
    assert "<<<<<<< main" in (disjoint / "a.py").read_text(encoding="utf-8")
    stages = [asked(disjoint, "show", f":{stage}:a.py") for stage in (1, 2, 3)]
    assert [("A = 2" in each, "Z = 2" in each) for each in stages] == [(False, False), (True, False), (False, True)]


@pytest.mark.usefixtures("by_line")
def test_a_whole_that_fails_the_check_can_be_kept(disjoint: Path, merge: Call) -> None:
    assert merge("other", "--keep-conflicts", "--check", "false").status == 1
    assert asked(disjoint, "status", "--porcelain").split() == ["M", "a.py", "M", "b.py"]
    assert asked(disjoint, "rev-parse", "MERGE_HEAD") == asked(disjoint, "rev-parse", "other")


def make_dirty(root: Path, how: str) -> None:
    match how:
        case "changed":
            write(root, {"b.py": "mine\n"})
        case "staged":
            write(root, {"b.py": "mine\n"})
            git(root, "add", "b.py")
        case "removed":
            (root / "b.py").unlink()
        case "untracked":
            write(root, {"new.py": "mine\n"})
        case "ignored":
            write(root, {"new.py": "mine\n", ".git/info/exclude": "new.py\n"})
        case _:
            write(root, {"new.py/inside": "mine\n"})


@pytest.mark.usefixtures("by_line")
@pytest.mark.parametrize("how", ["changed", "staged", "removed", "untracked", "ignored", "folder"])
@pytest.mark.parametrize("ending", ["commit", "--no-commit"])
def test_what_is_not_committed_is_never_overwritten(how: str, ending: str, tmp_path: Path, merge: Call) -> None:
    root = repository(tmp_path, changed("A = 1", "A = 2"), {"b.py": "B = 2\n", "new.py": "N = 1\n"})
    make_dirty(root, how)
    before = state(root)
    answer = refused(merge("other", "--json", *([] if ending == "commit" else [ending])), root, before)
    assert answer["in_the_way"] == ["b.py" if how in ("changed", "staged", "removed") else "new.py"]
    assert "in the way: " in merge("other").text


@pytest.mark.usefixtures("by_line")
@pytest.mark.parametrize("how", ["changed", "staged", "untracked"])
def test_what_is_not_touched_may_be_dirty(how: str, tmp_path: Path, merge: Call) -> None:
    root = repository(tmp_path, changed("A = 1", "A = 2"), changed("Z = 1", "Z = 2"))
    make_dirty(root, how)
    before = asked(root, "status", "--porcelain")
    assert merge("other").status == 0
    assert asked(root, "status", "--porcelain") == before
    assert asked(root, "show", "--format=", "--name-only", "--first-parent", "HEAD") == "a.py"


@pytest.mark.usefixtures("by_line")
@pytest.mark.parametrize("key", ["a.py#@header", "b.py", "./", "shared"])
def test_what_others_hold_is_not_changed_under_them(
    key: str, disjoint: Path, merge: Call, capsysbinary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*words: str) -> Outcome:
        return call(capsysbinary, monkeypatch, "-C", str(disjoint), *words)

    words = ("b.py", "--mode", "shared") if key == "shared" else (key,)
    lease = run("acquire", *words, "--agent", "ben", "--task", "mine now", "--json").json["lease"]["id"]
    before = state(disjoint)
    answer = refused(merge("other", "--agent", "ann", "--json"), disjoint, before)
    assert {(each["holder"], each["task"]) for each in answer["held"]} == {("ben", "mine now")}
    assert 'held by ben: "mine now"' in merge("other").text
    assert merge("other", "--agent", "ben", "--dry-run").status == 0
    run("acquire", "c.txt", "account:1", "--agent", "zoe")
    run("release", lease, "--agent", "ben")
    assert merge("other", "--agent", "ann").status == 0


@pytest.mark.usefixtures("by_line")
def test_what_others_begin_to_hold_during_the_check(disjoint: Path, merge: Call) -> None:
    before = state(disjoint)
    check = f"{sys.executable} -m commonhold -C {disjoint} acquire a.py --agent ben"
    answer = refused(merge("other", "--check", check, "--json"), disjoint, before)
    assert [each["path"] for each in answer["held"]] == ["a.py"]


def change_meanwhile(root: Path, what: str) -> None:
    if what == "file":
        write(root, {"b.py": "mine\n"})
    else:
        git(root, "commit", "--quiet", "--allow-empty", "--message", "meanwhile")


@pytest.mark.parametrize("what", ["file", "branch"])
def test_what_changes_while_it_is_decided_is_not_overwritten(what: str, disjoint: Path, merge: Call, use: Any) -> None:
    def engine(*versions: Any) -> Any:
        change_meanwhile(disjoint, what)
        return by_lines(*versions)

    use(engine)
    done = merge("other", "--json")
    assert done.status == 1
    assert "b.py" in done.json["why"] if what == "file" else "moved" in done.json["why"]
    assert asked(disjoint, "log", "-1", "--format=%s") == ("what we want" if what == "file" else "meanwhile")
    assert "Z = 1" in (disjoint / "a.py").read_text(encoding="utf-8")


def with_link(root: Path, branch: str, target: str) -> None:
    git(root, "checkout", "--quiet", branch)
    (root / "c.txt").unlink()
    (root / "c.txt").symlink_to(target)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "a link")


def with_submodule(root: Path, branch: str, name: str) -> None:
    git(root, "checkout", "--quiet", branch)
    made = asked(root, "commit-tree", "HEAD^{tree}", "-m", name)
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{made},sub")
    git(root, "commit", "--quiet", "--message", "a submodule")


def renamed(root: Path, branch: str, name: str) -> None:
    git(root, "checkout", "--quiet", branch)
    git(root, "mv", "b.py", name)
    git(root, "commit", "--quiet", "--message", "rename")


def written(root: Path, branch: str, files: Files) -> None:
    git(root, "checkout", "--quiet", branch)
    commit(root, files, "write")


def executable(root: Path, branch: str, name: str) -> None:
    written(root, branch, {name: "X = 1\n"})
    git(root, "update-index", "--chmod=+x", name)
    git(root, "commit", "--quiet", "--message", "executable")
    git(root, "checkout", "--quiet", "--force", branch)


# What each branch does, theirs first.
BLOCKS: dict[str, tuple[tuple[Callable[..., None], Any], tuple[Callable[..., None], Any]]] = {
    "deleted": ((written, {"b.py": None}), (written, {"b.py": "B = 5\n"})),
    "renamed and deleted": ((written, {"b.py": None}), (renamed, "new.py")),
    "renamed twice": ((renamed, "theirs.py"), (renamed, "ours.py")),
    "linked": ((with_link, "theirs"), (with_link, "ours")),
    "linked and changed": ((written, {"c.txt": "changed\n"}), (with_link, "ours")),
    "submodules": ((with_submodule, "theirs"), (with_submodule, "ours")),
    "modes": ((written, {"new.py": "X = 2\n"}), (executable, "new.py")),
    "folder": ((written, {"place": "1\n"}), (written, {"place/x": "1\n"})),
}


@pytest.mark.usefixtures("by_line")
@pytest.mark.parametrize(
    ("what", "obstacle", "path"),
    [
        ("deleted", "DELETED", "b.py"),
        ("renamed and deleted", "DELETED", "new.py"),
        ("renamed twice", "RENAMED", "b.py"),
        ("linked", "LINK", "c.txt"),
        ("linked and changed", "MODE", "c.txt"),
        ("submodules", "SUBMODULE", "sub"),
        ("modes", "MODE", "new.py"),
        ("folder", "PLACE", "place"),
    ],
)
def test_what_is_no_matter_of_text_is_refused(what: str, obstacle: str, path: str, tmp_path: Path, merge: Call) -> None:
    root = repository(tmp_path, {}, {})
    for branch, (act, how) in zip(("other", "main"), BLOCKS[what], strict=True):
        act(root, branch, how)
    before = state(root)
    answer = refused(merge("other", "--check", "true", "--json"), root, before)
    found = {each["path"]: each["obstacle"] for each in answer["blocked"]}
    assert found.get(path) == obstacle, answer
    assert all(each["why"] for each in answer["blocked"])
    assert f"{obstacle}: {path}" in merge("other").text
    assert state(root) == before


@pytest.mark.usefixtures("by_line")
def test_a_file_that_one_side_renamed_is_merged_at_its_new_place(tmp_path: Path, merge: Call) -> None:
    for number, (ours, theirs) in enumerate(((True, False), (False, True), (True, True))):
        root = two_branches(tmp_path / str(number), BASE, changed("A = 1", "A = 2"), changed("Z = 1", "Z = 2"))
        for branch, renames in (("other", theirs), ("main", ours)):
            git(root, "checkout", "--quiet", branch)
            if renames:
                git(root, "mv", "a.py", "n.py")
                git(root, "commit", "--quiet", "--message", "rename")
        done = merge("-C", str(root), "other", "--json")
        assert done.status == 0, done.text
        assert [each["path"] for each in done.json["files"]] == ["n.py"]
        assert (root / "n.py").read_text(encoding="utf-8") == BOTH
        assert not (root / "a.py").exists()


def test_a_renamed_file_that_is_refused_can_be_kept(tmp_path: Path, merge: Call) -> None:
    root = repository(tmp_path, changed("3", "4"), changed("3", "5"))
    git(root, "mv", "a.py", "n.py")
    git(root, "commit", "--quiet", "--message", "rename")
    assert merge("other", "--keep-conflicts").status == 1
    assert asked(root, "status", "--porcelain") == "UU n.py"
    assert {"LIMIT = 4", "LIMIT = 5"} <= set((root / "n.py").read_text(encoding="utf-8").splitlines())


@pytest.mark.usefixtures("by_line")
def test_the_executable_bit_of_the_side_that_set_it_is_kept(tmp_path: Path, merge: Call) -> None:
    root = repository(tmp_path, changed("A = 1", "A = 2"), changed("Z = 1", "Z = 2"))
    git(root, "checkout", "--quiet", "other")
    git(root, "update-index", "--chmod=+x", "a.py")
    git(root, "commit", "--quiet", "--message", "executable")
    git(root, "checkout", "--quiet", "--force", "main")
    assert merge("other").status == 0
    assert asked(root, "ls-tree", "HEAD", "a.py").startswith("100755")
    assert os.access(root / "a.py", os.X_OK)


def crossed(root: Path) -> None:
    """Let both branches merge the other's first commit, so that both commits are common to them."""
    git(root, "tag", "ours")
    git(root, "merge", "--quiet", "--no-edit", "other")
    git(root, "checkout", "--quiet", "other")
    git(root, "merge", "--quiet", "--no-edit", "ours")
    git(root, "checkout", "--quiet", "main")


@pytest.mark.usefixtures("by_line")
def test_histories_that_cross(disjoint: Path, merge: Call) -> None:
    crossed(disjoint)
    assert len(asked(disjoint, "merge-base", "--all", "main", "other").split()) == 2
    commit(disjoint, {"a.py": BOTH.replace("3", "4")}, "more of ours")
    git(disjoint, "checkout", "--quiet", "other")
    commit(disjoint, {"a.py": BOTH + "END = 1\n"}, "more of theirs")
    git(disjoint, "checkout", "--quiet", "main")
    done = merge("other")
    assert done.status == 0, done.text
    assert (disjoint / "a.py").read_text(encoding="utf-8") == BOTH.replace("3", "4") + "END = 1\n"


@pytest.mark.usefixtures("by_line")
def test_histories_that_cross_more_than_once(tmp_path: Path, merge: Call) -> None:
    lines = [f"{letter} = 1\n\n\n\n\n" for letter in "XYZAB"]
    text = "".join(lines)
    root = repository(tmp_path, {}, {}, {"a.py": text})
    for letter in "XYZ":
        git(root, "checkout", "--quiet", "-b", letter, "HEAD" if letter == "X" else "X^")
        commit(root, {"a.py": text.replace(f"{letter} = 1", f"{letter} = 2")}, letter)
    for branch, order, last in (("main", "XYZ", "A"), ("other", "ZYX", "B")):
        git(root, "checkout", "--quiet", branch)
        for letter in order:
            git(root, "merge", "--quiet", "--no-edit", "--no-ff", letter)
        joined = (root / "a.py").read_text(encoding="utf-8")
        commit(root, {"a.py": joined.replace(f"{last} = 1", f"{last} = 2")}, last)
    git(root, "checkout", "--quiet", "main")
    assert len(asked(root, "merge-base", "--all", "main", "other").split()) == 3
    done = merge("other")
    assert done.status == 0, done.text
    assert (root / "a.py").read_text(encoding="utf-8") == text.replace("= 1", "= 2")


def test_longer_ids(tmp_path: Path, merge: Call, use: Any) -> None:
    (tmp_path / "r").mkdir()
    git(tmp_path / "r", "init", "--quiet", "--object-format=sha256")
    ours = {**changed("3", "4"), "n.py": A.replace("A = 1", "A = 2")}
    theirs = {**changed("3", "5"), "n.py": A.replace("Z = 1", "Z = 2")}
    root = repository(tmp_path, ours, theirs, {**BASE, "n.py": A})
    use(by_lines)
    assert merge("other", "--keep-conflicts").status == 1
    assert asked(root, "status", "--porcelain").splitlines() == ["UU a.py", "M  n.py"]
    git(root, "merge", "--abort")
    assert merge("other", "--check", "true").status == 0
    assert (root / "n.py").read_text(encoding="utf-8") == BOTH


def test_nothing_that_the_repository_names_is_run(tmp_path: Path, merge: Call, use: Any) -> None:
    root = repository(tmp_path, {**changed("3", "4"), "b.py": "B = 2\n"}, changed("3", "5"))
    hooks = root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    trap = tmp_path / "trap"
    for name in (
        "pre-merge-commit",
        "post-merge",
        "commit-msg",
        "prepare-commit-msg",
        "post-checkout",
        "reference-transaction",
        "post-index-change",
        "pre-auto-gc",
    ):
        (hooks / name).write_text(f"#!/bin/sh\necho {name} >>{trap}\n", encoding="utf-8")
        (hooks / name).chmod(0o755)
    for key in (
        "core.fsmonitor",
        "merge.mine.driver",
        "merge.commonhold.driver",
        "merge.a=b.driver",
        "gpg.program",
        "core.pager",
    ):
        git(root, "config", key, f"echo {key} >>{trap}; false")
    git(root, "config", "merge.default", "commonhold")
    git(root, "config", "log.showSignature", "true")
    write(root, {".git/info/attributes": "b.py merge=mine\n*.txt merge=a=b\n"})
    git(root, "-c", "core.fsmonitor=false", "status")
    trap.unlink(missing_ok=True)
    use(by_lines)
    assert merge("other").status == 1
    assert merge("other", "--keep-conflicts", "--check", "true").status == 0
    assert not trap.exists(), trap.read_text(encoding="utf-8")


@pytest.mark.usefixtures("by_line")
@pytest.mark.parametrize("ending", [(), ("--no-commit",)])
def test_options_in_the_settings_make_nothing_else_of_it(ending: tuple[str, ...], disjoint: Path, merge: Call) -> None:
    for key, value in (
        ("branch.main.mergeOptions", "--squash --strategy=ours"),
        ("merge.ff", "only"),
        ("merge.autoStash", "true"),
        ("merge.verifySignatures", "true"),
        ("merge.conflictStyle", "diff3"),
        ("pull.twohead", "ours"),
        ("merge.renames", "false"),
        ("diff.noprefix", "true"),
        ("status.branch", "true"),
        ("core.quotePath", "true"),
        ("color.ui", "always"),
    ):
        git(disjoint, "config", key, value)
    assert merge("other", *ending).status == 0
    if ending:
        git(disjoint, "commit", "--quiet", "--no-edit")
    assert (disjoint / "a.py").read_text(encoding="utf-8") == BOTH
    assert len(asked(disjoint, "log", "-1", "--format=%p").split()) == 2
    assert asked(disjoint, "diff", "HEAD") == ""


def test_filters_run_as_in_any_checkout(tmp_path: Path, merge: Call, use: Any) -> None:
    root = repository(tmp_path, changed("3", "4"), changed("3", "5"))
    write(root, {".git/info/attributes": "*.py eol=crlf\n"})
    git(root, "checkout", "--quiet", "--force", "main")
    (root / "a.py").unlink()
    git(root, "checkout", "--quiet", "--", "a.py")
    use(lambda *_: Proven(b"LIMIT = 45\n"))
    assert merge("other").status == 0
    assert (root / "a.py").read_bytes() == b"LIMIT = 45\r\n"
    assert asked(root, "status", "--porcelain") == ""


@pytest.mark.parametrize("kept", [(), ("--keep-conflicts",)])
def test_hostile_names(kept: tuple[str, ...], tmp_path: Path, merge: Call) -> None:
    names = [
        b"a b.py",
        b"it's.py",
        b'"quoted".py',
        b"new\nline.py",
        b"-rf.py",
        b"\xff\xfe.py",
        b"sub dir/\xc3\xa9.py",
        b":(top)x.py",
    ]
    versions = [dict.fromkeys(names, f"A = 1\n\n\n\nLIMIT = {limit}\n") for limit in (3, 4, 5)]
    root = two_branches(tmp_path / "r", *versions)
    before = state(root)
    done = merge("other", "--json", *kept)
    assert done.status == 1
    assert {each["path"] for each in done.json["files"]} == {each.decode("utf-8", "backslashreplace") for each in names}
    assert b"\x1b" not in done.out
    if kept:
        texts = [Path(root, os.fsdecode(name)).read_text(encoding="utf-8") for name in names]
        assert all({"LIMIT = 4", "LIMIT = 5"} <= set(text.splitlines()) for text in texts)
        git(root, "merge", "--abort")
    assert state(root) == before


def test_hostile_intents_do_not_reach_the_terminal_or_the_markers(clashing: Path, merge: Call) -> None:
    git(clashing, "commit", "--quiet", "--amend", "--message", "\x1b[31mred\x07 \u202eand long " + "x" * 500)
    done = merge("other", "--keep-conflicts")
    assert done.status == 1
    assert b"\x1b" not in done.out + (clashing / "a.py").read_bytes()
    assert all(len(line) < 120 for line in (clashing / "a.py").read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize(
    "name", ["nothing", "-rf", "--help=x", "", "other..main", "HEAD^{tree}", ":/no such", "other file"]
)
def test_names_that_name_no_commit(name: str, clashing: Path, merge: Call) -> None:
    before = state(clashing)
    done = merge("--json", "--", name)
    assert (done.status, done.json["code"]) == (3, "REVISION_UNKNOWN"), done.text
    assert state(clashing) == before


@pytest.mark.usefixtures("by_line")
@pytest.mark.parametrize("name", ["other~0", "v1", "COMMIT"])
def test_other_names_of_a_commit(name: str, disjoint: Path, merge: Call) -> None:
    git(disjoint, "tag", "-a", "v1", "other", "-m", "one")
    name = asked(disjoint, "rev-parse", "other") if name == "COMMIT" else name
    assert merge(name).status == 0
    kind = "tag" if name == "v1" else "commit"
    assert asked(disjoint, "log", "-1", "--format=%s") == f"Merge {kind} '{name}'"


def test_a_branch_without_a_commit(tmp_path: Path, merge: Call) -> None:
    (tmp_path / "r").mkdir()
    git(tmp_path / "r", "init", "--quiet")
    done = merge("other", "--json")
    assert (done.status, done.json["code"]) == (3, "REVISION_UNKNOWN")


def test_histories_without_a_common_commit(tmp_path: Path, merge: Call) -> None:
    root = repository(tmp_path, {}, {})
    git(root, "checkout", "--quiet", "--orphan", "apart")
    git(root, "commit", "--quiet", "--message", "apart")
    git(root, "checkout", "--quiet", "main")
    answer = refused(merge("apart", "--json"), root, state(root))
    assert "no commit in common" in answer["why"]


@pytest.mark.usefixtures("by_line")
def test_from_a_subfolder_of_another_working_tree_without_a_branch(
    disjoint: Path, tmp_path: Path, capsysbinary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    side = tmp_path / "side"
    git(disjoint, "worktree", "add", "--quiet", "--detach", str(side))
    (side / "sub").mkdir()
    done = call(capsysbinary, monkeypatch, "-C", str(side / "sub"), "merge", "other")
    assert done.status == 0, done.err
    assert (side / "a.py").read_text(encoding="utf-8") == BOTH
    assert "Z = 1" in (disjoint / "a.py").read_text(encoding="utf-8")
    assert asked(side, "log", "-1", "--format=%s") == "Merge branch 'other' into HEAD"


@pytest.mark.parametrize("words", [("merge", "other"), ("cherry-pick", "other"), ("stash", "pop")])
def test_what_is_under_way_comes_first(words: tuple[str, ...], clashing: Path, merge: Call) -> None:
    if words[0] == "stash":
        write(clashing, changed("3", "6"))
        git(clashing, "stash")
        commit(clashing, changed("3", "7"), "more")
    subprocess.run([*GIT, *words], cwd=clashing, check=False, capture_output=True)
    before = state(clashing)
    assert asked(clashing, "ls-files", "--unmerged")
    assert "in this working tree" in refused(merge("other", "--json"), clashing, before)["why"]


def test_a_git_that_has_no_identity(disjoint: Path, merge: Call, use: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    use(by_lines)
    git(disjoint, "config", "user.useConfigOnly", "true")
    git(disjoint, "config", "--unset", "user.email")
    before = state(disjoint)
    done = merge("other", "--json")
    assert (done.status, done.json["code"]) == (4, "GIT_FAILED")
    assert state(disjoint) == before
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Zoe")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "zoe@example.org")
    assert merge("other").status == 0
    assert asked(disjoint, "log", "-1", "--format=%an") == "Zoe"


def test_there_is_no_git(disjoint: Path, merge: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(disjoint))
    done = merge("other", "--json")
    assert (done.status, done.json["code"]) == (4, "GIT_FAILED")


KILLED = """
import os, signal, sys
from tests.line_engine import by_lines
import commonhold.merging.merge
commonhold.merging.merge.merge = by_lines
from commonhold.workspace.git import process as running
real, seen = running.subprocess.Popen, []

def popen(words, **more):
    child = real(words, **more)
    if os.environ["KILL_AT"] in words:
        os.kill(os.getpid(), signal.SIGKILL)
    return child

running.subprocess.Popen = popen
from commonhold.cli.program import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("step", ["merge-tree", "cat-file", "commit-tree", "merge"])
def test_killed_at_any_step_it_is_done_or_not_begun(step: str, disjoint: Path) -> None:
    before = state(disjoint)
    env = {**os.environ, "KILL_AT": step, "PYTHONPATH": str(Path(__file__).parents[2])}
    words = [sys.executable, "-c", KILLED, "-C", str(disjoint), "merge", "other"]
    done = subprocess.run(words, check=False, capture_output=True, env=env)
    assert done.returncode == -signal.SIGKILL, done.stderr
    until(lambda: not (disjoint / ".git" / "index.lock").exists() and is_over(disjoint, before, step))
    if step != "merge":
        assert state(disjoint) == before
    else:
        assert (disjoint / "a.py").read_text(encoding="utf-8") == BOTH
        assert asked(disjoint, "status", "--porcelain") == ""


def is_over(root: Path, before: Any, step: str) -> bool:
    """Whether the last command of git, which outlives its caller, has come to its end."""
    return step != "merge" or asked(root, "rev-parse", "HEAD") != before[0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ended_in_the_middle_of_a_check_it_changes_nothing(number: int, tmp_path: Path) -> None:
    root = repository(tmp_path, changed("3", "4"), {"b.py": "B = 2\n"})
    before, began = state(root), tmp_path / "began"
    check = f"echo $$ >{began}.new; mv {began}.new {began}; sleep 600"
    with start("merge", "other", "--check", check, cwd=root) as waiting:
        while not began.exists():
            assert waiting.poll() is None, waiting.communicate()
            time.sleep(0.02)
        waiting.send_signal(number)
        out, err = waiting.communicate(timeout=60)
    assert (waiting.returncode, out) == (130, b"")
    assert err.startswith(b"interrupted")
    assert state(root) == before
    until(lambda: not is_alive(int(began.read_text(encoding="ascii"))))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_last_step_is_brought_to_its_end(number: int, tmp_path: Path) -> None:
    root = repository(tmp_path, changed("3", "4"), {"b.py": "B = 2\n"})
    began, go = tmp_path / "began", tmp_path / "go"
    git(root, "config", "filter.slow.smudge", f"touch {began}; until [ -e {go} ]; do sleep 0.02; done; cat")
    write(root, {".git/info/attributes": "b.py filter=slow\n"})
    with start("merge", "other", "--json", cwd=root) as working:
        while not began.exists():
            assert working.poll() is None, working.communicate()
            time.sleep(0.01)
        working.send_signal(number)
        go.touch()
        out, _ = working.communicate(timeout=60)
    assert working.returncode == 0
    assert json.loads(out)["commit"] == asked(root, "rev-parse", "HEAD")
    assert (root / "b.py").read_text(encoding="utf-8") == "B = 2\n"
    assert asked(root, "status", "--porcelain") == ""


def test_a_real_process(clashing: Path) -> None:
    done = process("merge", "other", "--json", cwd=clashing)
    assert done.returncode == 1
    assert json.loads(done.stdout)["outcome"] == "refused"
