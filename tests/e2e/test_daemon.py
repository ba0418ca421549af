"""The daemon of a repository: how it begins, that it is the only one, and when it ends."""

import fcntl
import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.e2e.cli_driver import NOBODY, Call, git, make_repository, only_root
from tests.e2e.daemon_process import Raw, Serving, client, kept, place, serving
from tests.patience import until

import commonhold
from commonhold.client import daemon as beginning
from commonhold.kernel.errors import Code, InputError, StoreError
from commonhold.machine.log_output import fields_of
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace import daemon_files
from commonhold.workspace.repository import Repository

pytestmark = pytest.mark.slow


def test_it_is_started_on_first_use_and_serves_the_next_call(root: Path) -> None:
    with place(root) as found, found.session() as hold:
        assert hold.leases() == ()
        assert not found.is_served
        answer = hold.acquire("account:1")
        found.wait_until_served()
        assert answer.lease is not None
        assert hold.release(answer.lease.id).outcome == "released"
        assert [type(each.event).__name__ for each in hold.log(after=0)] == ["LeaseGranted", "LeaseReleased"]
        with pytest.raises(StoreError) as caught, commonhold.open(str(root), agent="bob", daemon=False) as other:
            other.acquire("account:2")
        assert caught.value.code is Code.STORE_OWNED
        assert found.log == ""


def test_the_second_one_leaves_the_first_in_peace(root: Path) -> None:
    with serving(root) as daemon, daemon.session() as hold:
        hold.acquire("account:1")
        command = [sys.executable, "-m", "commonhold.server.daemon", str(root)]
        second = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
        assert second.returncode == 0
        said = fields_of(second.stderr.strip())
        assert (said["event"], said["code"]) == (daemon_files.DOES_NOT_SERVE, "STORE_OWNED")
        assert (said["message"], bool(said["hint"])) == ("a daemon serves this repository already", True)
        assert daemon.pid == daemon.process.pid
        assert len(hold.leases()) == 1


def test_it_waits_for_whoever_is_inside_without_it(root: Path) -> None:
    """That it is said to have the state already must not keep itself out."""
    with place(root) as found, found.session(daemon=False) as hold:
        hold.acquire("account:1")
        daemon = Serving(root)
        with SqliteStore(str(found.state)).gate():
            daemon.start(600.0, 600.0)
            until(lambda: found.is_served)
            with pytest.raises(subprocess.TimeoutExpired):
                daemon.process.wait(1.0)
        daemon.wait_until_served()
        assert daemon.pid == daemon.process.pid
        assert daemon.stop() == ""


