"""Git, told by `commonhold install git`, merges with Commonhold: real repositories, git's own commands."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.branches import Files, asked, state, two_branches, write
from tests.e2e.cli_driver import git, process

from commonhold.merging.merge import merge
from commonhold.merging.verdict import Unproven

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LINE_ENGINE = Path(__file__).parent / "with_line_engine"
BASE = {"a.py": "A = 1\n\n\n\n\n\n\nLIMIT = 3\n\n\n\n\n\n\nZ = 1\n", "b.txt": "b\n"}
NAMES: list[bytes] = [
    b"a b.py",
    b"it's.py",
    b'"quoted".py',
    b"new\nline.py",
    b"-rf.py",
    b"$(touch hacked).py",
    b"\xff\xfe.py",
]
NAMES += [b"%P%A.py", b"sub dir/\xc3\xa9.py", b"tab\there.py", b"back\\slash.py", b"--out=x"]


def merged(root: Path, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run git, with or without success."""
    return subprocess.run(
        ["git", *words],
        cwd=root,
        check=False,
        capture_output=True,
        env={**os.environ, "GIT_EDITOR": "true", **(env or {})},
    )


def install(root: Path, *words: str) -> None:
    assert process("install", "git", *words, cwd=root).returncode == 0


def with_line_engine() -> dict[str, str]:
    """The environment in which our own driver merges by lines, whatever the real engine can do."""
    return {"PYTHONPATH": os.pathsep.join((str(LINE_ENGINE), str(ROOT)))}


def changed(old: str, new: str) -> Files:
    return {"a.py": BASE["a.py"].replace(old, new)}


@pytest.fixture
def disjoint(tmp_path: Path) -> Path:
    root = two_branches(tmp_path / "r", BASE, changed("A = 1", "A = 2"), changed("Z = 1", "Z = 2"))
    install(root)
    return root


@pytest.fixture
def clashing(tmp_path: Path) -> Path:
    root = two_branches(tmp_path / "r", BASE, changed("3", "4"), changed("3", "5"))
    install(root)
    return root


@pytest.mark.parametrize("words", [("merge", "--no-edit", "other"), ("cherry-pick", "other"), ("rebase", "other")])
def test_what_is_proven_goes_through(words: tuple[str, ...], disjoint: Path) -> None:
    done = merged(disjoint, *words, env=with_line_engine())
    assert done.returncode == 0, done.stderr
    assert (disjoint / "a.py").read_text(encoding="utf-8") == BASE["a.py"].replace("= 1", "= 2")
    assert asked(disjoint, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    "words", [("merge", "other"), ("cherry-pick", "other"), ("rebase", "other"), ("merge", "--squash", "other")]
)
def test_what_is_not_is_left_as_a_conflict_with_markers(words: tuple[str, ...], clashing: Path) -> None:
    done = merged(clashing, *words)
    assert done.returncode == 1
    assert b"REFUSED: a.py" in done.stderr
    assert b"next: fix a.py between the markers" in done.stderr
    text = (clashing / "a.py").read_text(encoding="utf-8")
    assert {"LIMIT = 4", "LIMIT = 5", "======="} <= set(text.splitlines())
    assert asked(clashing, "ls-files", "--unmerged").count("a.py") == 3
    assert asked(clashing, "diff", "--name-only", "--diff-filter=U") == "a.py"


def test_it_can_be_taken_back(clashing: Path) -> None:
    before = state(clashing)
    assert merged(clashing, "merge", "other").returncode == 1
    git(clashing, "merge", "--abort")
    assert state(clashing) == before


def test_a_rebase_goes_on_after_the_conflict(clashing: Path) -> None:
    assert merged(clashing, "rebase", "other").returncode == 1
    write(clashing, {"a.py": "LIMIT = 9\n"})
    git(clashing, "add", "a.py")
    assert merged(clashing, "rebase", "--continue").returncode == 0
    assert asked(clashing, "show", "HEAD:a.py") == "LIMIT = 9"


