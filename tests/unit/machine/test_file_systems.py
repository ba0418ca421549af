"""The ground under a state folder: what several machines share is refused, with the reason, before anything is made."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.cli_driver import mounted as hidden_under_tmpfs
from tests.unit.workspace.user_space_disk import mounted

from commonhold.diagnostics import mounts
from commonhold.kernel.errors import Code, StoreError
from commonhold.machine import file_systems
from commonhold.machine.file_systems import check_ground, device_of, kind_of, read_mounts, unsafe
from commonhold.stores.sqlite.connect import connect
from commonhold.stores.sqlite.store import SqliteStore

pytestmark = pytest.mark.slow

SHARED = ("nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "ceph", "lustre", "fuse.glusterfs", "afs", "virtiofs")
LOCAL = ("overlay", "tmpfs", "ext4", "xfs", "btrfs", "zfs", "apfs", "fuseblk", "fuse.gocryptfs", "fuse.unheard-of")

LINUX = """\
21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
22 21 0:30 / /data rw,relatime shared:2 master:1 - nfs4 server:/data rw,vers=4.2
23 22 8:2 / /data/ann/my\\040disk rw - xfs /dev/sdb rw
24 21 8:3 / /odd\\134040\\043 rw - btrfs /dev/sdc rw
25 21 0:31 / /twice rw - tmpfs tmpfs rw
26 21 0:32 / /twice rw - cifs //server/twice rw
27 21 0:33 / /over/hidden rw - nfs server:/hidden rw
28 21 0:34 / /over rw - overlay overlay rw
what is this
"""
DARWIN = """\
/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
devfs on /dev (devfs, local, nobrowse)
map auto_home on /System/Volumes/Data/home (autofs, automounted, nobrowse)
//ann@server/share on /Volumes/share (2) (smbfs, nodev, nosuid, mounted by ann)
ann@server:/srv on /Volumes/Home/srv (macfuse, nodev, nosuid, synchronous, mounted by ann)
vault on /Volumes/Home/vault (macfuse, local, nodev, nosuid, mounted by ann)
"""


@pytest.mark.parametrize(
    ("folder", "device", "kind"),
    [
        ("/srv", "", "ext4"),
        ("/data", "", "nfs4"),
        ("/data/ann/project", "", "nfs4"),
        ("/data/ann/my disk/project", "", "xfs"),
        ("/datas", "", "ext4"),
        ("/odd\\040#/x", "", "btrfs"),
        ("/twice/x", "", "cifs"),
        ("/twice/x", "0:31", "tmpfs"),
        ("/over/hidden/x", "", "nfs"),
        ("/over/hidden/x", "0:34", "overlay"),
        ("/over/hidden/x", "0:99", "nfs"),
    ],
)
def test_the_nearest_mount_decides_and_the_device_before_it(folder: str, device: str, kind: str) -> None:
    assert kind_of(folder, LINUX, device) == kind


@pytest.mark.parametrize(
    ("folder", "kind", "is_safe"),
    [
        ("/Volumes/Home/project", "apfs", True),
        ("/Volumes/share (2)/project", "smbfs", False),
        ("/Volumes/Home/srv/project", "remote macfuse", False),
        ("/Volumes/Home/vault/project", "macfuse", True),
    ],
)
def test_the_table_of_macos(folder: str, kind: str, *, is_safe: bool) -> None:
    assert kind_of(folder, DARWIN) == kind
    assert (unsafe(kind) == "") is is_safe


def test_a_table_that_does_not_tell() -> None:
    assert kind_of("/", "") is None
    assert kind_of("/srv", "21 1 8:1 / /data rw - ext4 /dev/sda1 rw") is None
    assert unsafe(None) == ""


def test_the_table_of_this_system() -> None:
    assert kind_of("/", read_mounts(), device_of("/"))


def test_a_system_without_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_systems, "_LINUX", Path("/nonexistent"))
    monkeypatch.setattr(file_systems, "_DARWIN", "/nonexistent")
    assert read_mounts() == ""
    monkeypatch.setattr(sys, "platform", "darwin")
    assert read_mounts() == ""
    monkeypatch.setattr(file_systems, "_DARWIN", "/usr/bin/false")
    assert read_mounts() == ""


def test_macos_is_asked_with_mount(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(file_systems, "_DARWIN", "/bin/pwd")
    assert read_mounts().strip() == os.path.realpath(".")


def test_the_device_of_a_folder_to_be_is_that_of_the_one_above(tmp_path: Path) -> None:
    assert device_of(str(tmp_path / "not" / "there")) == device_of(str(tmp_path)) != ""


def test_a_device_that_cannot_be_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonhold.machine.file_systems.os.stat", lambda _: Path(tmp_path).readlink())
    assert device_of(str(tmp_path)) == ""


# The refusal.


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One file system for everything: its kind; it grows by a word at each look."""
    looks = ["ext4"]

    def look() -> str:
        looks.append("looked")
        return f"21 1 8:1 / / rw - {looks[0]} x rw\n"

    monkeypatch.setattr(file_systems, "read_mounts", look)
    monkeypatch.setattr(mounts, "_read_mounts", look)
    return looks


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(str(tmp_path / "state"))
    yield store
    store.close()