def test_who_looks_whether_it_lives_does_not_keep_it_from_beginning(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look takes the lock for a moment, in which the system may keep it from going on for any time."""
    monkeypatch.setattr(daemon_files, "CLAIM_SECONDS", 0.0)
    state = root / ".git/commonhold"
    state.mkdir()
    path = Path(daemon_files.lock_path(str(state)))
    with path.open("w") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        letting_go = threading.Timer(0.1, fcntl.flock, (looking, fcntl.LOCK_UN))
        letting_go.start()
        os.close(daemon_files.claim(str(state)))
        letting_go.join()


def test_whoever_has_the_claim_is_known_from_its_first_moment_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever had it before may have left a longer number."""
    Path(daemon_files.lock_path(str(tmp_path))).write_text("99999999999\n")
    seen: list[int | None] = []
    step = os.ftruncate

    def looked(descriptor: int, length: int) -> None:
        seen.append(daemon_files.pid(str(tmp_path)))
        step(descriptor, length)

    monkeypatch.setattr(os, "ftruncate", looked)
    os.close(daemon_files.claim(str(tmp_path)))
    assert [*seen, daemon_files.pid(str(tmp_path))] == [os.getpid()] * 2


def test_it_ends_when_nobody_needs_it(root: Path) -> None:
    let_go = kept(root)
    with serving(root, idle_seconds=0.1) as daemon:
        let_go()
        assert daemon.said() == ""
        assert daemon.process.returncode == 0
        assert not os.path.lexists(daemon.address)
        assert not daemon.is_served
        with commonhold.open(str(root), agent="ann", daemon=False) as hold:
            assert hold.acquire("account:1").outcome == "granted"


def test_it_does_not_end_while_somebody_holds_or_waits(root: Path) -> None:
    let_go = kept(root)
    with serving(root, idle_seconds=0.1) as daemon, daemon.session("ann") as ann, daemon.session("cid") as cid:
        held = ann.acquire("account:1", ttl_seconds=600.0)
        assert held.lease is not None
        with client(root, "stand", "bob", "account:1", 60) as bob:
            bob.begin()
            until(lambda: len(ann.status().waiters) == 1)
            let_go()
            with pytest.raises(subprocess.TimeoutExpired):
                daemon.process.wait(1.5)
            ann.release(held.lease.id)
            assert bob.hear()["outcome"] == "granted"
            with pytest.raises(subprocess.TimeoutExpired):
                daemon.process.wait(1.5)
            bob.go_on()
            assert bob.hear()["outcome"] == "released"
        assert daemon.said() == ""
        assert cid.leases() == ()


def test_asked_to_end_it_finishes_and_clients_go_on_without_it(root: Path) -> None:
    with serving(root) as daemon, commonhold.open(str(root), agent="ann", daemon=True) as hold:
        first = hold.acquire("account:1")
        assert daemon.stop() == ""
        second = hold.acquire("account:2")
        assert first.lease is not None
        assert second.lease is not None
        assert second.lease.fence > first.lease.fence
        assert len(hold.leases()) == 2


def test_one_that_an_agent_has_started_meanwhile_is_not_the_one_that_was_stopped(
    root: Path, run: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(root) as first:
        ask = beginning.stop

        def followed_by_another(repository: Repository) -> int | None:
            asked = ask(repository)
            assert first.said() == ""
            beginning.start(repository)
            first.wait_until_served()
            return asked

        monkeypatch.setattr(beginning, "stop", followed_by_another)
        assert run("daemon", "stop").text == f"stopped the daemon, process {first.process.pid}\n"
        assert first.is_served


def test_what_it_makes_is_private(root: Path) -> None:
    with serving(root) as daemon, daemon.session() as hold:
        hold.acquire("account:1")
        paths = (daemon.state, daemon.state / "daemon.lock", daemon.address)
        assert [stat.S_IMODE(os.lstat(path).st_mode) for path in paths] == [0o700, 0o600, 0o600]


TURNED_AWAY = """
import os, socket, sys
os.setgid({nobody}); os.setuid({nobody})
with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
    client.connect(sys.argv[1])
    client.settimeout(60)
    print(client.recv(1))
"""


def test_another_user_is_turned_away_though_it_reaches_the_socket() -> None:
    only_root("become another user")
    with TemporaryDirectory() as folder, serving(make_repository(Path(folder, "work"))) as daemon:
        for path in (Path(folder), Path(folder, "work"), Path(folder, "work/.git"), daemon.state, Path(daemon.address)):
            path.chmod(0o777)
        script = TURNED_AWAY.format(nobody=NOBODY)
        found = subprocess.run(
            [sys.executable, "-c", script, daemon.address], check=True, capture_output=True, text=True, timeout=60
        )
        assert found.stdout == "b''\n"
        with daemon.session() as hold:
            assert hold.acquire("account:1").outcome == "granted"


@pytest.mark.parametrize("version", ["0.0.1", "99.0"])
def test_it_makes_room_for_another_version(root: Path, version: str) -> None:
    with serving(root) as daemon, daemon.session() as hold:
        assert hold.acquire("account:1").outcome == "granted"
        with Raw(daemon.address) as raw:
            assert raw.introduce(str(root), "bob", version=version).kind == "error"
        assert daemon.said() == ""
        assert hold.acquire("account:2").outcome == "granted"


def test_the_client_of_another_version_goes_on_by_itself(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(root) as daemon:
        monkeypatch.setattr(commonhold, "__version__", "99.0")
        with daemon.session() as hold:
            assert hold.acquire("account:1").outcome == "granted"
        assert daemon.said() == ""


def test_it_ends_when_its_state_is_deleted(root: Path) -> None:
    with serving(root) as daemon, daemon.session() as hold:
        hold.acquire("account:1")
        until(lambda: is_deleted(daemon.state))
        assert daemon.said() == ""
        assert daemon.process.returncode == 0
    with commonhold.open(str(root), agent="ann", daemon=False) as hold:
        assert hold.acquire("account:1").outcome == "granted"


def is_deleted(folder: Path) -> bool:
    """Delete a folder; whether all of it is gone: who works in it may be taking away the same at the same time."""
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def test_it_ends_when_its_socket_is_deleted(root: Path) -> None:
    """Whoever cleans up /tmp takes the way to the daemon: it must not sit on the state where nobody finds it."""
    with serving(root) as daemon, daemon.session() as hold:
        hold.acquire("account:1", ttl_seconds=600.0)
        Path(daemon.address).unlink()
        with commonhold.open(str(root), agent="bob", daemon=True) as other:
            assert other.acquire("account:2").outcome == "granted"
        assert daemon.said() == ""
        assert len(hold.leases()) == 2


def test_one_that_comes_later_keeps_its_socket(root: Path) -> None:
    """The state was deleted and made again, a new daemon came: the old one ends and takes nothing with it."""
    with serving(root) as first:
        first.suspend()
        shutil.rmtree(first.state)
        with serving(root) as second:
            first.resume()
            assert first.said() == ""
            with second.session() as hold:
                assert hold.acquire("account:1").outcome == "granted"
                assert second.process.poll() is None
                assert os.path.lexists(second.address)


def test_a_repository_at_a_long_path_is_served_too(tmp_path: Path) -> None:
    root = tmp_path / ("long" * 20) / ("path" * 20)
    root.parent.mkdir()
    make_repository(root)
    with serving(root) as daemon, daemon.session() as hold:
        assert len(str(daemon.state)) > 108
        assert daemon.address.startswith("/tmp/commonhold-")  # noqa: S108 - what is tested
        folder = Path(daemon.address).parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(Path(daemon.address).stat().st_mode) == 0o600
        assert hold.acquire("account:1").outcome == "granted"


def test_two_working_trees_share_one_daemon(root: Path, tmp_path: Path) -> None:
    git(root, "worktree", "add", "--quiet", "--detach", str(tmp_path / "second"))
    with serving(root) as daemon, daemon.session("ann") as here:
        with commonhold.open(str(tmp_path / "second"), agent="bob", daemon=True) as there:
            assert here.acquire("a.py#one").outcome == "granted"
            denied = there.acquire("a.py#one")
            assert [conflict.holder for conflict in denied.conflicts] == ["ann"]
            assert there.acquire("a.py#two").outcome == "granted"
            assert there.root == str(tmp_path / "second")
        assert {lease.worktree for lease in here.leases()} == {str(root), str(tmp_path / "second")}


def test_another_repository_is_not_served(root: Path, tmp_path: Path) -> None:
    other = make_repository(tmp_path / "other")
    with serving(root) as daemon:
        for place_, agent in ((str(other), None), ("/nowhere", None), ("a\0b", None), (str(root), "a\nb")):
            with Raw(daemon.address) as raw:
                assert raw.introduce(place_, agent).kind == "error"


def test_settings_that_are_changed_hold_for_the_next_call_of_whoever_is_there(root: Path) -> None:
    settings = root / "commonhold.toml"
    with serving(root) as daemon, daemon.session() as hold:
        assert hold.put("account:1", "1", expected_version=0).outcome == "stored"
        settings.write_text('[policies]\n"account:*" = "pessimistic"\n')
        assert hold.put("account:2", "1", expected_version=0).code == "LEASE_REQUIRED"
        for text, why in (("[policies", "Expected"), ("x = " + "[" * 3_000, "nested too deeply")):
            settings.write_text(text)
            assert hold.put("account:2", "1", expected_version=0).code == "LEASE_REQUIRED", (
                "what cannot be read says nothing"
            )
            (notice,) = hold.acquire("account:3").notices
            assert "commonhold.toml" in notice
            assert why in notice
            assert hold.acquire("account:3").notices == (), "that is told once"
            with pytest.raises(InputError, match=r"commonhold\.toml"):
                daemon.session("newcomer")
        settings.unlink()
        assert hold.put("account:2", "1", expected_version=0).outcome == "stored"


def test_suspended_for_a_while_it_goes_on_where_it_was(root: Path) -> None:
    with serving(root) as daemon, daemon.session() as hold:
        held = hold.acquire("account:1", ttl_seconds=600.0)
        assert held.lease is not None
        daemon.suspend()
        with client(root, "stand", "bob", "account:1", 60) as bob:
            with pytest.raises(subprocess.TimeoutExpired):
                bob.process.wait(2.0)
            daemon.resume()
            bob.begin()
            until(lambda: len(hold.status().waiters) == 1)
            hold.release(held.lease.id)
            assert bob.hear()["outcome"] == "granted"
