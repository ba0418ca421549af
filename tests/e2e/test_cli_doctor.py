"""`commonhold doctor` on sound and on broken ground."""

import fcntl
import json
import subprocess
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.e2e.cli_driver import Call, git, immutable, mounted
from tests.patience import PATIENCE_SECONDS

from commonhold.bootstrap import open_repository
from commonhold.diagnostics import machine, mounts, type_checkers
from commonhold.diagnostics.finding import ok
from commonhold.diagnostics.mounts import file_system, kind_of
from commonhold.kernel.files import Write
from commonhold.stores.sqlite.connect import start_afresh
from commonhold.stores.sqlite.store import SqliteStore

pytestmark = pytest.mark.slow

CHECKS = {
    *(
        "commonhold",
        "python",
        "system",
        "sqlite",
        "grammars",
        "clock",
        "sandbox",
        "user namespaces",
        "overlayfs",
        "docker",
    ),
    *(
        "git",
        "repository",
        "worktrees",
        "merge driver",
        "git activity",
        "settings",
        "file system",
        "disk space",
        "state folder",
    ),
    *("daemon", "log", "locks", "gate", "database", "chain", "leases", "debts", "journal", "agent"),
    *("ty", "typescript"),
}


@pytest.fixture
def state(root: Path) -> Path:
    with open_repository(str(root), agent="ann") as hold:
        hold.acquire("x:1")
    return root / ".git" / "commonhold"


def finding(run: Call, check: str, *options: str, status: int = 0) -> Any:
    done = run("doctor", "--json", *options)
    assert done.status == status, done.text
    (found,) = (each for each in done.json["findings"] if each["check"] == check)
    assert found["level"] == "ok" or found["mend"]
    return found