def refusal(store: SqliteStore) -> StoreError:
    with pytest.raises(StoreError) as caught, store.write():
        pass
    assert caught.value.code is Code.STORE_UNSAFE
    return caught.value


@pytest.mark.parametrize("kind", SHARED)
def test_no_state_is_made_on_what_machines_share(store: SqliteStore, table: list[str], kind: str) -> None:
    table[0] = kind
    fault = refusal(store)
    assert kind in fault.message
    assert all(word in fault.hint for word in ("local disk", "postgresql://", "redis://"))
    assert fault.fields == {"folder": str(Path(store.path).parent), "type": kind}
    assert not os.path.lexists(store.path)


@pytest.mark.parametrize("kind", LOCAL)
def test_a_state_is_made_on_a_disk_of_this_machine(store: SqliteStore, table: list[str], kind: str) -> None:
    table[0] = kind
    with store.write() as writer:
        assert writer.next_sequence == 1


def test_a_state_that_is_there_already_is_refused_too(store: SqliteStore, table: list[str]) -> None:
    with store.write():
        pass
    store.close()
    check_ground.cache_clear()
    table[0] = "nfs4"
    refusal(store)
    with pytest.raises(StoreError) as caught, store.read():
        pass
    assert caught.value.code is Code.STORE_UNSAFE


@pytest.mark.parametrize("kind", [*SHARED, *LOCAL])
def test_doctor_says_what_the_store_does(tmp_path: Path, table: list[str], kind: str) -> None:
    table[0] = kind
    is_refused = mounts.file_system(str(tmp_path)).level == "fail"
    assert is_refused is (kind in SHARED)
    if is_refused:
        with pytest.raises(StoreError):
            check_ground(str(tmp_path))
    else:
        check_ground(str(tmp_path))


def test_the_table_is_read_once_a_folder(tmp_path: Path, table: list[str]) -> None:
    for name in ("one", "one", "two", "one"):
        connect(str(tmp_path / f"{name}.db")).close()
    assert table.count("looked") == 1


def test_memory_has_no_ground(table: list[str]) -> None:
    table[0] = "nfs"
    connect(":memory:").close()


# Real ground.


@pytest.mark.parametrize("kind", ["fuse.sshfs", "fuse.rclone"])
def test_a_real_mount_that_is_called_remote(tmp_path: Path, kind: str) -> None:
    with mounted(tmp_path / "far", kind) as folder:
        assert kind_of(str(folder), read_mounts(), device_of(str(folder))) == kind
        with pytest.raises(StoreError) as caught:
            connect(str(folder / "state.db"))
    assert caught.value.code is Code.STORE_UNSAFE
    assert kind in caught.value.message


def test_a_real_mount_in_user_space_that_nobody_calls_remote(tmp_path: Path) -> None:
    with mounted(tmp_path / "near", "fuse.unheard-of") as folder:
        check_ground(str(folder))
        assert mounts.file_system(str(folder)).level == "warn"


def test_a_real_mount_that_lies_hidden_under_another(tmp_path: Path) -> None:
    with mounted(tmp_path / "top", "fuse.sshfs") as below, hidden_under_tmpfs(tmp_path):
        below.mkdir()
        assert kind_of(str(below), read_mounts(), device_of(str(below))) == "tmpfs"
        connect(str(below / "state.db")).close()
