"""Indexes beside the shared one: what they say is read as it is asked for, and what is set in them is known to git."""

import subprocess
from pathlib import Path

import pytest
from tests.e2e.cli_driver import GIT

from commonhold.merging.branches.histories import Blob
from commonhold.workspace.git import indexes
from commonhold.workspace.git.indexes import Index, Listed, differing
from commonhold.workspace.git.process import Git

pytestmark = pytest.mark.slow

ONE, TWO = "1" * 40, "2" * 40
NAMES = ["a.txt", "src/b.txt", "*.txt", "\u00e9\n"]


def listed(*entries: str) -> Listed:
    return Listed([entry.encode() for entry in entries])


def test_entries_are_read_as_git_lists_them() -> None:
    entries = listed(f"100644 {ONE} 0\ta", f"100755 {TWO} 0\tb c", f"100644 {ONE} 1\td", f"100644 {TWO} 2\td")
    assert dict(entries) == {"a": Blob("100644", ONE), "b c": Blob("100755", TWO), "d": None}
    assert len(entries) == 3
    assert entries.get("none", entries["a"]) == Blob("100644", ONE)


def test_what_differs_between_two_is_the_same_however_they_are_kept() -> None:
    before = listed(f"100644 {ONE} 0\ta", f"100644 {ONE} 0\tb", f"100644 {ONE} 0\tc", f"100644 {ONE} 2\td")
    after = listed(f"100644 {ONE} 0\ta", f"100755 {ONE} 0\tb", f"100644 {ONE} 0\td", f"100644 {ONE} 0\te")
    was, is_ = differing(before, after)
    assert was == {"b": Blob("100644", ONE), "c": Blob("100644", ONE), "d": None}
    assert is_ == {"b": Blob("100755", ONE), "d": Blob("100644", ONE), "e": Blob("100644", ONE)}
    assert differing(dict(before), dict(after)) == (was, is_)
    assert differing(before, before) == ({}, {})


def test_an_index_follows_to_a_commit_in_which_nothing_or_much_is_another(tmp_path: Path) -> None:
    for words in (("init", "-q"), ("commit", "-qm", "first", "--allow-empty")):
        subprocess.run((*GIT, *words), cwd=tmp_path, check=True, capture_output=True)
    git = Git(str(tmp_path))
    index = Index(git, str(tmp_path / ".git/own"))
    index.begin("HEAD", str(tmp_path / ".git/none"))
    for number in range(3):
        (tmp_path / f"{number}?").write_text(str(number))
    for more in (["add", "-A"], ["commit", "-qm", "second"]):
        subprocess.run((*GIT, *more), cwd=tmp_path, check=True, capture_output=True)
    trees = [git.line("rev-parse", f"{each}^{{tree}}") or "" for each in ("HEAD~1", "HEAD")]
    index.follow(trees[0], trees[0], indexes.staged_stays)
    assert len(index.entries()) == 0
    index.follow(trees[0], trees[1], indexes.staged_stays)
    assert set(index.entries()) == {"0?", "1?", "2?"}


@pytest.mark.parametrize("few", [0, 500])
def test_git_takes_what_was_set_for_what_is_in_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """Without a look at them a program that trusts the index (`diff-index`) would take all of them for changed."""
    monkeypatch.setattr(indexes, "_FEW", few)
    git = Git(str(tmp_path))
    for name in NAMES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first")):
        subprocess.run((*GIT, *words), cwd=tmp_path, check=True, capture_output=True)
    index = Index(git, str(tmp_path / ".git/own"))
    index.begin("HEAD", str(tmp_path / ".git/none"))
    index.put({**index.entries(), "gone": Blob("100644", index.entries()["a.txt"].id)})  # type: ignore[union-attr]  # it is there
    told = git.ask("diff-files", "--name-only", "-z", settings=index.settings)
    assert told == b"gone\0"
