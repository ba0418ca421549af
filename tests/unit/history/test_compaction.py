"""After a compaction the log is replayed from the snapshot; what would need a deleted event says where it went."""

import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest
from tests.fakes import CountingIds, FakeClock

from commonhold.api.service import Service
from commonhold.history import compaction
from commonhold.history.check import BROKEN
from commonhold.history.compaction import Limit, needed
from commonhold.history.snapshot import CHANGED, Progress, beginning_of
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.clock import Deadline, Now
from commonhold.kernel.compacted import told_compacted
from commonhold.kernel.errors import Code, CommonholdError
from commonhold.kernel.events import LeaseGranted, LeaseReleased, Recorded
from commonhold.kernel.lease import Lease
from commonhold.kernel.modes import Mode
from commonhold.kernel.obligations import Debt
from commonhold.kernel.options import Options
from commonhold.kernel.task import Task
from commonhold.stores.sqlite.connect import connect
from commonhold.stores.sqlite.last_event_mark import Mark
from commonhold.stores.sqlite.store import DATABASE, SqliteStore
from commonhold.workspace.files import WorkingTree

DAY = 86400.0


@dataclass
class Yard:
    """A folder with its state, and sessions in it."""

    folder: Path
    clock: FakeClock
    store: SqliteStore

    def session(self, name: str = "ann", **options: float) -> Service:
        chosen = Options(**{"retention_seconds": DAY, **options})  # type: ignore[arg-type]
        files = WorkingTree(str(self.folder / "root"))
        return Service(store=self.store, files=files, clock=self.clock, ids=CountingIds(), agent=name, options=chosen)

    def change(self, statement: str, *values: bytes) -> None:
        """Change the database behind the back of the store."""
        with closing(connect(str(self.folder / "state" / DATABASE))) as connection:
            connection.execute(statement, values)
            assert connection.changes() == 1


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    """A state with a lease that was released, a value, a commit and a task, each on another day."""
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a.txt").write_text("old\n", encoding="utf-8")
    with closing(SqliteStore(str(tmp_path / "state"), synchronous="OFF")) as store:
        made = Yard(tmp_path, FakeClock(), store)
        ann = made.session()
        lease = ann.acquire("x:1", task="round to cents").lease
        assert lease is not None
        steps: tuple[Callable[[], object], ...] = (
            lambda: ann.release(lease.id),
            lambda: ann.put("x:2", "5", expected_version=0),
            lambda: ann.commit(Changeset((Edit(Op.REPLACE, "a.txt", ann.read("a.txt")[0].hash, "new\n"),))),
            lambda: ann.add_tasks(Task("price", "the price")),
        )
        for step in steps:
            made.clock.advance(DAY)
            step()
        made.clock.advance(2 * DAY)
        yield made


def test_the_replay_begins_with_the_snapshot(yard: Yard) -> None:
    answer = yard.session().compact_log(export="old.jsonl")
    assert (answer.outcome, answer.first, answer.last, answer.events, answer.why) == ("compacted", 1, 4, 4, "")
    found = yard.session().replay()
    assert (found.outcome, found.is_stored, found.compacted, found.first) == ("same", True, 4, 5)
    assert found.events == {"task_added": 1, "log_compacted": 1}


@pytest.mark.parametrize("ask", ["1", "4"])
def test_a_deleted_event_is_told_as_compacted(yard: Yard, ask: str) -> None:
    ann = yard.session()
    ann.compact_log(export="old.jsonl")
    calls: tuple[Callable[[], object], ...] = (
        lambda: ann.explain(ask),
        lambda: ann.undo(ask),
        lambda: ann.replay(since=int(ask)),
        lambda: ann.replay(until=int(ask)),
    )
    for call in calls:
        with pytest.raises(CommonholdError, match="the events up to 4 were compacted on 1970-01-07 by ann") as fault:
            call()
        assert fault.value.code == Code.EVENT_COMPACTED
        assert "old.jsonl" in fault.value.hint


def test_what_is_not_found_is_said_to_be_compacted_perhaps(yard: Yard) -> None:
    ann = yard.session()
    lease = next(each.event.lease for each in ann.log(after=0) if isinstance(each.event, LeaseGranted))
    ann.compact_log()
    for call in (lambda: ann.explain(lease.id), lambda: ann.undo("ann")):
        with pytest.raises(CommonholdError, match="compacted on 1970-01-07 by ann; no export was named"):
            call()


def test_a_dry_run_changes_nothing(yard: Yard) -> None:
    ann = yard.session()
    log = ann.log(after=0)
    assert ann.compact_log(dry_run=True).last == 4
    assert ann.log(after=0) == log


def test_commits_that_can_be_undone_stay(yard: Yard) -> None:
    ann = yard.session(retention_seconds=4.5 * DAY)
    answer = ann.compact_log()
    assert answer.last == 2
    assert "`retention_days` keeps their contents" in answer.why
    assert ann.undo("4").outcome == "shown"