@pytest.mark.usefixtures("state")
def test_a_sound_repository(run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONHOLD_TYPES", "on")
    monkeypatch.setattr("commonhold.cli.doctor.agents", lambda _: ())  # this machine may have any
    monkeypatch.setattr(type_checkers, "_TIMEOUT_SECONDS", PATIENCE_SECONDS)
    done = run("doctor", "--json")
    assert done.status == 0
    assert done.json["outcome"] == "sound"
    assert {each["check"] for each in done.json["findings"]} == CHECKS
    assert run("doctor").text.endswith("all is well\n")
    assert finding(run, "leases")["facts"]["live"] == 1


def test_it_makes_nothing(root: Path, run: Call) -> None:
    assert run("doctor").status == 0
    assert not (root / ".git" / "commonhold").exists()


def test_a_plain_folder(tmp_path: Path, run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")
    assert "plain folder" in finding(run, "repository")["found"]


def test_a_repository_that_cannot_be_used(root: Path, run: Call) -> None:
    assert "[REPOSITORY_BARE]" in finding(run, "repository", "-C", str(root / ".git"), status=4)["found"]


def test_worktrees_share_one_state(root: Path, state: Path, run: Call) -> None:
    git(root, "worktree", "add", "--quiet", "../second")
    assert len(finding(run, "worktrees", "-C", "../second")["facts"]["worktrees"]) == 2
    assert finding(run, "state folder", "-C", "../second")["facts"]["path"] == str(state)


@pytest.mark.parametrize(("name", "level", "status"), [("rebase-merge", "fail", 4), ("MERGE_HEAD", "warn", 0)])
def test_git_in_the_middle_of_something(name: str, level: str, status: int, root: Path, run: Call) -> None:
    (root / ".git" / name).mkdir()
    assert finding(run, "git activity", status=status)["level"] == level


def test_settings_that_cannot_be_used(root: Path, run: Call) -> None:
    (root / "commonhold.toml").write_text("ttl = 3\n", encoding="utf-8")
    assert "[CONFIG_INVALID]" in finding(run, "settings", status=4)["found"]


def test_a_state_folder_that_is_a_file(root: Path, run: Call) -> None:
    """What follows from that is left out."""
    (root / ".git" / "commonhold").write_text("", encoding="utf-8")
    failed = [each["check"] for each in run("doctor", "--json").json["findings"] if each["level"] == "fail"]
    assert failed == ["state folder"]


def test_a_damaged_database(state: Path, run: Call) -> None:
    (state / "state.db").write_bytes(b"no database at all" * 500)
    assert "damaged" in finding(run, "database", status=4)["found"]
    assert run("doctor", "--recover").status == 4


def test_a_database_damaged_inside(state: Path, run: Call) -> None:
    connection = apsw.Connection(str(state / "state.db"))
    connection.pragma("wal_checkpoint(TRUNCATE)")
    connection.close()
    data = bytearray((state / "state.db").read_bytes())
    data[4096 : 3 * 4096] = b"\xa5" * (2 * 4096)
    (state / "state.db").write_bytes(data)
    assert "damaged" in finding(run, "database", status=4)["found"]


@pytest.mark.parametrize("table", ["events", "tasks"])
def test_a_database_damaged_inside_a_text(table: str, state: Path, run: Call) -> None:
    run("task", "add", "price", "--agent", "ann")
    connection = apsw.Connection(str(state / "state.db"))
    damage = "UPDATE {} SET body = CAST(replace(CAST(body AS BLOB), CAST('price' AS BLOB), x'f5') AS TEXT)"
    connection.execute(damage.format(table))
    connection.close()
    assert finding(run, "database", status=4)["mend"] == start_afresh(str(state))


def test_a_changed_log(state: Path, run: Call) -> None:
    assert "covers the event before" in finding(run, "chain")["found"]
    connection = apsw.Connection(str(state / "state.db"))
    connection.execute("UPDATE events SET body = replace(body, 'ann', 'eve')")
    connection.close()
    found = finding(run, "chain", status=4)
    assert found["facts"]["event"] == 1
    assert "commonhold replay" in found["mend"]


def test_a_database_from_the_future(state: Path, run: Call) -> None:
    connection = apsw.Connection(str(state / "state.db"))
    connection.pragma("user_version", 99)
    connection.close()
    assert finding(run, "database", status=4)["facts"]["schema"] == 99


def test_a_database_of_another_program(state: Path, run: Call) -> None:
    connection = apsw.Connection(str(state / "state.db"))
    connection.pragma("application_id", 7)
    connection.close()
    assert "another program" in finding(run, "database", status=4)["found"]


def test_a_database_that_cannot_be_read(state: Path, run: Call) -> None:
    (state / "state.db").unlink()
    (state / "state.db").mkdir()
    assert finding(run, "database", status=4)["mend"]


def test_a_state_that_is_no_folder(root: Path, run: Call) -> None:
    (root / ".git" / "commonhold").write_bytes(b"")
    assert "not a folder" in finding(run, "state folder", status=4)["found"]


def test_a_state_that_cannot_be_made(root: Path, run: Call) -> None:
    with mounted(root / "disk") as folder:
        inner = Path(folder, "work")
        inner.mkdir()
        git(inner, "init", "--quiet")
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        assert "cannot be created" in finding(run, "state folder", "-C", str(inner), status=4)["found"]


def test_a_state_that_cannot_be_written(root: Path, run: Call) -> None:
    with mounted(root / ".git" / "commonhold") as folder:
        with open_repository(str(root), agent="ann") as hold:
            hold.acquire("x:1")
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        assert "cannot be written" in finding(run, "state folder", status=4)["found"]
        assert "sound" in finding(run, "database", status=4)["found"]
        assert finding(run, "leases", status=4)["facts"]["live"] == 1


def test_an_immutable_state_folder(state: Path, run: Call) -> None:
    with immutable(state):
        assert finding(run, "state folder", status=4)["level"] == "fail"
        assert finding(run, "locks", status=4)["level"] == "warn"


def test_a_full_disk(root: Path, run: Call) -> None:
    with mounted(root / ".git" / "commonhold", "-o", "size=256k"):
        assert finding(run, "disk space", status=4)["level"] == "fail"


def test_a_gate_that_somebody_holds(state: Path, run: Call) -> None:
    with (state / "gate").open("r+b") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        found = finding(run, "gate")
    assert found["level"] == "warn"
    assert "does not tell by which" in found["found"]


def test_a_gate_that_is_a_link(state: Path, run: Call) -> None:
    (state / "gate").unlink()
    (state / "gate").symlink_to("elsewhere")
    assert finding(run, "gate", status=4)["level"] == "fail"


def test_an_interrupted_commit_is_told_and_taken_back(root: Path, state: Path, run: Call) -> None:
    store = SqliteStore(str(state))
    with store.write() as writer:
        writer.begin(str(root), "ann", "half done", [Write("new.py", None, "0" * 64, None, 0o644)])
    store.close()
    assert finding(run, "journal")["facts"]["paths"] == ["new.py"]
    assert "1 interrupted" in finding(run, "recover", "--recover")["found"]
    assert finding(run, "journal")["level"] == "ok"


@pytest.mark.usefixtures("state")
def test_pruning_forgets_what_is_old(root: Path, run: Call) -> None:
    (root / "commonhold.toml").write_text("retention_days = 0\n", encoding="utf-8")
    kept = run("show", "a.py#one", "--json").json["regions"][0]["hash"]
    assert run("show", kept).status == 0
    assert finding(run, "prune", "--prune")["level"] == "ok"
    assert run("show", kept).status == 3


def test_debts_are_told(state: Path, run: Call) -> None:
    connection = apsw.Connection(str(state / "state.db"))
    connection.execute(
        "INSERT INTO debts (worktree, key, holder, why) VALUES ('/work', 'file:a.py#one', 'ann', 'it calls two')"
    )
    connection.close()
    assert finding(run, "debts")["level"] == "warn"
    assert "owed by ann: it calls two" in run("status").text


MOUNTS = (
    "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "22 21 0:30 / /data rw,relatime shared:1 - nfs4 server:/data rw\n"
    "23 22 0:31 / /data/ann/my\\040disk rw - xfs /dev/sdb rw\n"
)


def test_the_nearest_mount_decides() -> None:
    assert kind_of("/srv", MOUNTS) == "ext4"
    assert kind_of("/data/ann/project", MOUNTS) == "nfs4"
    assert kind_of("/data/ann/my disk/project", MOUNTS) == "xfs"
    assert kind_of("/datas", MOUNTS) == "ext4"


@pytest.mark.parametrize(("kind", "level"), [("nfs4", "fail"), ("fuse.sshfs", "fail"), ("fuse.other", "warn")])
def test_disks_that_several_machines_share(kind: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mounts, "_read_mounts", lambda: f"21 1 8:1 / / rw - {kind} x rw\n")
    assert file_system("/").level == level


def test_a_machine_without_any_of_it(run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_USER_NAMESPACES", Path("/nonexistent"))
    monkeypatch.setattr(machine, "sqlite_version", lambda: (3, 40, 1))
    monkeypatch.setattr(mounts, "_read_mounts", str)
    monkeypatch.setenv("PATH", "")
    done = run("doctor", "--json")
    levels = {each["check"]: each["level"] for each in done.json["findings"]}
    found = {each["check"]: each["found"] for each in done.json["findings"]}
    assert levels["sqlite"] == "fail"
    assert {levels[check] for check in ("git", "file system")} == {"warn"}
    assert {levels[check] for check in ("user namespaces", "overlayfs")} == {"ok"}
    assert "not available" in found["user namespaces"]
    assert json.loads(done.out)["outcome"] == "failing"


def test_a_daemon_holds_the_gate_for_good_reason(root: Path, run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    run("acquire", "a.py")
    monkeypatch.setattr("commonhold.cli.doctor.pid_of", lambda _: 4711)
    monkeypatch.setattr("commonhold.cli.doctor.serving", lambda _, pid: ok("daemon", f"process {pid} is there"))
    with (root / ".git" / "commonhold" / "gate").open("r+b") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        told = run("doctor").text
    assert "ok    daemon           process 4711 is there" in told
    assert "ok    gate             held by the daemon, for as long as it lives" in told
