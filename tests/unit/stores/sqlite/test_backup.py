"""A backup is a complete copy of one moment; after a restore fences go on above all that were given."""

import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import apsw
import pytest

from commonhold.kernel.clock import Deadline
from commonhold.kernel.errors import Code, CommonholdError, StoreError
from commonhold.kernel.events import LeaseGranted, StateReset
from commonhold.kernel.lease import Lease
from commonhold.kernel.modes import Mode
from commonhold.stores.reset_events import reset_events
from commonhold.stores.sqlite import backup as module
from commonhold.stores.sqlite.backup import back_up, restore
from commonhold.stores.sqlite.session import SqliteSession
from commonhold.stores.sqlite.store import SqliteStore

pytestmark = pytest.mark.slow

UNTIL = Deadline("boot", 9e9, 9e9)
ENDED = partial(reset_events, by="ann")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def backup(tmp_path: Path) -> str:
    return str(tmp_path / "shop.backup")


@pytest.fixture
def store(folder: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(str(folder))
    yield store
    store.close()


def grant(store: SqliteStore, *keys: str) -> None:
    """Grant a lease on each key, whose fence is the number of its event."""
    for key in keys:
        with store.write() as writer:
            fence = writer.next_sequence
            lease = Lease(f"lease-{fence}", fence, "ann", "", (key,), Mode.EXCLUSIVE, "", 1.0, UNTIL)
            writer.record([LeaseGranted(lease)], 5.0)


def held(folder: Path) -> tuple[int, list[str]]:
    """The number of the newest event, and the keys under lease."""
    store = SqliteStore(str(folder))
    with store.read() as reader:
        found = reader.latest(1)[-1].sequence, [key for lease in reader.leases() for key in lease.keys]
    store.close()
    return found


def restored(folder: Path, backup: str, kept: str = ".before-1") -> None:
    restore(str(folder), backup, ENDED, 9.0, kept)


def test_a_backup_is_private_complete_and_made_while_others_write(
    store: SqliteStore, folder: Path, backup: str
) -> None:
    grant(store, "x:1")
    with store.write() as writer:
        writer.keep([("0" * 64, b"bytes")], 1.0)
        made = back_up(str(folder), backup)  # the transaction has not ended: its bytes are not in the copy
    grant(store, "x:2")

    assert (made.newest, made.size) == (1, Path(backup).stat().st_size)
    assert stat.S_IMODE(Path(backup).stat().st_mode) == 0o600
    connection = apsw.Connection(backup, flags=apsw.SQLITE_OPEN_READONLY)
    assert connection.execute("SELECT count(*) FROM events").fetchall() == [(1,)]
    assert connection.execute("SELECT count(*) FROM contents").fetchall() == [(0,)]
    connection.close()
    assert sorted(each.name for each in Path(backup).parent.iterdir() if "backup" in each.name) == ["shop.backup"]


def test_after_a_restore_all_leases_are_ended_and_fences_go_on_above_all(
    store: SqliteStore, folder: Path, backup: str
) -> None:
    grant(store, "x:1")
    back_up(str(folder), backup)
    grant(store, "x:2", "x:3")
    store.close()
    answer = restore(str(folder), backup, ENDED, 9.0, ".before-1")

    newest, keys = held(folder)
    assert (answer.backup, answer.newest, keys) == (1, newest, [])
    assert newest < 100, "the replaced state had all numbers that were given, so none is skipped"
    after = SqliteStore(str(folder))
    grant(after, "x:4")
    with after.read() as reader:
        assert reader.latest(1)[-1].sequence == newest + 1
        assert StateReset("ann") in [each.event for each in reader.latest(10)]
    after.close()
    old = apsw.Connection(answer.kept, flags=apsw.SQLITE_OPEN_READONLY)
    assert old.execute("SELECT max(seq) FROM events").fetchall() == [(3,)]
    old.close()


def test_a_backup_begins_a_lost_state_again_elsewhere(
    store: SqliteStore, folder: Path, backup: str, tmp_path: Path
) -> None:
    grant(store, "x:1", "x:2")
    back_up(str(folder), backup)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    answer = restore(str(elsewhere), backup, ENDED, 9.0, ".before-1")

    assert answer.kept == ""
    newest, keys = held(elsewhere)
    assert (newest > 1_000_000, keys) == (True, [])


def test_a_session_that_is_open_during_a_restore_is_refused(store: SqliteStore, folder: Path, backup: str) -> None:
    grant(store, "x:1")
    back_up(str(folder), backup)
    restored(folder, backup)
    first, _ = held(folder)
    with pytest.raises(CommonholdError) as fault:
        grant(store, "x:2")
    assert fault.value.code is Code.STORE_UNSAFE
    restored(folder, backup, ".before-2")
    assert held(folder)[0] > first


def test_a_file_that_is_no_backup_changes_nothing(
    store: SqliteStore, folder: Path, backup: str, tmp_path: Path
) -> None:
    grant(store, "x:1")
    back_up(str(folder), backup)
    damaged = bytearray(Path(backup).read_bytes())
    damaged[4096:] = bytes(len(damaged) - 4096)
    other = apsw.Connection(str(tmp_path / "other"))
    other.execute("CREATE TABLE a (b)")
    other.close()
    for name, content in (("empty", b""), ("text", b"no database" * 500), ("damaged", bytes(damaged))):
        (tmp_path / name).write_bytes(content)
    for name, code in (
        *((each, Code.STORE_CORRUPT) for each in ("empty", "text", "damaged", "other")),
        ("missing", Code.FILE_NOT_FOUND),
        ("state", Code.NOT_A_FILE),
    ):
        with pytest.raises(CommonholdError) as fault:
            restored(folder, str(tmp_path / name))
        assert fault.value.code is code, name
        assert "aside" not in fault.value.hint, "the state itself is not at fault"
    grant(store, "x:2")
    assert held(folder) == (2, ["x:1", "x:2"])
    assert not [each.name for each in folder.iterdir() if "before" in each.name or "restoring" in each.name]


def test_no_backup_replaces_a_file_and_none_is_made_of_nothing(store: SqliteStore, folder: Path, backup: str) -> None:
    with pytest.raises(CommonholdError) as fault:
        back_up(str(folder), backup)
    assert fault.value.code is Code.FILE_NOT_FOUND
    grant(store, "x:1")
    back_up(str(folder), backup)
    before = Path(backup).read_bytes()
    for path, code in (
        (backup, Code.FILE_EXISTS),
        (str(folder), Code.NOT_A_FILE),
        (f"{folder}/none/x", Code.FILE_NOT_FOUND),
    ):
        with pytest.raises(CommonholdError) as fault:
            back_up(str(folder), path)
        assert fault.value.code is code
    assert Path(backup).read_bytes() == before


def test_a_state_that_cannot_be_opened_is_no_defect_of_ours(
    folder: Path, backup: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def on_a_full_disk(_: str) -> None:
        raise apsw.IOError("disk I/O error")

    monkeypatch.setattr(module, "opened_whole", on_a_full_disk)
    with pytest.raises(StoreError) as fault:
        back_up(str(folder), backup)
    assert fault.value.code is Code.IO_FAILED


def test_a_restore_that_cannot_record_the_reset_leaves_the_state_refused(
    store: SqliteStore, folder: Path, backup: str
) -> None:
    grant(store, "x:1")
    back_up(str(folder), backup)
    grant(store, "x:2")
    store.close()

    def killed(_: SqliteSession) -> Iterator[StateReset]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        restore(str(folder), backup, killed, 9.0, ".before-1")
    with pytest.raises(CommonholdError) as fault:
        held(folder)
    assert fault.value.code is Code.STORE_UNSAFE
    restored(folder, backup, ".before-2")
    assert held(folder)[1] == []


def test_fences_skip_a_million_where_the_replaced_state_lacks_events(
    store: SqliteStore, folder: Path, backup: str
) -> None:
    grant(store, "x:1")
    back_up(str(folder), backup)
    grant(store, "x:2", "x:3")
    store.close()
    for path in folder.glob("state.db*"):
        path.unlink()
    (folder / "state.db").write_bytes(Path(backup).read_bytes())
    restored(folder, backup)
    assert held(folder)[0] > 3 + 1_000_000
