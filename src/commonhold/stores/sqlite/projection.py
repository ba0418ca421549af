"""Applying the log's events to the tables."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from commonhold.kernel.entry import EntryAdded, EntryMoved, EntryRecord, added_entry, moved_entry
from commonhold.kernel.events import (
    Committed,
    DebtWaived,
    Event,
    LeaseBroken,
    LeaseClaimed,
    LeaseExpired,
    LeaseGranted,
    LeaseHandedOver,
    LeaseQueued,
    LeaseReleased,
    LeaseRenewed,
    Recorded,
    ReleaseAsked,
    ValuePut,
    WaiterLeft,
    WaiterSeen,
    WorkLeft,
    WorkReviewed,
)
from commonhold.kernel.keys import canonical
from commonhold.kernel.managed_session import (
    ManagedSessionRecord,
    SessionMoved,
    SessionQueued,
    moved_session,
    queued_session,
)
from commonhold.kernel.projection import Change, changed_lease, partial_work
from commonhold.kernel.run import (
    ItemMoved,
    RunMoved,
    RunPlanned,
    RunRecord,
    RunStarted,
    moved_item,
    moved_run,
    planned_items,
    planned_run,
    started_run,
)
from commonhold.kernel.task import TaskAdded, TaskMoved, TaskRecord, added_record, moved_record
from commonhold.stores import codec
from commonhold.stores.places import place
from commonhold.stores.sqlite.reader import SqliteReader, Value

Statement = tuple[str, tuple[Value, ...]]
"""The name of a statement, and the values for it."""


def _on_granted(reader: SqliteReader, event: LeaseGranted, _: Recorded, body: str) -> Iterable[Statement]:
    lease, until = event.lease, event.lease.deadline
    lease_body = codec.only_part(body, "lease")
    yield "add_lease", (lease.fence, lease.id, lease.holder, until.epoch, until.ticks, lease_body)
    for key in lease.keys:
        yield "add_lease_key", (place(canonical(key)), lease.fence)
    if reader.has_waiters:
        yield "end_waiter", (lease.id,)


def _on_changed(reader: SqliteReader, event: Change, recorded: Recorded, *__: object) -> Iterable[Statement]:
    before = reader.lease(event.lease_id)
    if before is not None:
        lease = changed_lease(before, event, recorded.sequence)
        until, body = lease.deadline, codec.encode(lease).decode()
        yield "set_lease", (lease.fence, lease.holder, until.epoch, until.ticks, body, lease.id)


def _on_released(_: SqliteReader, event: LeaseReleased, *__: object) -> Iterable[Statement]:
    yield "end_lease", (event.lease_id,)


def _on_lost(_: SqliteReader, event: LeaseExpired | LeaseBroken, *__: object) -> Iterable[Statement]:
    yield "lose_lease", (event.lease_id,)
    yield "end_lease", (event.lease_id,)


def _on_queued(_: SqliteReader, event: LeaseQueued, *__: object) -> Iterable[Statement]:
    yield "add_waiter", (event.waiter.number, event.waiter.id, codec.encode(event.waiter).decode())


def _on_seen(reader: SqliteReader, event: WaiterSeen, *__: object) -> Iterable[Statement]:
    before = reader.waiter(event.lease_id)
    if before is not None:
        waiter = replace(before, deadline=event.deadline)
        yield "add_waiter", (waiter.number, waiter.id, codec.encode(waiter).decode())


def _on_left_the_line(_: SqliteReader, event: WaiterLeft, *__: object) -> Iterable[Statement]:
    yield "end_waiter", (event.lease_id,)


def _on_put(_: SqliteReader, event: ValuePut, recorded: Recorded, *__: object) -> Iterable[Statement]:
    yield "set_value", (event.key, recorded.sequence, event.text, event.holder, recorded.at)


def _on_work_left(reader: SqliteReader, event: WorkLeft, recorded: Recorded, *__: object) -> Iterable[Statement]:
    lease = reader.lost_lease(event.lease_id)
    if lease is not None and event.changes:
        work = partial_work(lease, event, recorded.at)
        yield "add_work", (lease.id, recorded.sequence, codec.encode(work).decode())
    yield "end_lost", (event.lease_id,)


def _on_reviewed(_: SqliteReader, event: WorkReviewed, *__: object) -> Iterable[Statement]:
    yield "end_work", (event.lease_id,)


def _on_committed(_: SqliteReader, event: Committed, recorded: Recorded, *__: object) -> Iterable[Statement]:
    for change in event.files:
        yield "add_commit", (change.path, recorded.sequence)
    for key in event.settled:
        yield "settle_debt", (event.worktree, key)
    for debt in event.debts:
        since = codec.encode(debt.since).decode()
        yield "add_debt", (debt.key, debt.holder, debt.why, debt.worktree, since, debt.evidence)


def _on_waived(_: SqliteReader, event: DebtWaived, *__: object) -> Iterable[Statement]:
    yield "settle_debt", (event.worktree, event.key)


def _on_task_added(_: SqliteReader, event: TaskAdded, recorded: Recorded, *__: object) -> Iterable[Statement]:
    yield _task(added_record(event, recorded.sequence, recorded.at))


def _on_task_moved(reader: SqliteReader, event: TaskMoved, recorded: Recorded, *__: object) -> Iterable[Statement]:
    before = reader.task(event.task_id)
    if before is not None:
        yield _task(moved_record(before, event, recorded.at))


def _task(record: TaskRecord) -> Statement:
    return "set_task", (record.id, record.number, int(record.is_final), codec.encode(record).decode())


def _on_run_started(_: SqliteReader, event: RunStarted, recorded: Recorded, *__: object) -> Iterable[Statement]:
    yield _run(started_run(event, recorded.sequence, recorded.at))


def _on_run_planned(reader: SqliteReader, event: RunPlanned, recorded: Recorded, *__: object) -> Iterable[Statement]:
    before = reader.run(event.run_id)
    if before is not None:
        yield _run(planned_run(before, event))
    for place_, item in enumerate(planned_items(event, recorded.sequence, recorded.at)):
        yield "add_run_item", (item.run_id, item.task_id, item.number, place_, codec.encode(item).decode())


def _on_run_moved(reader: SqliteReader, event: RunMoved, recorded: Recorded, *__: object) -> Iterable[Statement]:
    before = reader.run(event.run_id)
    if before is not None:
        yield _run(moved_run(before, event, recorded.at))


def _run(record: RunRecord) -> Statement:
    return "set_run", (record.id, record.number, codec.encode(record).decode())


def _on_item_moved(reader: SqliteReader, event: ItemMoved, recorded: Recorded, *__: object) -> Iterable[Statement]:
    before = reader.run_item(event.run_id, event.task_id)
    if before is not None:
        moved = moved_item(before, event, recorded.sequence, recorded.at)
        yield "set_run_item", (codec.encode(moved).decode(), moved.run_id, moved.task_id)


def _on_entry_added(_: SqliteReader, event: EntryAdded, recorded: Recorded, *__: object) -> Iterable[Statement]:
    yield _entry(added_entry(event, recorded.sequence, recorded.at))


def _on_entry_moved(reader: SqliteReader, event: EntryMoved, recorded: Recorded, *__: object) -> Iterable[Statement]:
    before = reader.entry(event.entry_id)
    if before is not None:
        yield _entry(moved_entry(before, event, recorded.sequence, recorded.at))


def _entry(record: EntryRecord) -> Statement:
    found_by = (record.id, record.number, int(record.is_final), record.entry.commit, record.entry.onto)
    return "set_entry", (*found_by, record.landed_at, codec.encode(record).decode())


def _on_session_queued(_: SqliteReader, event: SessionQueued, recorded: Recorded, *__: object) -> Iterable[Statement]:
    yield _managed_session(queued_session(event, recorded.sequence, recorded.at))


def _on_session_moved(
    reader: SqliteReader, event: SessionMoved, recorded: Recorded, *__: object
) -> Iterable[Statement]:
    before = reader.managed_session(event.session_id)
    if before is not None:
        yield _managed_session(moved_session(before, event, recorded.sequence, recorded.at))


def _managed_session(record: ManagedSessionRecord) -> Statement:
    found_by = record.id, record.number, int(record.is_final), record.session.tenant, record.claimed
    return "set_managed_session", (*found_by, codec.encode(record).decode())


PROJECTIONS: Final[dict[type[Event], Callable[[SqliteReader, Any, Recorded, str], Iterable[Statement]]]] = {
    LeaseGranted: _on_granted,
    LeaseRenewed: _on_changed,
    LeaseClaimed: _on_changed,
    ReleaseAsked: _on_changed,
    LeaseHandedOver: _on_changed,
    LeaseReleased: _on_released,
    LeaseExpired: _on_lost,
    LeaseBroken: _on_lost,
    LeaseQueued: _on_queued,
    WaiterSeen: _on_seen,
    WaiterLeft: _on_left_the_line,
    ValuePut: _on_put,
    WorkLeft: _on_work_left,
    WorkReviewed: _on_reviewed,
    DebtWaived: _on_waived,
    Committed: _on_committed,
    TaskAdded: _on_task_added,
    TaskMoved: _on_task_moved,
    RunStarted: _on_run_started,
    RunPlanned: _on_run_planned,
    RunMoved: _on_run_moved,
    ItemMoved: _on_item_moved,
    EntryAdded: _on_entry_added,
    EntryMoved: _on_entry_moved,
    SessionQueued: _on_session_queued,
    SessionMoved: _on_session_moved,
}
"""The statements, with their values, that apply an event to the tables, by its kind.

The event is also given as it was recorded, and in JSON. Other events change no table.
"""
