"""A log is compacted in the same way by every store that keeps its events in tables, whoever else has it open."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Protocol
from uuid import uuid4

import pytest
from tests.contract.rigs import PostgresTaskRig, SqliteRig
from tests.contract.test_task_stores import MirroredRig
from tests.services.postgres_server import Database

from commonhold.history.check import chain_fault
from commonhold.history.compaction import Compaction, Limit, needed
from commonhold.history.replay import replay
from commonhold.history.snapshot import Progress, beginning_of
from commonhold.kernel.errors import StoreError
from commonhold.kernel.events import LogCompacted
from commonhold.kernel.hash_chain import ChainLink, ReadPage, broken_at
from commonhold.kernel.lease_ports import Once
from commonhold.kernel.ports import TaskTables
from commonhold.kernel.projection import State
from commonhold.kernel.task import Task
from commonhold.tasks.commands import AddTasks, ClaimTask
from commonhold.tasks.queue import TaskQueue

pytestmark = pytest.mark.slow


class Rig(Protocol):
    def queue(self) -> TaskQueue: ...

    def advance(self, seconds: float) -> None: ...

    def close(self) -> None: ...


@pytest.fixture(params=["sqlite", "daemon", "postgres"])
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
    def made() -> Rig:
        match request.param:
            case "sqlite":
                return SqliteRig(str(tmp_path))
            case "daemon":
                return MirroredRig(str(tmp_path))
            case _:
                database: Database = request.getfixturevalue("shared_database")
                return PostgresTaskRig(database.socket_url, uuid4().hex)

    with closing(made()) as found:
        yield found


def filled(rig: Rig, tasks: int = 6) -> TaskQueue:
    """Return a queue with tasks, the first of which is claimed; each event was recorded at another time."""
    queue = rig.queue()
    for number in range(1, tasks + 1):
        rig.advance(10.0)
        queue.execute(AddTasks("ann", (Task(f"t{number}", f"the title {number}"),)))
    rig.advance(10.0)
    queue.execute(ClaimTask("bob", "lease-1", 1000.5))
    rig.advance(10.0)
    return queue


def compaction(queue: TaskQueue, last: int, export: str = "") -> Compaction:
    return Compaction(queue.tables, "eve", queue.now, Limit(queue.now().wall, last=last), export)


def folded(tables: TaskTables) -> State:
    """Return the state that the log results in, by the snapshot and the events after it."""
    with tables.read() as reader:
        beginning = beginning_of(reader)
        assert beginning.fault is None
        log = reader.events(after=beginning.after, limit=1000)
        progress = Progress(beginning.snapshot)
        assert replay(log, progress=Progress(beginning.snapshot)).difference is None
    for each in log:
        progress.apply(each)
    return progress.state


def stored(tables: TaskTables) -> tuple[object, ...]:
    with tables.read() as reader:
        return reader.leases(), reader.tasks(), reader.waiters(), reader.lost(), reader.works()


def test_the_state_and_its_numbers_go_on(rig: Rig) -> None:
    queue, other = filled(rig), rig.queue()
    before, state = stored(queue.tables), folded(queue.tables)
    answer = compaction(queue, 4).run()
    assert (answer.outcome, answer.first, answer.last, answer.events) == ("compacted", 1, 4, 4)
    assert stored(other.tables) == before
    after = folded(other.tables)
    assert (after.tasks, after.leases) == (state.tasks, state.leases)
    rig.advance(10.0)
    other.execute(AddTasks("ann", (Task("late", "a title"),)))
    with queue.read() as reader:
        newest = reader.latest(1)[0].sequence
        assert newest == state.sequence + 2  # the compaction itself is an event
        assert [each.sequence for each in reader.events()] == list(range(5, newest + 1))


def test_the_export_and_the_log_are_one_chain(rig: Rig) -> None:
    queue = filled(rig)
    with queue.read() as reader:
        whole = reader.links(limit=100)
    compaction(queue, 4, "old.jsonl").run()
    with rig.queue().read() as reader:
        beginning, left = beginning_of(reader), reader.links(limit=100)
        assert chain_fault(reader) is None
    assert broken_at((*whole[:4], *left)) is None
    assert broken_at(left, beginning.hash) is None
    assert left[:-1] == whole[4:]
    assert beginning.hash == whole[3].hash
    event = beginning.compaction.event if beginning.compaction else None
    assert isinstance(event, LogCompacted)
    assert (event.holder, event.first, event.last, event.export) == ("eve", 1, 4, "old.jsonl")


def test_a_later_compaction_goes_on_from_the_snapshot(rig: Rig) -> None:
    queue = filled(rig)
    expected = folded(queue.tables)
    compaction(queue, 2).run()
    rig.advance(10.0)
    answer = compaction(rig.queue(), 5).run()
    assert (answer.first, answer.last, answer.events) == (3, 5, 3)
    found = folded(queue.tables)
    assert (found.tasks, found.leases) == (expected.tasks, expected.leases)
    assert stored(queue.tables)[:2] == (tuple(found.leases.values()), tuple(found.tasks.values()))


def test_a_log_is_compacted_in_several_transactions(rig: Rig) -> None:
    queue = filled(rig)
    this = compaction(queue, 5)
    this.step = 2
    answer = this.run()
    assert (answer.first, answer.last, answer.events) == (1, 5, 5)
    assert this.preview().outcome == "nothing"
    with queue.read() as reader:
        events = [each.event for each in reader.events()]
    assert [each.last for each in events if isinstance(each, LogCompacted)] == [2, 4, 5]


def test_the_events_of_one_decision_stay_together(rig: Rig) -> None:
    queue = rig.queue()
    queue.execute(AddTasks("ann", (Task("one", "a title"), Task("two", "a title"))))
    rig.advance(10.0)
    queue.execute(AddTasks("ann", (Task("three", "a title"),)))
    rig.advance(10.0)
    assert compaction(queue, 1).preview().outcome == "nothing"
    assert compaction(queue, 2).preview().last == 2
    assert compaction(queue, 3).preview().last == 2  # the newest decision stays


def test_a_live_lease_keeps_its_grant_and_an_ended_one_does_not(rig: Rig) -> None:
    queue = filled(rig)
    now = queue.now()
    with queue.read() as reader:
        (lease,) = reader.leases()
    limit = needed(Limit(now.wall), (lease,), (), now)
    assert limit.last == lease.fence - 1
    assert lease.id in limit.why_not_more
    rig.advance(2000.0)
    assert needed(Limit(now.wall), (lease,), (), queue.now()) == Limit(now.wall)


def test_a_repeated_request_gets_its_first_answer(rig: Rig) -> None:
    queue = rig.queue()
    once = Once("request-1", "the same")
    first = queue.execute(AddTasks("ann", (Task("one", "a title"),)), once)
    for number in range(3):
        rig.advance(10.0)
        queue.execute(AddTasks("ann", (Task(f"more-{number}", "a title"),)))
    rig.advance(10.0)
    assert compaction(queue, 3).run().last == 3
    assert rig.queue().execute(AddTasks("ann", (Task("one", "a title"),)), once) == first


@pytest.mark.parametrize("rig", ["sqlite", "postgres"], indirect=True)
def test_of_two_that_compact_at_once_one_does_nothing(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    queue, other = filled(rig), rig.queue()
    this, rival = compaction(queue, 4), compaction(other, 3)
    fold = Progress.snapshot

    def overtaken(progress: Progress, at: float) -> bytes:
        monkeypatch.undo()
        assert rival.run().last == 3
        return fold(progress, at)

    monkeypatch.setattr(Progress, "snapshot", overtaken)
    assert this.run().outcome == "nothing"
    with queue.read() as reader:
        assert beginning_of(reader).after == 3
        assert chain_fault(reader) is None


def test_a_cursor_before_the_snapshot_gets_the_events_after_it(rig: Rig) -> None:
    queue = filled(rig)
    compaction(queue, 4).run()
    with rig.queue().read() as reader:
        assert reader.events(after=1, limit=1)[0].sequence == 5
        assert reader.events(after=4, limit=1)[0].sequence == 5


def test_a_broken_chain_is_not_compacted(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = filled(rig)
    this = compaction(queue, 5)
    page: ReadPage = this._page

    def changed(after: int) -> list[ChainLink]:
        return [
            replace(each, body=each.body.replace("title", "name")) if each.sequence == 2 else each
            for each in page(after)
        ]

    monkeypatch.setattr(this, "_page", changed)
    with pytest.raises(StoreError, match="from event 2 on"):
        this.run()
    with queue.read() as reader:
        assert reader.compaction() is None
        assert len(reader.events()) == 8
        assert chain_fault(reader) is None
