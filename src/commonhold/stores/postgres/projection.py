"""Applying the log's events to the tables."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from commonhold.kernel.entry import EntryAdded, EntryMoved, EntryRecord, added_entry, moved_entry
from commonhold.kernel.events import (
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
    holder_of,
    lease_id_of,
)
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.managed_session import (
    ManagedSessionRecord,
    SessionMoved,
    SessionQueued,
    moved_session,
    queued_session,
)
from commonhold.kernel.projection import Change, changed_lease, leaves_work, partial_work
from commonhold.kernel.run import (
    ItemMoved,
    ItemRecord,
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
from commonhold.stores.postgres.literals import Value
from commonhold.stores.postgres.names import Names
from commonhold.stores.postgres.transaction import Transaction


class Projection:
    """The log, and the tables that it adds up to, in a transaction without other writers.

    Rows that were read are cached and updated here, so that nothing is read twice. Writes are only queued.
    """

    def __init__(self, transaction: Transaction, names: Names) -> None:
        """Write through `transaction`."""
        self._transaction = transaction
        self._names = names
        self._line: dict[str, Waiter] = {}
        self._leases: dict[str, Lease | None] = {}
        self._changes = self._all_changes()

    def see(self, leases: Iterable[Lease] = (), waiters: Iterable[Waiter] = ()) -> None:
        """Load from the tables: some leases, all places in line."""
        self._leases |= {lease.id: lease for lease in leases}
        self._line |= {waiter.id: waiter for waiter in waiters}

    def waiters(self) -> tuple[Waiter, ...]:
        """The line."""
        return tuple(self._line.values())

    def lease(self, lease_id: str) -> Lease | None:
        """One lease by its id."""
        if lease_id not in self._leases:
            (rows,) = self._transaction.ask(("lease_by_id", {"lease": self._names.name(lease_id)}))
            self._leases[lease_id] = next((codec.decode(body, Lease) for (body,) in rows), None)
        return self._leases[lease_id]

    def apply(self, recorded: Recorded) -> None:
        """Append an event, and apply it to the tables."""
        event = recorded.event
        kind, body = codec.encode_event(event)
        self._tell(
            "add_event",
            sequence=recorded.sequence,
            at=recorded.at,
            kind=kind,
            holder=holder_of(event),
            lease_id=lease_id_of(event),
            body=body.decode(),
        )
        change = self._changes.get(type(event))
        if change is not None:
            change(event, recorded)

    def _tell(self, name: str, **values: Value) -> None:
        self._transaction.tell((name, values))

    def _all_changes(self) -> Mapping[type[Event], Callable[[Any, Recorded], None]]:
        """The effect of each kind of event on the tables. Other events have none."""
        return {
            LeaseGranted: self._on_granted,
            LeaseRenewed: self._on_changed,
            LeaseClaimed: self._on_changed,
            ReleaseAsked: self._on_changed,
            LeaseHandedOver: self._on_changed,
            LeaseReleased: self._on_released,
            LeaseExpired: self._on_lost,
            LeaseBroken: self._on_lost,
            LeaseQueued: self._on_queued,
            WaiterSeen: self._on_seen,
            WaiterLeft: self._on_left_the_line,
            ValuePut: self._on_put,
            WorkLeft: self._on_work_left,
            WorkReviewed: self._on_reviewed,
            TaskAdded: self._on_task_added,
            TaskMoved: self._on_task_moved,
            RunStarted: self._on_run_started,
            RunPlanned: self._on_run_planned,
            RunMoved: self._on_run_moved,
            ItemMoved: self._on_item_moved,
            EntryAdded: self._on_entry_added,
            EntryMoved: self._on_entry_moved,
            SessionQueued: self._on_session_queued,
            SessionMoved: self._on_session_moved,
        }

    def _on_granted(self, event: LeaseGranted, _: Recorded) -> None:
        lease = self._leases[event.lease.id] = event.lease
        self._tell("add_lease", **self._columns(lease))
        self._tell("add_lease_keys", **self._places(lease))
        self._leave_the_line(lease.id)

    def _on_changed(self, event: Change, recorded: Recorded) -> None:
        before = self.lease(event.lease_id)
        if before is not None:
            lease = self._leases[event.lease_id] = changed_lease(before, event, recorded.sequence)
            self._tell("set_lease", **self._columns(lease))

    def _on_released(self, event: LeaseReleased, _: Recorded) -> None:
        self._end(event.lease_id)

    def _on_lost(self, event: LeaseExpired | LeaseBroken, _: Recorded) -> None:
        lease = self.lease(event.lease_id)
        if lease is not None and leaves_work(lease):
            self._tell("add_lost", lease_id=lease.id, body=_text(lease))
        self._end(event.lease_id)

    def _end(self, lease_id: str) -> None:
        lease = self.lease(lease_id)
        if lease is not None:
            self._leases[lease_id] = None
            self._tell("end_lease", lease=self._names.name(lease_id))
            self._tell("end_lease_keys", **self._places(lease))

    def _on_queued(self, event: LeaseQueued, _: Recorded) -> None:
        self._stand(event.waiter)

    def _on_seen(self, event: WaiterSeen, _: Recorded) -> None:
        before = self._line.get(event.lease_id)
        if before is not None:
            self._stand(replace(before, deadline=event.deadline))

    def _stand(self, waiter: Waiter) -> None:
        self._line[waiter.id] = waiter
        self._tell("set_waiter", number=waiter.number, body=_text(waiter))

    def _on_left_the_line(self, event: WaiterLeft, _: Recorded) -> None:
        self._leave_the_line(event.lease_id)

    def _leave_the_line(self, lease_id: str) -> None:
        waiter = self._line.pop(lease_id, None)
        if waiter is not None:
            self._tell("end_waiter", number=waiter.number)

    def _on_put(self, event: ValuePut, recorded: Recorded) -> None:
        what: dict[str, Value] = {"text": event.text, "holder": event.holder, "at": recorded.at}
        self._tell("set_value", key=event.key, version=recorded.sequence, **what)

    def _on_work_left(self, event: WorkLeft, recorded: Recorded) -> None:
        if event.changes:
            (lost,) = self._transaction.ask(("lost_by_id", {"lease_id": event.lease_id}))
            for (body,) in lost:
                work = partial_work(codec.decode(body, Lease), event, recorded.at)
                self._tell("add_work", lease_id=work.lease_id, sequence=recorded.sequence, body=_text(work))
        self._tell("end_lost", lease_id=event.lease_id)

    def _on_reviewed(self, event: WorkReviewed, _: Recorded) -> None:
        self._tell("end_work", lease_id=event.lease_id)

    def _on_task_added(self, event: TaskAdded, recorded: Recorded) -> None:
        self._set_task(added_record(event, recorded.sequence, recorded.at))

    def _on_task_moved(self, event: TaskMoved, recorded: Recorded) -> None:
        (rows,) = self._transaction.ask(("task_by_id", {"id": event.task_id}))
        for (body,) in rows:
            self._set_task(moved_record(codec.decode(body, TaskRecord), event, recorded.at))

    def _set_task(self, record: TaskRecord) -> None:
        found_by: dict[str, Value] = {"id": record.id, "number": record.number, "is_final": int(record.is_final)}
        self._tell("set_task", body=_text(record), **found_by)

    def _on_run_started(self, event: RunStarted, recorded: Recorded) -> None:
        self._set_run(started_run(event, recorded.sequence, recorded.at))

    def _on_run_planned(self, event: RunPlanned, recorded: Recorded) -> None:
        (rows,) = self._transaction.ask(("run_by_id", {"id": event.run_id}))
        for (body,) in rows:
            self._set_run(planned_run(codec.decode(body, RunRecord), event))
        for place, item in enumerate(planned_items(event, recorded.sequence, recorded.at)):
            found_by: dict[str, Value] = {"run": item.run_id, "task": item.task_id}
            self._tell("add_run_item", number=item.number, place=place, body=_text(item), **found_by)

    def _on_run_moved(self, event: RunMoved, recorded: Recorded) -> None:
        (rows,) = self._transaction.ask(("run_by_id", {"id": event.run_id}))
        for (body,) in rows:
            self._set_run(moved_run(codec.decode(body, RunRecord), event, recorded.at))

    def _set_run(self, record: RunRecord) -> None:
        self._tell("set_run", id=record.id, number=record.number, body=_text(record))

    def _on_item_moved(self, event: ItemMoved, recorded: Recorded) -> None:
        found_by: dict[str, Value] = {"run": event.run_id, "task": event.task_id}
        (rows,) = self._transaction.ask(("run_item", found_by))
        for (body,) in rows:
            moved = moved_item(codec.decode(body, ItemRecord), event, recorded.sequence, recorded.at)
            self._tell("set_run_item", body=_text(moved), **found_by)

    def _on_entry_added(self, event: EntryAdded, recorded: Recorded) -> None:
        self._set_entry(added_entry(event, recorded.sequence, recorded.at))

    def _on_entry_moved(self, event: EntryMoved, recorded: Recorded) -> None:
        (rows,) = self._transaction.ask(("entry_by_id", {"id": event.entry_id}))
        for (body,) in rows:
            before = codec.decode(body, EntryRecord)
            self._set_entry(moved_entry(before, event, recorded.sequence, recorded.at))

    def _set_entry(self, record: EntryRecord) -> None:
        found_by: dict[str, Value] = {"id": record.id, "number": record.number, "revision": record.entry.commit}
        found_by |= {"onto": record.entry.onto, "landed_at": record.landed_at}
        self._tell("set_entry", is_final=int(record.is_final), body=_text(record), **found_by)

    def _on_session_queued(self, event: SessionQueued, recorded: Recorded) -> None:
        self._set_managed_session(queued_session(event, recorded.sequence, recorded.at))

    def _on_session_moved(self, event: SessionMoved, recorded: Recorded) -> None:
        (rows,) = self._transaction.ask(("managed_session_by_id", {"id": event.session_id}))
        for (body,) in rows:
            before = codec.decode(body, ManagedSessionRecord)
            self._set_managed_session(moved_session(before, event, recorded.sequence, recorded.at))

    def _set_managed_session(self, record: ManagedSessionRecord) -> None:
        found_by: dict[str, Value] = {"id": record.id, "number": record.number, "is_final": int(record.is_final)}
        tenant, claimed = record.session.tenant, record.claimed
        self._tell("set_managed_session", tenant=tenant, claimed=claimed, body=_text(record), **found_by)

    def _places(self, lease: Lease) -> dict[str, Value]:
        places = sorted({self._names.place(canonical(key)) for key in lease.keys})
        return {"lease": self._names.name(lease.id), "places": places}

    def _columns(self, lease: Lease) -> dict[str, Value]:
        found_by = {"lease": self._names.name(lease.id), "holder": self._names.name(lease.holder)}
        return {**found_by, "fence": lease.fence, "ticks": lease.deadline.ticks, "body": _text(lease)}


def _text(value: object) -> str:
    return codec.encode(value).decode()
