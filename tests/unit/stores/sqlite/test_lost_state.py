"""A database that was lost, restored or exchanged between two sessions: recognised, and no fence is given twice."""

import gc
import os
import shutil
from collections.abc import Callable
from contextlib import closing, suppress
from itertools import count
from pathlib import Path

import pytest

from commonhold.diagnostics.finding import Level
from commonhold.diagnostics.state import restored, state
from commonhold.kernel.commands import Acquire, Release
from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.events import LeaseBroken, StateReset
from commonhold.kernel.files import Write
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import Lease
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Granted
from commonhold.leases.registry import TableRegistry
from commonhold.stores.reset_events import ITSELF, Reset, reset_events
from commonhold.stores.sqlite.event_numbering import FENCE_GAP
from commonhold.stores.sqlite.gate import Gate
from commonhold.stores.sqlite.last_event_mark import Mark, SecondMark
from commonhold.stores.sqlite.reset import reset
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.testing import FakeClock
from commonhold.workspace.state_folder import StateFolder, identity_at

pytestmark = pytest.mark.slow

_numbers = count(1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


def acquired(folder: Path, key: str, holder: str = "one") -> Lease:
    with closing(SqliteStore(str(folder))) as store:
        wish = Acquire(f"l{next(_numbers)}", "acq", holder, "", (canonical(key),), Mode.EXCLUSIVE, 60.0)
        outcome = TableRegistry(store, FakeClock()).execute(wish)
    assert isinstance(outcome, Granted)
    return outcome.lease


def released(folder: Path, lease: Lease) -> None:
    with closing(SqliteStore(str(folder))) as store:
        TableRegistry(store, FakeClock()).execute(Release(lease.id, lease.holder))


def refused(act: Callable[[], object]) -> StoreError:
    with pytest.raises(StoreError) as caught:
        act()
    assert caught.value.code is Code.STORE_UNSAFE
    return caught.value


def looked(folder: Path) -> tuple[Lease, ...]:
    with closing(SqliteStore(str(folder))) as store, store.read() as reader:
        return reader.leases()


def was_reset(folder: Path) -> bool:
    return reset(str(folder), lambda session: reset_events(session, "boss"), 7.0)


def test_a_released_lease_does_not_come_back_with_an_older_copy(folder: Path, tmp_path: Path) -> None:
    lease = acquired(folder, "account:1")
    shutil.copy(folder / "state.db", tmp_path / "older.db")
    released(folder, lease)
    newest = acquired(folder, "account:1", "two")
    shutil.copy(tmp_path / "older.db", folder / "state.db")
    for act in (lambda: looked(folder), lambda: acquired(folder, "account:2")):
        assert "doctor --reset-state" in refused(act).hint
    assert was_reset(folder)
    assert looked(folder) == ()
    with closing(SqliteStore(str(folder))) as store, store.read() as reader:
        assert [each.event for each in reader.latest(2)] == [
            StateReset("boss"),
            LeaseBroken("one", lease.id, "boss", "the state had lost events, so nobody can tell who holds this"),
        ]
    assert acquired(folder, "account:1").fence > newest.fence + FENCE_GAP


def test_a_copy_that_went_on_by_itself_is_recognised(folder: Path, tmp_path: Path) -> None:
    """It has as many events, and not the same."""
    lease = acquired(folder, "account:1")
    shutil.copytree(folder, tmp_path / "second")
    acquired(folder, "account:2")
    with closing(SqliteStore(str(tmp_path / "second"))) as store:
        clock = FakeClock()
        clock.advance(5.0)
        TableRegistry(store, clock).execute(Release(lease.id, "one"))
    shutil.copy(tmp_path / "second/state.db", folder / "state.db")
    refused(lambda: looked(folder))


def test_a_database_that_is_gone_is_no_new_one(folder: Path) -> None:
    newest = acquired(folder, "account:1")
    for path in folder.glob("state.db*"):
        path.unlink()
    refused(lambda: looked(folder))
    refused(lambda: acquired(folder, "account:1"))
    assert not list(folder.glob("state.db*"))
    assert was_reset(folder)
    assert acquired(folder, "account:1").fence > newest.fence


def test_a_commit_of_an_older_copy_is_not_taken_back(folder: Path, tmp_path: Path) -> None:
    """The older copy holds it as interrupted, and it has long taken effect."""
    with closing(SqliteStore(str(folder))) as store, store.write() as writer:
        writer.begin("/w", "one", "intent", [Write("a.py", None, "a" * 64, None, 0o644)])
    shutil.copy(folder / "state.db", tmp_path / "older.db")
    acquired(folder, "account:1")
    shutil.copy(tmp_path / "older.db", folder / "state.db")
    assert was_reset(folder)
    with closing(SqliteStore(str(folder))) as store, store.read() as reader:
        assert reader.journals() == ()


def test_a_state_that_is_whole_is_not_reset(folder: Path) -> None:
    assert not was_reset(folder)
    assert not folder.exists()
    lease = acquired(folder, "account:1")
    assert not was_reset(folder)
    assert looked(folder) == (lease,)


def test_the_whole_folder_may_be_copied_or_deleted(folder: Path, tmp_path: Path) -> None:
    """Numbers go on above those of a state that was deleted, also of one that was deleted after that."""
    acquired(folder, "account:1")
    shutil.copytree(folder, tmp_path / "copy")
    assert acquired(tmp_path / "copy", "account:2").fence == 2
    fences = [1]
    for _ in range(2):
        shutil.rmtree(folder)
        assert looked(folder) == ()
        assert not folder.exists()
        fences += [acquired(folder, f"account:{number}").fence for number in range(2)]
    assert fences == sorted(set(fences))
    assert fences[1] > FENCE_GAP
    with closing(SqliteStore(str(folder))) as store, store.read() as reader:
        assert reader.events()[0].event == StateReset(ITSELF)


def in_place(copy: Path, folder: Path) -> None:
    """As a backup is put back over what is there: every file keeps its inode."""
    for path in copy.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    for path in folder.iterdir():
        if not (copy / path.name).exists():
            path.unlink()


def anew(copy: Path, folder: Path) -> None:
    shutil.rmtree(folder)
    shutil.copytree(copy, folder)


@pytest.mark.parametrize("put_back", [anew, in_place])
def test_a_released_lease_does_not_come_back_with_the_whole_folder(
    folder: Path, tmp_path: Path, put_back: Callable[[Path, Path], None]
) -> None:
    lease = acquired(folder, "account:1")
    shutil.copytree(folder, tmp_path / "copy")
    released(folder, lease)
    newest = acquired(folder, "account:1", "two")
    put_back(tmp_path / "copy", folder)
    for act in (lambda: looked(folder), lambda: acquired(folder, "account:2")):
        assert "doctor --reset-state" in refused(act).hint
    assert [each.level for each in state(str(folder)) if each.check == "database"][-1] is Level.FAIL
    assert was_reset(folder)
    assert looked(folder) == ()
    assert acquired(folder, "account:1").fence > newest.fence + FENCE_GAP
    (told,) = [each for each in state(str(folder)) if each.check == "restored"]
    assert "1 lease of one ended" in told.found
    assert told.mend.endswith("commonhold log shows them")


def test_a_restored_state_without_leases_asks_for_nothing() -> None:
    assert [each.level for each in restored(Reset(0.0, 0, ()))] == [Level.OK]
    assert [each.level for each in restored(Reset(0.0, 1, ("ann",)))] == [Level.WARN]
    (of_server,) = restored(Reset(0.0, 0, ()), is_server=True)
    assert "two servers" in of_server.mend


@pytest.mark.parametrize("cut", [Gate, SecondMark])
def test_a_reset_that_was_cut_short_is_done_again(
    folder: Path, tmp_path: Path, cut: type[Gate | SecondMark], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before each mark was written, the one in the gate first."""
    lease = acquired(folder, "account:1")
    shutil.copytree(folder, tmp_path / "copy")
    released(folder, lease)
    anew(tmp_path / "copy", folder)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cut, "write_mark" if cut is Gate else "write", die)
        with pytest.raises(KeyboardInterrupt):
            was_reset(folder)
    refused(lambda: looked(folder))
    assert was_reset(folder)
    assert not was_reset(folder)
    assert looked(folder) == ()


@pytest.mark.parametrize("content", [b"", b"x" * 200])
def test_a_second_mark_that_is_none_says_nothing(folder: Path, content: bytes) -> None:
    acquired(folder, "account:1")
    folder.with_name("state.mark").write_bytes(content)
    assert len(looked(folder)) == 1
    acquired(folder, "account:2")


def test_a_copy_of_a_repository_at_work_is_no_older_state(folder: Path, tmp_path: Path) -> None:
    """The mark beside the folder is copied after it: whoever copies a large repository needs a while for it."""
    acquired(folder, "account:1")
    shutil.copytree(folder, tmp_path / "copied/state")
    acquired(folder, "account:2")
    shutil.copy(folder.with_name("state.mark"), tmp_path / "copied/state.mark")
    copied = tmp_path / "copied/state"
    assert len(looked(copied)) == 1
    lease = acquired(copied, "account:3")
    shutil.copytree(copied, tmp_path / "older")
    released(copied, lease)
    anew(tmp_path / "older", copied)
    assert "doctor --reset-state" in refused(lambda: looked(copied)).hint, "from its first event on the mark is its own"


def test_beside_a_hidden_folder_no_second_mark_is_left(tmp_path: Path) -> None:
    """It would lie among the files of a project."""
    acquired(tmp_path / ".state", "account:1")
    assert [path.name for path in tmp_path.iterdir()] == [".state"]


def test_a_state_of_before_there_were_marks_is_used_and_marked(folder: Path) -> None:
    acquired(folder, "account:1")
    os.truncate(folder / "gate", 0)
    acquired(folder, "account:2")
    (folder / "state.db").unlink()
    refused(lambda: looked(folder))


@pytest.mark.parametrize("content", [b"", b"x", b"x" * 200])
def test_what_is_no_mark_says_nothing(folder: Path, content: bytes) -> None:
    acquired(folder, "account:1")
    (folder / "gate").write_bytes(content)
    assert len(looked(folder)) == 1


def test_a_mark_is_read_as_it_was_written(tmp_path: Path) -> None:
    with (tmp_path / "gate").open("w+b", buffering=0) as file:
        inode = os.fstat(file.fileno()).st_ino
        Mark(7, 1.1, 12).write(file.fileno(), inode)
        assert Mark.read(file.fileno()) == Mark(7, 1.1, 12)
        Mark(8, 1.2, 12).write(file.fileno(), inode + 1)
        assert Mark.read(file.fileno()) == Mark(8, 1.2)


def test_an_open_store_goes_by_its_own_files_long_after_they_were_made(folder: Path) -> None:
    """By then one look at the folder is all that tells."""
    acquired(folder, "account:1")
    with closing(SqliteStore(str(folder))) as store:
        assert len(_leases(store)) == 1
        os.utime(folder, (1.5, 1.5))
        assert len(_leases(store)) == 1
        (folder / "state.db").rename(folder / "away.db")
        refused(lambda: _leases(store))
        (folder / "away.db").rename(folder / "state.db")
        assert len(_leases(store)) == 1


def _leases(store: SqliteStore) -> tuple[Lease, ...]:
    with store.read() as reader:
        return reader.leases()


def test_what_is_written_while_its_file_goes_is_not_acknowledged(folder: Path) -> None:
    acquired(folder, "account:1")
    with closing(SqliteStore(str(folder))) as store:

        def written() -> None:
            with store.write() as writer:
                writer.record([StateReset("one")], 0.0)
                (folder / "state.db").unlink()

        refused(written)


def test_a_folder_is_made_only_where_it_was_to_be_and_only_once(tmp_path: Path) -> None:
    above = tmp_path / ".git"
    above.mkdir()
    found = identity_at(str(above))
    state = StateFolder(str(above / "state"), found)
    above.rename(tmp_path / "away")
    refused(state.make)
    above.mkdir()
    refused(state.make)
    assert not list(above.iterdir())
    above.rmdir()
    (tmp_path / "away").rename(above)
    state.make()
    (above / "state").rmdir()
    refused(state.make)
    (above / "state").mkdir()
    refused(state.use)
    StateFolder(str(above / "state"), found).make()


def test_all_who_use_one_folder_hold_it_open_together(tmp_path: Path) -> None:
    """A daemon has a session for each agent, and agents come and go."""
    path = str(tmp_path / "state")
    first = StateFolder(path)
    first.make()
    places = tmp_path.stat(), (tmp_path / "state").stat()
    before = descriptors(*places)
    others = [StateFolder(path) for _ in range(20)]
    for each in others:
        each.make()
    assert descriptors(*places) == before
    del first, each
    (tmp_path / "state").rename(tmp_path / "away")
    (tmp_path / "state").mkdir()
    for each in others:
        refused(each.use)
    others.clear()
    del each
    assert descriptors(*places) == before - 1


def descriptors(*places: os.stat_result) -> int:
    """How many this process has open that lead to these folders, without those of garbage."""
    gc.collect()
    found = 0
    for each in Path("/dev/fd").iterdir():
        with suppress(OSError):  # it was that of the look itself, or of another thread
            found += any(os.path.samestat(os.fstat(int(each.name)), place) for place in places)
    return found


def test_what_stands_where_the_folder_is_to_be_is_named(tmp_path: Path) -> None:
    state = tmp_path / "state"
    for above in (None, identity_at(str(tmp_path))):
        for is_link in (False, True):
            if is_link:
                state.symlink_to("nowhere")
            else:
                state.touch()
            with pytest.raises(FileExistsError) as caught:
                StateFolder(str(state), above).make()
            assert caught.value.filename == str(state)
            state.unlink()