def test_only_events_before_the_given_instant_go(yard: Yard) -> None:
    ann = yard.session()
    assert (ann.compact_log(before=1.5 * DAY).last, ann.compact_log(before=1.5 * DAY).outcome) == (2, "nothing")


def test_retention_compacts_what_is_older_than_the_setting(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "_WORTH_IT", 3)
    yard.session(event_seconds=5.5 * DAY).apply_retention()  # one event is older: that is not worth it
    assert yard.session().log(after=0)[0].sequence == 1
    yard.session().apply_retention()  # without the setting all events stay
    assert yard.session().log(after=0)[0].sequence == 1
    yard.session(event_seconds=2.5 * DAY).apply_retention()
    assert yard.session().log(after=0)[0].sequence == 5


def test_there_is_no_shared_log_without_a_server(yard: Yard) -> None:
    for call in (yard.session().compact_log, yard.session().chain):
        with pytest.raises(CommonholdError, match="no PostgreSQL store is shared here"):
            call(shared=True)


def test_the_chain_is_given_with_its_hashes(yard: Yard) -> None:
    ann = yard.session()
    links = ann.chain()
    assert [each.sequence for each in links] == [1, 2, 3, 4, 5]
    assert ann.chain(after=2, limit=2) == links[2:4]


FORGED = zlib.compress(b"{}")


@pytest.mark.parametrize(
    ("statement", "values", "why"),
    [
        ("DELETE FROM snapshots", (), "events 1 to 4 are missing"),
        ("UPDATE snapshots SET body = ?", (FORGED,), CHANGED),
        ("UPDATE snapshots SET event = 5", (), CHANGED),
        ("DELETE FROM events WHERE seq = 6", (), "there is a snapshot that no event names"),
        ("UPDATE events SET body = replace(body, 'ann', 'bob') WHERE seq = 6", (), BROKEN),
        ("UPDATE events SET body = replace(body, '\"last\":4', '\"last\":3') WHERE seq = 6", (), BROKEN),
        ("DELETE FROM tasks", (), "the stored tasks are not those that the log results in"),
        ("DELETE FROM key_values", (), "the stored values are not those that the log results in"),
    ],
)
def test_a_change_after_a_compaction_is_found(yard: Yard, statement: str, values: tuple[bytes, ...], why: str) -> None:
    yard.session().compact_log()
    yard.change(statement, *values)
    found = yard.session().replay()
    assert found.difference is not None
    assert found.difference.why == why
    if why == CHANGED:
        with pytest.raises(CommonholdError, match="the log is not compacted"):
            yard.session(retention_seconds=0.0).compact_log()


def test_an_old_mark_of_a_compacted_event_is_no_loss(yard: Yard) -> None:
    """After a loss of power the mark outside of the database may be older than the snapshot."""
    yard.session().compact_log()
    with closing(apsw.Connection(str(yard.folder / "state" / DATABASE))) as connection:
        found = [Mark(number, 0.0).is_in(connection) for number in (1, 4, 5, 7)]
    assert found == [True, True, False, False]  # event 5 is there, and was recorded at another time


def test_the_space_is_given_back(yard: Yard) -> None:
    ann = yard.session()
    for number in range(300):
        yard.clock.advance(1.0)
        ann.put(f"big:{number}", "text" * 200, expected_version=0)
    yard.clock.advance(2 * DAY)
    answer = ann.compact_log()
    assert answer.freed > 50_000
    assert ann.replay().outcome == "same"


def lease(number: int) -> Lease:
    until = Deadline("boot-1", 100.0, 100.0)
    return Lease(f"lease-{number}", number, "ann", "", ("x:1",), Mode.EXCLUSIVE, "acq", 0.0, until)


def test_leases_that_ended_shortly_before_are_part_of_a_snapshot() -> None:
    """A commit may be recorded a minute after its lease has ended."""
    progress = Progress()
    for number, at in ((1, 0.0), (2, 100.0)):
        progress.apply(Recorded(2 * number - 1, at, LeaseGranted(lease(number))))
        progress.apply(Recorded(2 * number, at, LeaseReleased("ann", f"lease-{number}")))
    assert list(progress.ended) == ["lease-1", "lease-2"]
    progress.snapshot(at=120.0)
    assert list(progress.ended) == ["lease-2"]


def test_open_debts_keep_their_causes() -> None:
    debts = (Debt("file:a.py#f", "ann", "why", "/w", (40, 50)), Debt("file:b.py#g", "ann", "why", "/w"))
    limit = needed(Limit(1.0), (), debts, Now("boot-1", 0.0, 0.0))
    assert limit.last == 39
    assert "commonhold review waive file:a.py#f" in limit.why_not_more


def test_all_events_are_there_without_a_compaction(yard: Yard) -> None:
    with yard.store.read() as reader:
        assert told_compacted(reader) == ""
        beginning = beginning_of(reader)
        assert (beginning.after, beginning.hash, beginning.snapshot) == (0, None, None)
