"""Checks on the tree of a commit: in a fresh copy of it, which leaves nothing behind."""

import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.e2e.branches import asked, commit
from tests.e2e.cli_driver import git

from commonhold.coordinator.checks import TreeChecks
from commonhold.coordinator.queue_ports import Build, CheckReport
from commonhold.kernel.errors import StoreError


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
    tree = Build(asked(root, "rev-parse", "HEAD"), checks)
    (found,) = TreeChecks(str(root), (), seconds).reports([tree], stop or threading.Event())
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


def builds(root: Path, *checks: str, stop: threading.Event | None = None) -> list[CheckReport]:
    commit = asked(root, "rev-parse", "HEAD")
    listed = [Build(commit, (each,)) for each in checks]
    return list(TreeChecks(str(root), (), 60.0).reports(listed, stop or threading.Event()))


def test_two_builds_run_at_the_same_time_and_the_second_ends_when_the_first_has_passed(root: Path) -> None:
    meeting = root.parent / "meeting"
    meet = f"touch {meeting}.{{}}; while ! [ -e {meeting}.{{}} ]; do sleep 0.02; done"
    both = builds(root, meet.format(1, 2) + "; exit 1", meet.format(2, 1))
    assert [each.passed for each in both] == [False, True]
    first, second = builds(root, "true", "sleep 60")
    assert (first.passed, second.is_stopped) == (True, True)
    stop = threading.Event()
    stop.set()
    assert [each.is_stopped for each in builds(root, "sleep 60", "sleep 60", stop=stop)] == [True, True]


def test_a_command_that_is_missing_and_a_tree_that_cannot_be_copied_differ_from_a_failure(root: Path) -> None:
    assert report(root, "/nowhere/tool").may_be_machine
    assert not report(root, "exit 1").may_be_machine
    (found,) = TreeChecks(str(root), (), 60.0).reports([Build("d" * 40, ("true",))], threading.Event())
    assert (found.passed, found.check, "read-tree" in found.why) == (False, "", True)


def test_a_full_disk_is_an_error_of_the_machine(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))
    assert report(root, "true").passed
    with pytest.raises(StoreError, match="the disk of"):
        report(root, "exit 1")
