"""What the kernel reports of folders: every change that is over is named, or nothing is vouched for."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from commonhold.machine.file_systems import read_mounts
from commonhold.workspace import folder_watch
from commonhold.workspace.folder_watch import Changes, FolderWatch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has inotify")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.py").write_text("a")
    (tmp_path / "sub/b.py").write_text("b")
    return tmp_path


@pytest.fixture
def watch(root: Path) -> Iterator[FolderWatch]:
    made = FolderWatch(str(root))
    assert made.begin(["", "sub"])
    yield made
    made.close()


def test_nothing_is_told_twice(watch: FolderWatch, root: Path) -> None:
    assert watch.changes() == Changes()
    (root / "a.py").write_text("other")
    (root / "sub/b.py").chmod(0o600)
    assert watch.changes() == Changes(frozenset({"a.py", "sub/b.py"}))
    assert watch.changes() == Changes()


def test_names_that_come_and_go_are_told_with_their_folders(watch: FolderWatch, root: Path) -> None:
    (root / "sub/new.py").write_text("")
    (root / "a.py").rename(root / "sub/a.py")
    assert watch.changes() == Changes(frozenset({"a.py", "sub/a.py", "sub/new.py"}), frozenset({"", "sub"}))


@pytest.mark.parametrize("is_there_first", [False, True])
def test_where_something_is_mounted_or_not_any_more_nothing_is_vouched_for(
    watch: FolderWatch, root: Path, monkeypatch: pytest.MonkeyPatch, *, is_there_first: bool
) -> None:
    """The kernel reports nothing of a mount, and what is in the folder is other files then."""
    mounts = read_mounts()
    more = f"{mounts}\n999 1 0:1 / {root}/sub rw - ext4 /dev/x rw\n"
    beside = f"{mounts}\n999 1 0:1 / {root}-beside rw - ext4 /dev/x rw\n"
    tables = [more, mounts] if is_there_first else [beside, more]
    if is_there_first:
        watch.close()
        monkeypatch.setattr(folder_watch, "read_mounts", lambda: tables[0])
        assert watch.begin(["", "sub"])
    monkeypatch.setattr(folder_watch, "read_mounts", lambda: tables[0])
    assert watch.changes() == Changes()
    monkeypatch.setattr(folder_watch, "read_mounts", lambda: tables[1])
    assert watch.changes() is None


def delete(folder: Path) -> None:
    (folder / "b.py").unlink()
    folder.rmdir()


def move(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


@pytest.mark.parametrize("lose", [delete, move])
def test_a_folder_that_is_gone_is_told_and_one_of_its_name_is_another(
    watch: FolderWatch, root: Path, lose: Callable[[Path], None]
) -> None:
    lose(root / "sub")
    (root / "sub").mkdir()
    told = watch.changes()
    assert told
    assert told.gone == {"sub"}
    assert told.folders >= {""}
    (root / "sub/new.py").write_text("not watched yet")
    for folder in root.glob("elsewhere"):
        (folder / "c.py").write_text("watched no more")
    assert watch.changes() == Changes()
    assert watch.begin(["", "sub"])
    (root / "sub/c.py").write_text("")
    assert watch.changes() == Changes(frozenset({"sub/c.py"}), frozenset({"sub"}))


def test_a_folder_that_is_moved_takes_those_in_it_along(root: Path) -> None:
    (root / "sub/deep").mkdir()
    (root / "subway").mkdir()
    watch = FolderWatch(str(root))
    assert watch.begin(["", "sub", "sub/deep", "subway"])
    (root / "sub").rename(root / "other")
    (root / "other/deep/x").write_text("no matter of a folder that is watched")
    (root / "subway/x").write_text("still watched")
    told = watch.changes()
    assert told
    assert told.gone == {"sub"}
    assert told.files == {"sub", "other", "subway/x"}
    watch.close()


@pytest.mark.parametrize("lose", [shutil.rmtree, move])
def test_where_the_root_is_lost_nothing_is_vouched_for_until_it_begins_anew(
    watch: FolderWatch, root: Path, lose: Callable[[Path], None]
) -> None:
    lose(root)
    assert watch.changes() is None
    assert watch.changes() is None
    root.mkdir()
    assert watch.begin([""])
    (root / "a.py").touch()
    assert watch.changes() == Changes(frozenset({"a.py"}), frozenset({""}))


def test_where_a_folder_may_be_read_by_others_all_is_looked_at(watch: FolderWatch, root: Path) -> None:
    (root / "sub").chmod(0o700)
    assert watch.changes() is None
    assert watch.changes() == Changes()


def test_where_the_queue_was_too_short_nothing_is_vouched_for(watch: FolderWatch, root: Path) -> None:
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    for number in range(most // 2 + 1):  # two that follow each other and are the same are one
        os.utime(root / "a.py", ns=(number, number))
        os.utime(root / "sub/b.py", ns=(number, number))
    assert watch.changes() is None


def test_more_folders_are_added_and_fewer_begin_anew(watch: FolderWatch, root: Path) -> None:
    (root / "more").mkdir()
    assert watch.changes()
    assert watch.begin(["", "sub", "more"])
    (root / "more/c.py").write_text("")
    assert watch.changes() == Changes(frozenset({"more/c.py"}), frozenset({"more"}))
    assert watch.begin(["more"])
    (root / "a.py").write_text("other")
    assert watch.changes() == Changes()


def test_a_folder_that_is_not_there_is_tried_again_and_a_link_is_no_folder(root: Path) -> None:
    (root / "link").symlink_to("sub")
    watch = FolderWatch(str(root))
    assert not watch.begin(["", "gone"])
    assert not watch.begin(["", "link"])
    assert watch.changes() is None
    assert watch.begin(["", "sub"])
    watch.close()
    watch.close()


def test_what_other_machines_can_change_is_not_watched(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("nfs4", "fuse.sshfs", "fuse.bindfs", None):
        monkeypatch.setattr(folder_watch, "kind_of", lambda *_, kind=kind: kind)
        assert not FolderWatch(str(root)).begin([""])


def test_a_forked_child_leaves_the_queue_to_its_parent(
    watch: FolderWatch, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.py").write_text("other")
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: -1)
        assert watch.changes() is None
    assert watch.changes() == Changes(frozenset({"a.py"}))


def test_no_descriptor_is_left_behind(root: Path) -> None:
    watch = FolderWatch(str(root))
    before = queue_count()
    for _ in range(3):
        assert not watch.begin(["", "gone"])
        assert watch.begin([""])
        watch.close()
        assert queue_count() == before


def queue_count() -> int:
    """How many of the kernel's queues this process has open. Other descriptors close whenever garbage is collected."""
    return sum(os.path.realpath(each).endswith("anon_inode:inotify") for each in Path("/proc/self/fd").iterdir())