def test_a_stash_is_merged_too(disjoint: Path) -> None:
    write(disjoint, {"a.py": BASE["a.py"].replace("A = 1", "A = 2").replace("Z = 1", "Z = 3")})
    git(disjoint, "stash")
    write(disjoint, {"a.py": BASE["a.py"].replace("A = 1", "A = 7")})
    git(disjoint, "commit", "--quiet", "--all", "--message", "more")
    assert merged(disjoint, "stash", "pop", env=with_line_engine()).returncode == 0
    assert "Z = 3" in (disjoint / "a.py").read_text(encoding="utf-8")


def test_both_made_the_file(tmp_path: Path) -> None:
    root = two_branches(tmp_path / "r", BASE, {"new.py": "X = 1\n"}, {"new.py": "X = 2\n"})
    install(root)
    assert merged(root, "merge", "other").returncode == 1
    text = (root / "new.py").read_text(encoding="utf-8")
    assert all(part in text for part in ("X = 1\n", "=======\n", "X = 2\n"))


def test_one_side_deleted_what_the_other_changed(tmp_path: Path) -> None:
    root = two_branches(tmp_path / "r", BASE, changed("3", "4"), {"a.py": None})
    install(root)
    done = merged(root, "merge", "other")
    assert done.returncode == 1
    assert b"modify/delete" in done.stdout
    assert "LIMIT = 4" in (root / "a.py").read_text(encoding="utf-8")


def test_binary_files_are_left_unmerged(tmp_path: Path) -> None:
    root = two_branches(tmp_path / "r", {"a.png": b"\0\xff1"}, {"a.png": b"\0\xff2"}, {"a.png": b"\0\xff3"})
    install(root)
    assert merged(root, "merge", "other").returncode == 1
    answer = merge(b"\0\xff1", b"\0\xff2", b"\0\xff3", "a.png")
    assert isinstance(answer, Unproven)
    assert (root / "a.png").read_bytes() == (answer.marked or b"\0\xff2")
    assert asked(root, "ls-files", "--unmerged").count("a.png") == 3


def test_hostile_names(tmp_path: Path) -> None:
    def files(limit: int) -> Files:
        return dict.fromkeys(NAMES, f"A = 1\n\n\n\n\nLIMIT = {limit}\n")

    root = two_branches(tmp_path / "r", files(3), files(4), files(5))
    install(root)
    done = merged(root, "merge", "other")
    assert done.returncode == 1, done.stderr
    for name in NAMES:
        text = Path(root, os.fsdecode(name)).read_text(encoding="utf-8")
        assert {"LIMIT = 4", "LIMIT = 5", "======="} <= set(text.splitlines()), name
    assert b"could not merge this file" not in done.stderr
    assert {each.name for each in root.iterdir()} == {".git", *(os.fsdecode(name).partition("/")[0] for name in NAMES)}


def test_the_markers_have_the_size_that_the_attributes_say(clashing: Path) -> None:
    write(clashing, {".gitattributes": "a.py conflict-marker-size=12\n"})
    merged(clashing, "merge", "other")
    assert "\n============\n" in (clashing / "a.py").read_text(encoding="utf-8")


