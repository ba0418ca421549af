"""Checks on the tree of a commit: in a fresh copy of it, which leaves nothing behind."""

import threading
from pathlib import Path

import pytest
from tests.e2e.branches import asked, commit
from tests.e2e.cli_driver import git

from commonhold.coordinator.checks import TreeChecks
from commonhold.coordinator.merge_queue import CheckReport


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made, temporary = tmp_path / "r", tmp_path / "temporary"
    made.mkdir()
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", None)
    git(made, "init", "--quiet")
    commit(made, {"a.txt": "committed\n"}, "begin")
    (made / "a.txt").write_text("uncommitted\n", encoding="utf-8")
    return made


def report(root: Path, *checks: str, stop: threading.Event | None = None, seconds: float = 30.0) -> CheckReport:
    found = TreeChecks(str(root), (), seconds).report(
        asked(root, "rev-parse", "HEAD"), checks, stop or threading.Event()
    )
    assert list((root.parent / "temporary").iterdir()) == [], "the check left something behind"
    return found


def test_checks_see_the_committed_files_and_the_path_of_the_working_tree(root: Path) -> None:
    assert report(root, "grep -q '^committed' a.txt", f'test "$COMMONHOLD_WORKTREE" = {root}', "touch b.txt").passed
    assert not (root / "b.txt").exists()
    assert report(root).passed


def test_the_first_check_that_fails_is_named_with_the_end_of_its_output(root: Path) -> None:
    found = report(root, "true", "echo wrong; exit 3", "touch never")
    assert (found.passed, found.check, found.why, found.output) == (
        False,
        "echo wrong; exit 3",
        "exit status 3",
        "wrong",
    )


def test_a_check_that_takes_too_long_fails_and_one_that_is_stopped_has_no_result(root: Path) -> None:
    found = report(root, "sleep 60", seconds=0.2)
    assert (found.passed, found.is_stopped, found.why) == (False, False, "it did not end within 0.2 seconds")
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    assert report(root, "sleep 60", stop=stop).is_stopped
