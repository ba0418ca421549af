"""The store on bad ground: damage, strangers, versions, forks, threads, failures in the middle."""

import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path

import apsw
import pytest
from tests.effort import is_stress
from tests.patience import PATIENCE_SECONDS

from commonhold.kernel.answers import LeaseAnswer
from commonhold.kernel.clock import Deadline, Now
from commonhold.kernel.commands import Heartbeat
from commonhold.kernel.entry import Entry, EntryRecord, EntryState, Landings
from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.events import CommitRefused, Committed, Event, LeaseGranted
from commonhold.kernel.files import Write
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import Lease
from commonhold.kernel.lease_ports import StoredAnswer
from commonhold.kernel.modes import Mode
from commonhold.kernel.read_set import Sighting
from commonhold.kernel.refusals import Refusal
from commonhold.stores import codec
from commonhold.stores.sqlite import connect
from commonhold.stores.sqlite.connect import APPLICATION_ID, MIGRATIONS, start_afresh
from commonhold.stores.sqlite.faults import translate
from commonhold.stores.sqlite.mirror import MirroredStore
from commonhold.stores.sqlite.reader import SQL
from commonhold.stores.sqlite.statements import load
from commonhold.stores.sqlite.store import SqliteStore

pytestmark = pytest.mark.slow