def test_what_the_users_attributes_say_has_the_last_word(clashing: Path) -> None:
    write(clashing, {".gitattributes": "a.py merge=union\n"})
    assert merged(clashing, "merge", "--no-edit", "other").returncode == 0
    assert {"LIMIT = 4", "LIMIT = 5"} <= set((clashing / "a.py").read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("trouble", ["gone", "crashing", "killed"])
def test_a_driver_that_fails_leaves_a_conflict_with_gits_markers(trouble: str, clashing: Path, tmp_path: Path) -> None:
    broken = tmp_path / "python"
    if trouble != "gone":
        broken.write_text(f"#!/bin/sh\n{'exit 5' if trouble == 'crashing' else 'kill -9 $$'}\n", encoding="utf-8")
        broken.chmod(0o755)
    driver = asked(clashing, "config", "merge.commonhold.driver").replace(sys.executable, str(broken))
    git(clashing, "config", "merge.commonhold.driver", driver)
    done = merged(clashing, "merge", "other")
    assert done.returncode == 1
    assert b"commonhold could not merge this file" in done.stderr
    text = (clashing / "a.py").read_text(encoding="utf-8")
    assert {"LIMIT = 4", "LIMIT = 5", "======="} <= set(text.splitlines())
    assert asked(clashing, "ls-files", "--unmerged").count("a.py") == 3


def test_a_driver_that_fails_makes_no_merge_clean(disjoint: Path) -> None:
    driver = asked(disjoint, "config", "merge.commonhold.driver").replace(sys.executable, "/nowhere/python")
    git(disjoint, "config", "merge.commonhold.driver", driver)
    assert merged(disjoint, "merge", "other").returncode == 1
    assert (disjoint / "a.py").read_text(encoding="utf-8") == BASE["a.py"].replace("= 1", "= 2")
    assert asked(disjoint, "ls-files", "--unmerged").count("a.py") == 3


def test_modules_of_the_merged_project_are_not_taken_for_ours(clashing: Path) -> None:
    hostile = "open('hacked', 'w'); raise SystemExit(0)\n"
    for name in ("commonhold.py", "click.py", "ast.py", "typing.py", "sitecustomize.py"):
        write(clashing, {name: hostile})
    assert merged(clashing, "merge", "other").returncode == 1
    assert not (clashing / "hacked").exists()


def test_crossing_histories_are_given_to_git_for_their_common_commit(tmp_path: Path) -> None:
    root = two_branches(tmp_path / "r", BASE, changed("A = 1", "A = 2"), changed("3", "4"))
    git(root, "tag", "ours")
    git(root, "merge", "--quiet", "--no-edit", "other")
    git(root, "checkout", "--quiet", "other")
    git(root, "merge", "--quiet", "--no-edit", "ours")
    for branch, limit in (("other", "5"), ("main", "6")):
        git(root, "checkout", "--quiet", branch)
        write(root, {"a.py": BASE["a.py"].replace("A = 1", "A = 2").replace("LIMIT = 3", f"LIMIT = {limit}")})
        git(root, "commit", "--quiet", "--all", "--message", limit)
    install(root)
    assert merged(root, "merge", "other").returncode == 1
    text = (root / "a.py").read_text(encoding="utf-8")
    assert {"LIMIT = 5", "LIMIT = 6", "A = 2"} <= set(text.splitlines())
    assert text.count("=======") == 1


def test_the_mergetool_resolves_what_it_can(tmp_path: Path) -> None:
    """Conflicts that another driver left: ours mends those that are proven, and leaves the others as they were."""
    files = {"one.py": "X = 1\n", "two.py": "LIMIT = 3\n"}
    ours, theirs = {"one.py": "X = 2\n", "two.py": "LIMIT = 4\n"}, {"one.py": "X = 3\n", "two.py": "LIMIT = 5\n"}
    root = two_branches(tmp_path / "r", files, ours, theirs)
    assert merged(root, "merge", "other").returncode == 1
    install(root)
    before = (root / "two.py").read_bytes()
    # What was wanted of one.py turns out to be the same on both sides.
    blob = asked(root, "rev-parse", "HEAD:one.py")
    entry = f"100644 {blob} 3\tone.py\0".encode()
    subprocess.run(["git", "update-index", "-z", "--index-info"], cwd=root, check=True, input=entry)
    done = merged(root, "mergetool", "--tool=commonhold", "--no-prompt", "one.py")
    assert done.returncode == 0, done.stderr
    assert (root / "one.py").read_text(encoding="utf-8") == "X = 2\n"
    assert merged(root, "mergetool", "--tool=commonhold", "--no-prompt", "two.py").returncode == 1
    assert (root / "two.py").read_bytes() == before
    assert asked(root, "diff", "--name-only", "--diff-filter=U") == "two.py"


def test_the_mergetool_with_odd_names(tmp_path: Path) -> None:
    names = ["a b.py", "it's.py", "$(touch hacked).py", "sub dir/a.py", "%P.py", ";touch hacked;.py"]
    versions = [dict.fromkeys(names, f"LIMIT = {limit}\n") for limit in (3, 4, 5)]
    root = two_branches(tmp_path / "r", *versions)
    assert merged(root, "merge", "other").returncode == 1
    install(root)
    before = [(root / name).read_bytes() for name in names]
    done = merged(root, "mergetool", "--tool=commonhold", "--no-prompt", *names)
    assert done.returncode == 1
    assert b"REFUSED" in done.stdout
    assert [(root / name).read_bytes() for name in names] == before
    assert not (root / "hacked").exists()
