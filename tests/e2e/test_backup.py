"""A backup is made while a daemon serves, and restored in its place: nothing is leased then, and fences go on."""

from pathlib import Path

import pytest
from tests.e2e.cli_driver import Call
from tests.e2e.daemon_process import Place

pytestmark = pytest.mark.slow


def test_a_restore_ends_the_daemon_and_all_leases(run: Call, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONHOLD_DAEMON", "on")
    file = str(root / "shop.backup")
    try:
        run("acquire", "a.py#one")
        Place(root).wait_until_served()
        made = run("backup", file, "--json")
        later = run("acquire", "x:1", "--json").json["lease"]["fence"]
        refused = run("restore", file, "--json")
        assert (refused.status, refused.json["code"]) == (2, "USAGE")
        assert len(run("leases", "--json").json["leases"]) == 2
        served_by = run("daemon", "status").text
        for wrong, code in (("a.py", "STORE_CORRUPT"), ("none", "FILE_NOT_FOUND"), (".", "NOT_A_FILE")):
            refused = run("restore", str(root / wrong), "--yes", "--json")
            assert refused.json["code"] == code
            assert run("daemon", "status").text == served_by, "no server ends for a file that is no backup"
        done = run("restore", file, "--yes", "--json")
        assert (done.status, done.json["backup"]) == (0, made.json["newest"])
        assert Path(done.json["kept"]).is_file()
        assert run("leases", "--json").json["leases"] == []
        assert run("acquire", "a.py#one", "--json").json["lease"]["fence"] > max(later, done.json["newest"])
        assert run("doctor").status == 0
    finally:
        run("daemon", "stop")


def test_a_backup_that_would_replace_a_file_is_refused(run: Call, root: Path) -> None:
    run("acquire", "x:1")
    refused = run("backup", str(root / "a.py"), "--json")
    assert (refused.status, refused.json["code"]) == (3, "FILE_EXISTS")


def test_a_backup_without_a_name_is_not_written_into_the_working_tree(run: Call, root: Path) -> None:
    run("acquire", "x:1")
    before = sorted(root.iterdir())
    made = Path(run("backup", "--json").json["path"])
    assert sorted(root.iterdir()) == before
    assert (made.parent, made.is_file()) == (root / ".git/commonhold.backups", True)
    assert run("restore", str(made), "--yes").status == 0