NOBODY = 65534
Forked = Callable[[Callable[[], bool]], bool]
MORE = "CREATE TABLE more (x); INSERT INTO more SELECT count(*) FROM events;"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def store(folder: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(str(folder))
    yield store
    store.close()


def note(holder: str) -> Event:
    return CommitRefused(holder, "", Refusal.PARSE_INVALID, (), "")


def add(store: SqliteStore, holder: str) -> None:
    with store.write() as writer:
        writer.record([note(holder)], 0.0)


def holders(store: SqliteStore) -> list[str]:
    with store.read() as reader:
        return [getattr(each.event, "holder", "") for each in reader.events()]


def refused(store: SqliteStore) -> Code:
    with pytest.raises(StoreError) as caught:
        holders(store)
    assert caught.value.hint
    return caught.value.code


def lease(fence: int, *keys: str, ends: float = 60.0, boot: str = "boot-1") -> Lease:
    return Lease(f"l{fence}", fence, "one", "", keys, Mode.SHARED, "acq", 0.0, Deadline(boot, ends, ends))


def test_it_is_made_on_first_use_and_seen_by_all(store: SqliteStore, folder: Path) -> None:
    assert not folder.exists()
    add(store, "one")
    assert holders(store) == holders(SqliteStore(str(folder))) == ["one"]
    assert Path(store.path) == folder / "state.db"


def test_it_survives_closing(store: SqliteStore) -> None:
    add(store, "one")
    store.close()
    store.close()
    add(store, "two")
    assert holders(store) == ["one", "two"]


def test_an_exception_takes_the_transaction_back(store: SqliteStore) -> None:
    def fail_after_one() -> Iterator[Event]:
        yield note("two")
        raise ZeroDivisionError

    add(store, "one")
    with pytest.raises(ZeroDivisionError), store.write() as writer:
        writer.record(fail_after_one(), 0.0)
    add(store, "three")
    assert holders(store) == ["one", "three"]


def test_an_exception_frees_the_gate(store: SqliteStore, folder: Path) -> None:
    with pytest.raises(ZeroDivisionError), store.write(), store.gate():
        raise ZeroDivisionError
    add(SqliteStore(str(folder)), "other")


def test_a_damaged_database_is_never_taken_for_an_empty_one(store: SqliteStore, folder: Path) -> None:
    add(store, "one")
    store.close()
    path = folder / "state.db"
    path.write_bytes(b"\0" * 100 + path.read_bytes()[100:])
    assert refused(SqliteStore(str(folder))) is Code.STORE_CORRUPT


def test_damage_in_the_middle_is_told(store: SqliteStore, folder: Path) -> None:
    for _ in range(50):
        add(store, "x" * 2000)
    store.close()
    path = folder / "state.db"
    data = bytearray(path.read_bytes())
    data[8192:] = b"\xff" * (len(data) - 8192)
    path.write_bytes(data)
    assert refused(SqliteStore(str(folder))) is Code.STORE_CORRUPT


@pytest.mark.parametrize(("old", "new"), [("ann", b"\xf5nn"), ('{"', b"{{"), ("commit_refused", b"commit_refuses")])
def test_a_damaged_byte_inside_a_text_is_told(old: str, new: bytes, store: SqliteStore, folder: Path) -> None:
    add(store, "ann")
    store.close()
    path = folder / "state.db"
    path.write_bytes(path.read_bytes().replace(old.encode(), new))
    with pytest.raises(StoreError) as caught, SqliteStore(str(folder)).read() as reader:
        reader.events()
    assert caught.value.code is Code.STORE_CORRUPT
    assert caught.value.hint == start_afresh(str(folder))


def test_a_file_that_is_no_database_is_told(store: SqliteStore, folder: Path) -> None:
    folder.mkdir()
    folder.joinpath("state.db").write_text("hello " * 1000)
    assert refused(store) is Code.STORE_CORRUPT
    assert folder.joinpath("state.db").read_text().startswith("hello")


@pytest.mark.parametrize("script", ["CREATE TABLE theirs (x)", "PRAGMA application_id = 7", "PRAGMA user_version = 1"])
def test_a_database_of_another_program_is_left_alone(store: SqliteStore, folder: Path, script: str) -> None:
    folder.mkdir()
    with sqlite3.connect(folder / "state.db") as connection:
        connection.execute("VACUUM")
        connection.execute(script)
    connection.close()
    before = folder.joinpath("state.db").read_bytes()
    assert refused(store) is Code.STORE_CORRUPT
    assert folder.joinpath("state.db").read_bytes() == before


def test_an_empty_file_becomes_a_store(store: SqliteStore, folder: Path) -> None:
    folder.mkdir()
    folder.joinpath("state.db").touch()
    add(store, "one")
    assert holders(store) == ["one"]


def test_a_store_that_another_process_is_making_is_no_foreign_one(store: SqliteStore, folder: Path) -> None:
    """The other makes it between the reads that tell whose it is."""
    making = threading.Thread(target=add, args=(SqliteStore(str(folder)), "one"))

    def trace(_: object, statement: str, __: object) -> bool:
        if "FROM sqlite_schema" in statement and making.ident is None:
            making.start()
            making.join(0.5)
        return True

    folder.mkdir()
    folder.joinpath("state.db").touch()
    apsw.connection_hooks.append(lambda connection: connection.set_exec_trace(trace))
    try:
        holders(store)
        making.join()
    finally:
        apsw.connection_hooks.pop()
    assert holders(store) == ["one"]


def test_a_newer_schema_is_refused(store: SqliteStore, folder: Path) -> None:
    newer = SqliteStore(str(folder), migrations=(*MIGRATIONS, MORE))
    add(newer, "one")
    newer.close()
    assert refused(store) is Code.STORE_NEWER
    assert holders(SqliteStore(str(folder), migrations=(*MIGRATIONS, MORE))) == ["one"]


def test_an_older_schema_is_brought_up_and_keeps_its_data(store: SqliteStore, folder: Path) -> None:
    add(store, "one")
    store.close()
    newer = SqliteStore(str(folder), migrations=(*MIGRATIONS, MORE))
    assert holders(newer) == ["one"]
    with newer.read() as reader:
        assert reader._connection.execute("SELECT x FROM more").fetchall() == [(1,)]
        assert reader._connection.pragma("user_version") == len(MIGRATIONS) + 1


def test_leases_of_the_first_schema_are_kept(folder: Path) -> None:
    folder.mkdir()
    old = connect.connect(str(folder / "state.db"), migrations=MIGRATIONS[:1])
    row = (7, "l7", "one", "mend f", '["file:src/a.py#f"]', "exclusive", "acq", 1, "b", 9, 10)
    old.execute("INSERT INTO leases VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    old.execute("INSERT INTO lease_keys VALUES ('file\x1fsrc\x1fa.py', 7)")
    old.close()
    with SqliteStore(str(folder)).read() as reader:
        (found,) = reader.overlapping([canonical("file:src/a.py#f")])
    expected = Lease(
        "l7", 7, "one", "mend f", ("file:src/a.py#f",), Mode.EXCLUSIVE, "acq", 1.0, Deadline("b", 9.0, 10.0)
    )
    assert found == expected


def test_a_state_from_before_read_sets_gets_them_and_keeps_its_log(folder: Path) -> None:
    old = SqliteStore(str(folder), migrations=MIGRATIONS[:2])
    body = b'{"holder":"one","intent":"i","worktree":"/w","leases":[],"files":[],"regions":[]}'
    with old.write() as writer:
        row = (1, 0.0, "committed", "one", body.decode())
        writer._execute("INSERT INTO events (seq, at, kind, holder, body) VALUES (?, ?, ?, ?, ?)", row)
        writer.keep([("aa11", b"old")], 1.0)
    old.close()
    seen = Sighting("file:a.py", "h", 1)
    with SqliteStore(str(folder)).write() as writer:
        writer.see("two", "/w", [seen], 2.0)
    with SqliteStore(str(folder)).read() as reader:
        assert [each.event for each in reader.events()] == [Committed("one", "i", "/w", (), (), ())]
        assert [each.hash for each in reader.links()] == [None]
        assert reader.sightings("two", "/w", ["file:a.py"]) == (seen,)
        assert (reader.content("aa11"), reader.overtaken("two", "/w")) == (b"old", ())


def test_entries_of_an_older_state_get_their_branch_and_landing(folder: Path) -> None:
    old = SqliteStore(
        str(folder),
        migrations=MIGRATIONS[: next(at for at, each in enumerate(MIGRATIONS) if "ADD COLUMN landed_at" in each)],
    )
    landed = EntryRecord(Entry("e1", "a", "c1", "refs/heads/main"), 1, 3, "one", 1.0, 7.5, EntryState.LANDED)
    queued = EntryRecord(Entry("e2", "b", "c2", "refs/heads/main"), 2, 2, "one", 1.0, 1.0)
    with old.write() as writer:
        for each in (landed, queued):
            row = (each.id, each.number, int(each.is_final), each.entry.commit, codec.encode(each).decode())
            writer._execute("INSERT INTO entries (id, number, is_final, revision, body) VALUES (?, ?, ?, ?, ?)", row)
    old.close()
    with SqliteStore(str(folder)).read() as reader:
        assert reader.entries("refs/heads/main") == (landed, queued)
        assert reader.landings() == (Landings("refs/heads/main", 1, 7.5),)


def test_the_entries_that_wait_are_found_without_a_walk_through_all(store: SqliteStore) -> None:
    with store.read() as reader:
        plan = reader._connection.execute(f"EXPLAIN QUERY PLAN {SQL['entries_in_question']}", ("[]", "[]")).fetchall()
    steps = [str(row[3]) for row in plan if "entries" in str(row[3])]
    assert len(steps) == 3
    assert [each for each in steps if each.startswith("SCAN") and "entries_waiting" not in each] == []


def test_a_migration_that_fails_changes_nothing(store: SqliteStore, folder: Path) -> None:
    add(store, "one")
    store.close()
    broken = SqliteStore(str(folder), migrations=(*MIGRATIONS, "CREATE TABLE more (x); SELECT nonsense FROM nowhere;"))
    assert refused(broken) is Code.IO_FAILED
    assert holders(store) == ["one"]


def test_an_unsafe_sqlite_is_refused(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonhold.stores.sqlite.connect.sqlite_version", lambda: (3, 51, 2))
    with pytest.raises(StoreError, match=r"SQLite 3\.51\.2 .* WAL-reset bug") as caught:
        add(store, "one")
    assert caught.value.code is Code.STORE_UNSAFE
    assert "3.51.3 or later" in caught.value.hint


def test_looking_makes_no_state(store: SqliteStore, folder: Path) -> None:
    with store.read() as reader:
        assert (reader.leases(), reader.next_sequence, reader.latest(1)) == ((), 1, ())
    assert not folder.exists()


def test_power_loss_is_provided_for(store: SqliteStore) -> None:
    add(store, "one")
    with store.read() as reader:
        pragmas = {name: reader._connection.pragma(name) for name in ("journal_mode", "synchronous", "foreign_keys")}
        assert reader._connection.pragma("application_id") == APPLICATION_ID
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


def test_a_folder_that_cannot_be_made_is_told(folder: Path) -> None:
    folder.write_text("a file stands here")
    assert refused(SqliteStore(str(folder))) is Code.STORE_READ_ONLY
    assert refused(SqliteStore(str(folder / "deeper"))) is Code.STORE_READ_ONLY


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
def test_a_state_of_another_user_is_read_only(store: SqliteStore, folder: Path, forked: Forked) -> None:
    add(store, "one")
    _let_everybody_in(folder)

    def as_nobody() -> bool:
        os.setuid(NOBODY)
        return refused(store) is Code.STORE_READ_ONLY

    assert forked(as_nobody)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
def test_a_state_that_cannot_be_seen_any_more_is_not_told_to_be_gone(
    store: SqliteStore, folder: Path, forked: Forked
) -> None:
    add(store, "one")
    _let_everybody_in(folder)
    folder.parent.chmod(0o700)

    def as_nobody() -> bool:
        os.setuid(NOBODY)
        return refused(store) is Code.STORE_READ_ONLY

    assert forked(as_nobody)


def _let_everybody_in(folder: Path) -> None:
    """Into the folders that pytest makes, however many there are: it keeps others out of them."""
    for place in (folder, *folder.parents):
        if place.stat().st_uid == os.geteuid() and place.is_relative_to(tempfile.gettempdir()):
            place.chmod(place.stat().st_mode | 0o055)


# Fork: SQLite's locks belong to a process, and the memory of them is copied. Nothing may rely on the copy.


def test_parent_and_child_go_on_side_by_side(store: SqliteStore, forked: Forked) -> None:
    add(store, "parent")

    def child() -> bool:
        add(store, "child")
        return holders(store) == ["parent", "child"]

    assert forked(child)
    add(store, "parent")
    assert holders(store) == ["parent", "child", "parent"]


def test_a_child_loses_nothing_when_all_others_have_closed(store: SqliteStore, folder: Path, forked: Forked) -> None:
    """The last one out deletes the write-ahead log: it must know that the child is still there."""
    add(store, "parent")

    def child() -> bool:
        add(store, "child")
        run_alone(folder, "other")
        run_alone(folder, "another")
        add(store, "child again")
        return holders(store) == ["parent", "child", "other", "another", "child again"]

    assert forked(child)
    assert holders(store) == ["parent", "child", "other", "another", "child again"]


ADD = """
import sys
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.kernel.events import CommitRefused
from commonhold.kernel.refusals import Refusal
store = SqliteStore(sys.argv[1])
with store.write() as writer:
    writer.record([CommitRefused(sys.argv[2], "", Refusal.LEASE_LOST, (), "")], 0.0)
store.close()
"""


def run_alone(folder: Path, holder: str) -> None:
    subprocess.run((sys.executable, "-c", ADD, str(folder), holder), check=True)


def test_a_child_forked_in_a_transaction_cannot_end_it(store: SqliteStore, forked: Forked) -> None:
    def child_unwinds() -> bool:
        with pytest.raises(StoreError) as caught:
            holders(store)
        inside.__exit__(None, None, None)
        return caught.value.code is Code.STORE_UNSAFE

    inside = store.gate()
    with store.write() as writer:
        inside.__enter__()
        writer.record([note("one")], 0.0)
        assert forked(child_unwinds)
        inside.__exit__(None, None, None)
    assert holders(store) == ["one"]


def test_fork_waits_for_the_transactions_of_other_threads(store: SqliteStore, forked: Forked) -> None:
    begun, ended = threading.Event(), threading.Event()

    def write() -> None:
        with store.write() as writer:
            begun.set()
            writer.record([note("thread")], 0.0)
        ended.set()

    thread = threading.Thread(target=write)
    thread.start()
    begun.wait()
    assert forked(lambda: holders(store) == ["thread"])
    thread.join()


def test_threads_take_turns(store: SqliteStore) -> None:
    def add_ten() -> None:
        for _ in range(10):
            add(store, "one")

    threads = [threading.Thread(target=add_ten) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.read() as reader:
        assert [each.sequence for each in reader.events()] == list(range(1, 41))


# What the sessions keep.


def test_leases_are_found_above_at_and_below(store: SqliteStore) -> None:
    places = ("file:./", "file:src/", "file:src/a.py#f", "file:src/a/b.py", "a:b", "a:b:c", "a:bc", "a:*")
    with store.write() as writer:
        writer.record([LeaseGranted(lease(fence, key)) for fence, key in enumerate(places, 1)], 0.0)
        found = {
            key: [each.fence for each in writer.overlapping([canonical(key)])] for key in (*places, "file:s", "ab:c")
        }
    assert found["file:./"] == [1, 2, 3, 4]
    assert found["file:src/"] == [1, 2, 3, 4]
    assert found["file:src/a.py#f"] == [1, 2, 3]
    assert found["file:src/a/b.py"] == [1, 2, 4]
    assert found["a:b"] == [5, 6, 8]
    assert found["a:b:c"] == [5, 6, 8]
    assert found["a:bc"] == [7, 8]
    assert found["a:*"] == [5, 6, 7, 8]
    assert found["ab:c"] == []
    assert found["file:s"] == [1]


def test_leases_of_another_boot_have_expired(store: SqliteStore) -> None:
    with store.write() as writer:
        boots = ("boot-0", "boot-1", "boot-1", "boot-2")
        ends = (90.0, 10.0, 10.1, 90.0)
        granted = [
            lease(i, "a:b", ends=end, boot=boot) for i, (boot, end) in enumerate(zip(boots, ends, strict=True), 1)
        ]
        writer.record(map(LeaseGranted, granted), 0.0)
        table = writer.table(Heartbeat("nobody"), Now("boot-1", 10.0, 0.0))
        assert {each.fence for each in table.leases} == {1, 2, 4}


def test_contents_are_kept_until_their_time_is_over(store: SqliteStore) -> None:
    with store.write() as writer:
        writer.keep([("aa11", b"old"), ("aa22", b"x" * 100_000), ("bb", b"")], 1.0)
        writer.keep([("aa22", b"x" * 100_000)], 5.0)
    with store.write() as writer:
        assert writer.contents_like("aa") == ("aa11", "aa22")
        assert writer.contents_like("aa1") == ("aa11",)
        writer.drop_before(5.0, 0.0)
        assert (writer.content("aa11"), writer.content("aa22"), writer.content("bb")) == (None, b"x" * 100_000, None)


def test_answers_are_kept_for_each_holder_until_their_time_is_over(store: SqliteStore) -> None:
    answer = StoredAnswer("print", LeaseAnswer("released", lease(1, "a:b")))
    with store.write() as writer:
        writer.remember("one", "r", answer, 1.0)
        assert writer.answer("one", "r") == answer
        assert writer.answer("two", "r") is None
        writer.drop_before(0.0, 1.0)
        assert writer.answer("one", "r") == answer
        writer.drop_before(0.0, 1.1)
        assert writer.answer("one", "r") is None


def test_a_journal_is_struck_out_and_its_number_never_used_again(store: SqliteStore) -> None:
    writes = (Write("a.py", None, "h", None, 0o644, made=("x",)),)
    with store.write() as writer:
        first = writer.begin("/w", "one", "intent", writes)
        assert writer.journals() == (first,)
        writer.end(first.id)
        second = writer.begin("/w", "one", "intent", writes)
    assert second.id > first.id
    with store.read() as reader:
        assert reader.journals() == (second,)


def test_events_are_read_from_either_end(store: SqliteStore) -> None:
    with store.write() as writer:
        writer.record([LeaseGranted(lease(1, "a:b")), note("x"), note("y"), note("z")], 0.0)
        assert [each.sequence for each in writer.events(after=1, limit=2)] == [2, 3]
        assert [each.sequence for each in writer.latest(2)] == [3, 4]
        assert [each.sequence for each in writer.events(lease_id="l1")] == [1]
        assert writer.next_sequence == 5


def test_every_statement_says_what_it_does() -> None:
    text = Path(connect.__file__).with_name("queries.sql").read_text()
    assert text.count("-- name:") == len(load())
    assert all("-- name:" not in line or after.startswith("-- ") for line, after in pairwise(text.splitlines()))


@pytest.mark.parametrize(
    ("fault", "code", "is_retryable"),
    [
        (apsw.FullError("x"), Code.DISK_FULL, False),
        (apsw.BusyError("x"), Code.STORE_BUSY, True),
        (apsw.ReadOnlyError("x"), Code.STORE_READ_ONLY, False),
        (apsw.CantOpenError("x"), Code.STORE_READ_ONLY, False),
        (apsw.CorruptError("x"), Code.STORE_CORRUPT, False),
        (apsw.NotADBError("x"), Code.STORE_CORRUPT, False),
        (apsw.IOError("x"), Code.IO_FAILED, False),
    ],
)
def test_sqlites_complaints_in_our_words(fault: apsw.Error, code: Code, *, is_retryable: bool) -> None:
    ours = translate(fault, "/state.db")
    assert (ours.code, ours.retryable, ours.fields["database"]) == (code, is_retryable, "/state.db")


@pytest.mark.parametrize("kind", [SqliteStore, MirroredStore])
def test_no_thread_gets_into_the_transaction_of_another(kind: type[SqliteStore], folder: Path) -> None:
    """Who was inside before must not take the next one's transaction for its own while that is just beginning."""
    beginning, go_on = threading.Event(), threading.Event()

    class Slow(kind):  # type: ignore[misc, valid-type]
        @property
        def _inside(self) -> int:
            return int(self.__dict__.get("who", 0))

        @_inside.setter
        def _inside(self, who: int) -> None:
            if who and threading.current_thread().name == "other":
                beginning.set()
                go_on.wait(PATIENCE_SECONDS)
            self.__dict__["who"] = who

    slow: SqliteStore = Slow(str(folder))

    def taken_back() -> None:
        with pytest.raises(ZeroDivisionError), slow.write():
            raise ZeroDivisionError

    slow.own()
    add(slow, "mine")
    other = threading.Thread(target=taken_back, name="other")
    other.start()
    assert beginning.wait(PATIENCE_SECONDS)
    threading.Timer(0.3, go_on.set).start()
    add(slow, "mine, too")
    other.join(PATIENCE_SECONDS)
    assert holders(slow) == ["mine", "mine, too"]
    slow.close()


def test_no_thread_sees_what_another_has_taken_back(folder: Path) -> None:
    """The next one inside may come before the failed one has gone on: by then the mirror must be right again."""
    seen: list[tuple[Lease, ...]] = []

    class Overtaken(MirroredStore):
        is_overtaken = False

        @contextmanager
        def _alone(self, *, is_awaited: bool = True) -> Iterator[None]:
            try:
                with super()._alone(is_awaited=is_awaited):
                    yield
            finally:
                if self.is_overtaken:  # the other's turn, before this thread does anything more
                    other = threading.Thread(target=look)
                    other.start()
                    other.join(PATIENCE_SECONDS)

    store = Overtaken(str(folder), synchronous="OFF")
    lease = Lease("l1", 1, "one", "", ("account:1",), Mode.SHARED, "acq", 0.0, Deadline("boot-1", 60.0, 60.0))

    def look() -> None:
        with store.read() as reader:
            seen.append(reader.leases())

    def grant(then: int = 1) -> None:
        with store.write() as writer:
            writer.record([LeaseGranted(lease)], 0.0)
            assert 1 / then

    store.own()
    store.is_overtaken = True
    with pytest.raises(ZeroDivisionError):
        grant(then=0)
    assert seen == [()]
    grant()
    assert seen == [(), (lease,)]
    store.close()


def test_threads_that_fork_at_once_leave_the_store_usable(store: SqliteStore, request: pytest.FixtureRequest) -> None:
    request.addfinalizer(partial(sys.setswitchinterval, sys.getswitchinterval()))
    sys.setswitchinterval(1e-6)

    def fork_often() -> None:
        for _ in range(20 if is_stress() else 5):
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            os.waitpid(pid, 0)

    add(store, "before")
    threads = [threading.Thread(target=fork_often, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(4 * PATIENCE_SECONDS)
        assert not thread.is_alive()
    add(store, "after")
    assert holders(store) == ["before", "after"]
