"""Reading and writing inside one transaction."""

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, TypeVar

import apsw

from commonhold.kernel.clock import Now
from commonhold.kernel.commands import Command, RecordPartialWork, Review
from commonhold.kernel.entry import UNLIMITED, EntryAdded, EntryMoved, EntryRecord, Landings, added_entry, moved_entry
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
    holder_of,
    lease_id_of,
)
from commonhold.kernel.hash_chain import START, Link, next_hash
from commonhold.kernel.keys import Key, canonical
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.lease_table import LeaseTable
from commonhold.kernel.managed_session import (
    ManagedSessionRecord,
    SessionMoved,
    SessionQueued,
    moved_session,
    queued_session,
)
from commonhold.kernel.obligations import Debt
from commonhold.kernel.partial_work import PartialWork
from commonhold.kernel.ports import Journal, StoredAnswer, Write
from commonhold.kernel.presence import Message, Presence, Proposal
from commonhold.kernel.projection import Change, changed_lease, partial_work
from commonhold.kernel.read_set import Sighting, StaleRead
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
from commonhold.kernel.values import Value as KeyValue
from commonhold.leases.decide import keys_of, most_ended_beside, value_keys_of
from commonhold.stores import codec, kept_answers
from commonhold.stores.places import AFTER_SEPARATOR, SEPARATOR, place, places
from commonhold.stores.sqlite.statements import load
from commonhold.stores.statements import table_written

B = TypeVar(
    "B",
    Message,
    Lease,
    Waiter,
    PartialWork,
    StaleRead,
    Presence,
    Proposal,
    TaskRecord,
    RunRecord,
    ItemRecord,
    EntryRecord,
    ManagedSessionRecord,
)
Value = str | bytes | int | float | None
Statement = tuple[str, tuple[Value, ...]]
_AFTER_SLASH: Final = "0"
_LAST: Final = "\U0010ffff"
_COMPRESSION_LEVEL: Final = 1
SQL: Final = load()
_SPARSE: Final = ("waiters", "lost", "overtaken")
"""Tables that are usually empty, in the order of the query for signs."""
_FILLS: Final = {name: table for name, sql in SQL.items() if (table := table_written(sql)) in _SPARSE}


class SqliteSession:
    """A transaction on one connection, for the ports Reader and Writer."""

    def __init__(self, connection: apsw.Connection, *, is_for_writing: bool = True) -> None:
        """Speak through `connection`, which is inside a transaction."""
        self.is_for_writing = is_for_writing
        self._connection = connection
        self._execute = connection.execute
        self._next_sequence = 0
        self._hash: bytes | None = None
        self._filled: set[str] | None = None
        self.newest: tuple[int, float] | None = None
        """The number and the wall time of the event that was recorded last."""

    def _rows(self, name: str, *values: Value) -> list[tuple[Any, ...]]:
        return self._execute(SQL[name], values).fetchall()

    def _run(self, name: str, *values: Value) -> None:
        self._execute(SQL[name], values)
        if self._filled is not None and name in _FILLS:
            self._filled.add(_FILLS[name])

    def _one(self, name: str, *values: Value) -> tuple[Any, ...] | None:
        return next(iter(self._rows(name, *values)), None)

    @property
    def next_sequence(self) -> int:
        """The number that the next event will have."""
        if self._filled is None:
            self._look()
        return self._next_sequence

    def _may_hold(self, table: str) -> bool:
        """Whether one of the sparse tables may hold anything; one query covers all of them."""
        return table in (self._look() if self._filled is None else self._filled)

    def _look(self) -> set[str]:
        ((self._next_sequence, *signs),) = self._rows("signs")
        self._filled = {table for table, is_filled in zip(_SPARSE, signs, strict=True) if is_filled}
        return self._filled

    def table(self, command: Command[Any], now: Now) -> LeaseTable:
        """The part of the state that a decision needs."""
        waiters = self.waiters()
        keys = [*keys_of(command), *(canonical(key) for waiter in waiters for key in waiter.keys)]
        lease_id = getattr(command, "lease_id", "")
        named = json_text([lease_id, getattr(command, "replaces", None) or ""])
        holders = json_text(sorted({command.holder, *(waiter.holder for waiter in waiters)}))
        rows = self._rows(
            "leases_concerned", named, holders, now.epoch, now.ticks, most_ended_beside(command)
        ) + self._near(keys)
        return LeaseTable(
            _in_order(rows),
            self.next_sequence,
            waiters,
            self._values(value_keys_of(command)),
            self._body("lost_by_id", Lease, lease_id) if isinstance(command, RecordPartialWork) else None,
            self._body("work_by_id", PartialWork, lease_id) if isinstance(command, Review) else None,
        )

    def _bodies(self, name: str, kind: type[B], *values: Value) -> tuple[B, ...]:
        rows = self._rows(name, *values)
        return tuple(codec.decode(row[0], kind) for row in rows) if rows else ()

    def _body(self, name: str, kind: type[B], *values: Value) -> B | None:
        return next(iter(self._bodies(name, kind, *values)), None)

    def leases(self) -> tuple[Lease, ...]:
        """All leases that have not ended in the log."""
        return self._bodies("all_leases", Lease)

    def lease(self, lease_id: str) -> Lease | None:
        """One lease by its id."""
        return self._body("lease_by_id", Lease, lease_id)

    def held_by(self, holder: str) -> tuple[Lease, ...]:
        """The leases of one holder."""
        return self._bodies("leases_of_holder", Lease, holder)

    def overlapping(self, keys: Sequence[Key]) -> tuple[Lease, ...]:
        """Leases at the keys' places, above them, and below them."""
        return _in_order(self._near(keys))

    def _near(self, keys: Sequence[Key]) -> list[tuple[Any, ...]]:
        if not keys:
            return []
        near = json_text([each for key in keys for each in places(key)])
        here = json_text(sorted({place(key) for key in keys}))
        return self._rows("leases_at_places", near) + self._rows("leases_below", SEPARATOR, AFTER_SEPARATOR, here)

    def waiters(self) -> tuple[Waiter, ...]:
        """The line."""
        return self._bodies("all_waiters", Waiter) if self.has_waiters else ()

    @property
    def has_waiters(self) -> bool:
        """Whether any holder may wait in line."""
        return self._may_hold("waiters")

    def waiter(self, lease_id: str) -> Waiter | None:
        """One place in line."""
        return self._body("waiter_by_id", Waiter, lease_id)

    def values(self) -> tuple[KeyValue, ...]:
        """Return the values of all keys that ever had one."""
        return tuple(KeyValue(*row) for row in self._rows("all_values"))

    def value(self, key: str) -> KeyValue | None:
        """The value of a key."""
        row = self._one("value", key)
        return KeyValue(*row) if row else None

    def _values(self, keys: Sequence[str]) -> tuple[KeyValue, ...]:
        return tuple(KeyValue(*row) for row in self._rows("values", json_text(list(keys)))) if keys else ()

    def has_expired(self, now: Now) -> bool:
        """Whether there is a lease that has expired and not been ended."""
        return bool(self._rows("any_expired", now.epoch, now.ticks))

    def lost(self) -> tuple[Lease, ...]:
        """Return leases whose changes have not been searched for yet."""
        return self._bodies("all_lost", Lease) if self._may_hold("lost") else ()

    def lost_near(self, keys: Sequence[Key]) -> tuple[Lease, ...]:
        """Those of them near the keys."""
        return tuple(lease for lease in self.lost() if any(map(lease.covering, keys)))

    def lost_lease(self, lease_id: str) -> Lease | None:
        """One of them."""
        return self._body("lost_by_id", Lease, lease_id)

    def works(self) -> tuple[PartialWork, ...]:
        """Partial work that waits for review."""
        return self._bodies("all_works", PartialWork)

    def tasks(self) -> tuple[TaskRecord, ...]:
        """All tasks."""
        return self._bodies("all_tasks", TaskRecord)

    def tasks_in_question(self, ids: Sequence[str]) -> tuple[TaskRecord, ...]:
        """The tasks that are not final, those that they need, and those with these ids."""
        return self._bodies("tasks_in_question", TaskRecord, json_text(list(ids)))

    def task(self, task_id: str) -> TaskRecord | None:
        """One task by its id."""
        return self._body("task_by_id", TaskRecord, task_id)

    def runs(self) -> tuple[RunRecord, ...]:
        """All runs."""
        return self._bodies("all_runs", RunRecord)

    def run(self, run_id: str) -> RunRecord | None:
        """One run by its id."""
        return self._body("run_by_id", RunRecord, run_id)

    def run_items(self, run_id: str) -> tuple[ItemRecord, ...]:
        """The items of a run."""
        return self._bodies("run_items", ItemRecord, run_id)

    def entries(self, onto: str = "", *, before: int = UNLIMITED, limit: int = UNLIMITED) -> tuple[EntryRecord, ...]:
        """The newest entries of the merge queue before an event, oldest first."""
        return self._bodies("entries_before", EntryRecord, onto, onto, before, limit)[::-1]

    def landings(self, onto: str = "") -> tuple[Landings, ...]:
        """The number and the last of the landings on each branch."""
        return tuple(Landings(*row) for row in self._rows("landings", onto, onto or _LAST))

    def entries_in_question(self, names: Sequence[str]) -> tuple[EntryRecord, ...]:
        """The entries that are not final, and those with these ids or commits."""
        listed = json_text(list(names))
        return self._bodies("entries_in_question", EntryRecord, listed, listed)

    def entry(self, entry_id: str) -> EntryRecord | None:
        """One entry by its id."""
        return self._body("entry_by_id", EntryRecord, entry_id)

    def managed_sessions(self) -> tuple[ManagedSessionRecord, ...]:
        """All managed sessions."""
        return self._bodies("all_managed_sessions", ManagedSessionRecord)

    def managed_sessions_in_question(self, ids: Sequence[str]) -> tuple[ManagedSessionRecord, ...]:
        """The managed sessions that are not final, and those with these ids."""
        return self._bodies("managed_sessions_in_question", ManagedSessionRecord, json_text(list(ids)))

    def managed_session(self, session_id: str) -> ManagedSessionRecord | None:
        """One managed session by its id."""
        return self._body("managed_session_by_id", ManagedSessionRecord, session_id)

    def tenants_served(self) -> dict[str, int]:
        """The sequence of the last claim by tenant."""
        return dict(self._rows("tenants_served"))

    def run_item(self, run_id: str, task_id: str) -> ItemRecord | None:
        """One item of a run."""
        return self._body("run_item", ItemRecord, run_id, task_id)

    def events(self, *, after: int = 0, limit: int = 1000, lease_id: str | None = None) -> tuple[Recorded, ...]:
        """Events above a sequence, of all leases or of one."""
        if lease_id is None:
            return tuple(map(_recorded, self._rows("events_after", after, limit)))
        return tuple(map(_recorded, self._rows("events_of_lease", lease_id, after, limit)))

    def links(self, *, after: int = 0, limit: int = 1000) -> tuple[Link, ...]:
        """Events above a sequence, with their hashes."""
        return tuple(Link(*row) for row in self._rows("links", after, limit))

    def latest(self, limit: int) -> tuple[Recorded, ...]:
        """The newest events, in order."""
        return tuple(map(_recorded, reversed(self._rows("latest_events", limit))))

    def commits_on(self, path: str, limit: int) -> tuple[tuple[Recorded, Committed], ...]:
        """The newest commits on a path, newest first."""
        return _commits(self._rows("commits_on", path, limit))

    def commits_below(self, folder: str, limit: int) -> tuple[tuple[Recorded, Committed], ...]:
        """The newest commits on paths that begin with `folder`, newest first."""
        end = folder[:-1] + _AFTER_SLASH if folder else _LAST
        return _commits(self._rows("commits_between", folder, end, limit))

    def latest_commits(self, limit: int) -> tuple[tuple[Recorded, Committed], ...]:
        """The newest commits, newest first."""
        return _commits(self._rows("latest_commits", limit))

    def debts(self) -> tuple[Debt, ...]:
        """The open debts, by key."""
        return tuple(
            Debt(key, holder, why, worktree, codec.decode(since, tuple[int, ...]), evidence)
            for key, holder, why, worktree, since, evidence in self._rows("all_debts")
        )

    def missing(self, hashes: Iterable[str]) -> tuple[str, ...]:
        """Those hashes under which nothing is kept."""
        return tuple(row[0] for row in self._rows("missing_contents", json_text(list(hashes))))

    def content(self, content_hash: str) -> bytes | None:
        """Kept bytes."""
        row = self._one("content", content_hash)
        try:
            return zlib.decompress(row[0]) if row else None
        except zlib.error as fault:
            raise apsw.CorruptError(f"the content {content_hash} cannot be unpacked: {fault}") from fault

    def contents_like(self, prefix: str) -> tuple[str, ...]:
        """Up to two kept hashes that begin with `prefix`."""
        return tuple(row[0] for row in self._rows("contents_like", prefix, prefix + "g"))

    def answer(self, holder: str, request_id: str) -> StoredAnswer | None:
        """The first answer to a request."""
        row = self._one("answer", holder, request_id)
        return StoredAnswer(row[0], kept_answers.decode_answer(row[1], row[2])) if row else None

    def journals(self) -> tuple[Journal, ...]:
        """Commits begun and not ended."""
        return tuple(_journal(*row) for row in self._rows("journals"))

    def sightings(self, holder: str, worktree: str, keys: Iterable[str]) -> tuple[Sighting, ...]:
        """The versions of `keys` that a session last read."""
        return tuple(Sighting(*row) for row in self._rows("sightings", holder, worktree, json_text(list(keys))))

    def seen_by_others(self, holder: str, worktree: str, keys: Iterable[str]) -> tuple[tuple[str, Sighting], ...]:
        """Return the last reads of `keys` by all other sessions."""
        rows = self._rows("seen_by_others", holder, worktree, json_text(list(keys)))
        return tuple((who, Sighting(*seen)) for who, *seen in rows)

    def seen(self, worktree: str) -> tuple[str, ...]:
        """Return all keys that any session has read."""
        return tuple(key for (key,) in self._rows("seen", worktree))

    def overtaken(self, holder: str, worktree: str) -> tuple[StaleRead, ...]:
        """The regions and files that a session has read and others have changed since."""
        return self._bodies("overtaken", StaleRead, holder, worktree) if self._may_hold("overtaken") else ()

    def record(self, events: Iterable[Event], at: float) -> None:
        """Append events, and apply them to the tables."""
        for event in events:
            sequence = self.next_sequence
            kind, encoded = codec.encode_event(event)
            body = encoded.decode()
            self._hash = next_hash(self._hash_before(), sequence, at, kind, encoded)
            self._run("add_event", sequence, at, kind, holder_of(event), lease_id_of(event), body, self._hash)
            self._next_sequence = sequence + 1
            self.newest = sequence, at
            recorded = Recorded(sequence, at, event)
            project = _PROJECTIONS.get(type(event))
            if project:
                for name, values in project(self, event, recorded, body):
                    self._run(name, *values)
            self.follow(recorded)

    def _hash_before(self) -> bytes:
        """Return the hash of the newest event."""
        if self._hash is None:
            row = self._one("last_hash")
            self._hash = (row[0] if row else None) or START
        return self._hash

    @property
    def changes(self) -> int:
        """How many rows were written through this connection since it was opened."""
        return self._connection.total_changes()

    def skip_to(self, sequence: int) -> None:
        """Give the next event this number, if those up to it are not taken yet."""
        self._next_sequence = max(self.next_sequence, sequence)

    def follow(self, recorded: Recorded) -> None:
        """Take note of an event that was just recorded."""

    def remember(self, holder: str, request_id: str, answer: StoredAnswer, at: float) -> None:
        """Store the first answer to a request."""
        kind, body = kept_answers.encode_answer(answer.answer)
        self._run("add_answer", holder, request_id, at, answer.fingerprint, kind, body.decode())

    def keep(self, contents: Iterable[tuple[str, bytes]], at: float) -> None:
        """Store bytes by hash; the time of bytes that are there already is updated."""
        for content_hash, data in contents:
            self._run("touch_content", at, content_hash)
            if not self._connection.changes():
                self._run("keep_content", content_hash, at, zlib.compress(data, _COMPRESSION_LEVEL))

    def drop_before(self, contents_at: float, answers_at: float) -> None:
        """Forget contents, reads and answers that were last stored before these wall times."""
        for name in ("drop_contents", "drop_sightings", "drop_overtaken", "drop_messages"):
            self._run(name, contents_at)
        self._run("drop_answers", answers_at)

    def see(self, holder: str, worktree: str, sightings: Iterable[Sighting], at: float) -> None:
        """Store the versions that a session read."""
        for each in sightings:
            self._run("see", holder, worktree, each.key, each.hash, each.sequence, each.lines, at)

    def overtake(self, found: Iterable[StaleRead], at: float) -> None:
        """Store changes to regions that were read; forget settled ones."""
        for each in found:
            place_ = each.holder, each.worktree, each.key
            if each.is_over:
                self._run("end_overtaken", *place_)
            else:
                self._run("overtake", *place_, at, codec.encode(each).decode())

    def presences(self, worktree: str) -> tuple[Presence, ...]:
        """The sessions at work in a working tree."""
        return self._bodies("presences", Presence, worktree)

    def attend(self, presence: Presence) -> None:
        """Record that a session is at work."""
        self._run("attend", presence.holder, presence.worktree, codec.encode(presence).decode())

    def end_session(self, holder: str, worktree: str) -> None:
        """Forget that a session is at work."""
        self._run("end_session", holder, worktree)

    def messages(self, holder: str, worktree: str) -> tuple[Message, ...]:
        """The messages that wait for a session in a working tree."""
        return self._bodies("messages", Message, holder, worktree)

    def send(self, messages: Iterable[Message]) -> None:
        """Queue messages for sessions, each to be delivered once."""
        for each in messages:
            self._run("send", each.holder, each.worktree, each.text, each.at, codec.encode(each).decode())

    def end_messages(self, messages: Iterable[Message]) -> None:
        """Delete delivered messages."""
        for each in messages:
            self._run("end_message", each.holder, each.worktree, each.text)

    def proposals(self, worktree: str) -> tuple[Proposal, ...]:
        """The proposed writes in a working tree."""
        return self._bodies("proposals", Proposal, worktree)

    def propose(self, proposals: Iterable[Proposal]) -> None:
        """Store the writes that tools are about to make."""
        for each in proposals:
            self._run("propose", each.worktree, each.path, each.holder, each.call, codec.encode(each).decode())

    def withdraw(self, proposals: Iterable[Proposal]) -> None:
        """Forget proposals that were written, or never will be."""
        for each in proposals:
            self._run("withdraw", each.worktree, each.path, each.holder, each.call)

    def begin(self, root: str, holder: str, intent: str, writes: Sequence[Write]) -> Journal:
        """Record a commit before its first file is touched."""
        draft = Journal(0, root, holder, intent, tuple(writes))
        (row,) = self._rows("begin_journal", codec.encode(draft).decode())
        return replace(draft, id=row[0])

    def end(self, journal_id: int) -> None:
        """Remove a commit from the journal."""
        self._run("end_journal", journal_id)


def json_text(texts: list[str]) -> str:
    """Return a JSON list, as a statement takes it."""
    return codec.encode(texts).decode()


def _in_order(rows: Sequence[tuple[Any, ...]]) -> tuple[Lease, ...]:
    """The leases in rows of fence and body, each once, oldest first."""
    return tuple(codec.decode(body, Lease) for _, body in sorted(set(rows))) if rows else ()


def _recorded(row: tuple[Any, ...]) -> Recorded:
    sequence, at, kind, body = row
    return Recorded(sequence, at, codec.decode_event(kind, body))


def _commits(rows: Iterable[tuple[Any, ...]]) -> tuple[tuple[Recorded, Committed], ...]:
    recorded = (Recorded(sequence, at, _known_event(kind, body)) for sequence, at, kind, body in rows)
    return tuple((each, each.event) for each in recorded if isinstance(each.event, Committed))


@lru_cache(maxsize=64)
def _known_event(kind: str, body: str) -> Event:
    """Decode an event, cached: a commit of thousands of files is read once for each of them."""
    return codec.decode_event(kind, body)


def _journal(journal_id: int, body: str) -> Journal:
    return replace(codec.decode(body, Journal), id=journal_id)


def _on_granted(session: SqliteSession, event: LeaseGranted, _: Recorded, body: str) -> Iterable[Statement]:
    lease, until = event.lease, event.lease.deadline
    lease_body = codec.only_part(body, "lease")
    yield "add_lease", (lease.fence, lease.id, lease.holder, until.epoch, until.ticks, lease_body)
    for key in lease.keys:
        yield "add_lease_key", (place(canonical(key)), lease.fence)
    if session.has_waiters:
        yield "end_waiter", (lease.id,)


def _on_changed(session: SqliteSession, event: Change, recorded: Recorded, *__: object) -> Iterable[Statement]:
    before = session.lease(event.lease_id)
    if before is not None:
        lease = changed_lease(before, event, recorded.sequence)
        until, body = lease.deadline, codec.encode(lease).decode()
        yield "set_lease", (lease.fence, lease.holder, until.epoch, until.ticks, body, lease.id)


def _on_released(_: SqliteSession, event: LeaseReleased, *__: object) -> Iterable[Statement]:
    yield "end_lease", (event.lease_id,)


def _on_lost(_: SqliteSession, event: LeaseExpired | LeaseBroken, *__: object) -> Iterable[Statement]:
    yield "lose_lease", (event.lease_id,)
    yield "end_lease", (event.lease_id,)


def _on_queued(_: SqliteSession, event: LeaseQueued, *__: object) -> Iterable[Statement]:
    yield "add_waiter", (event.waiter.number, event.waiter.id, codec.encode(event.waiter).decode())


def _on_seen(session: SqliteSession, event: WaiterSeen, *__: object) -> Iterable[Statement]:
    before = session.waiter(event.lease_id)
    if before is not None:
        waiter = replace(before, deadline=event.deadline)
        yield "add_waiter", (waiter.number, waiter.id, codec.encode(waiter).decode())


def _on_left_the_line(_: SqliteSession, event: WaiterLeft, *__: object) -> Iterable[Statement]:
    yield "end_waiter", (event.lease_id,)


def _on_put(_: SqliteSession, event: ValuePut, recorded: Recorded, *__: object) -> Iterable[Statement]:
    yield "set_value", (event.key, recorded.sequence, event.text, event.holder, recorded.at)


def _on_work_left(session: SqliteSession, event: WorkLeft, recorded: Recorded, *__: object) -> Iterable[Statement]:
    lease = session.lost_lease(event.lease_id)
    if lease is not None and event.changes:
        work = partial_work(lease, event, recorded.at)
        yield "add_work", (lease.id, recorded.sequence, codec.encode(work).decode())
    yield "end_lost", (event.lease_id,)


def _on_reviewed(_: SqliteSession, event: WorkReviewed, *__: object) -> Iterable[Statement]:
    yield "end_work", (event.lease_id,)


def _on_committed(_: SqliteSession, event: Committed, recorded: Recorded, *__: object) -> Iterable[Statement]:
    for change in event.files:
        yield "add_commit", (change.path, recorded.sequence)
    for key in event.settled:
        yield "settle_debt", (event.worktree, key)
    for debt in event.debts:
        since = codec.encode(debt.since).decode()
        yield "add_debt", (debt.key, debt.holder, debt.why, debt.worktree, since, debt.evidence)


def _on_waived(_: SqliteSession, event: DebtWaived, *__: object) -> Iterable[Statement]:
    yield "settle_debt", (event.worktree, event.key)


def _on_task_added(_: SqliteSession, event: TaskAdded, recorded: Recorded, *__: object) -> Iterable[Statement]:
    yield _task(added_record(event, recorded.sequence, recorded.at))


def _on_task_moved(session: SqliteSession, event: TaskMoved, recorded: Recorded, *__: object) -> Iterable[Statement]:
    before = session.task(event.task_id)
    if before is not None:
        yield _task(moved_record(before, event, recorded.at))


def _task(record: TaskRecord) -> Statement:
    return "set_task", (record.id, record.number, int(record.is_final), codec.encode(record).decode())


def _on_run_started(_: SqliteSession, event: RunStarted, recorded: Recorded, *__: object) -> Iterable[Statement]:
    yield _run(started_run(event, recorded.sequence, recorded.at))


def _on_run_planned(session: SqliteSession, event: RunPlanned, recorded: Recorded, *__: object) -> Iterable[Statement]:
    before = session.run(event.run_id)
    if before is not None:
        yield _run(planned_run(before, event))
    for place_, item in enumerate(planned_items(event, recorded.sequence, recorded.at)):
        yield "add_run_item", (item.run_id, item.task_id, item.number, place_, codec.encode(item).decode())


def _on_run_moved(session: SqliteSession, event: RunMoved, recorded: Recorded, *__: object) -> Iterable[Statement]:
    before = session.run(event.run_id)
    if before is not None:
        yield _run(moved_run(before, event, recorded.at))


def _run(record: RunRecord) -> Statement:
    return "set_run", (record.id, record.number, codec.encode(record).decode())


def _on_item_moved(session: SqliteSession, event: ItemMoved, recorded: Recorded, *__: object) -> Iterable[Statement]:
    before = session.run_item(event.run_id, event.task_id)
    if before is not None:
        moved = moved_item(before, event, recorded.sequence, recorded.at)
        yield "set_run_item", (codec.encode(moved).decode(), moved.run_id, moved.task_id)


def _on_entry_added(_: SqliteSession, event: EntryAdded, recorded: Recorded, *__: object) -> Iterable[Statement]:
    yield _entry(added_entry(event, recorded.sequence, recorded.at))


def _on_entry_moved(session: SqliteSession, event: EntryMoved, recorded: Recorded, *__: object) -> Iterable[Statement]:
    before = session.entry(event.entry_id)
    if before is not None:
        yield _entry(moved_entry(before, event, recorded.sequence, recorded.at))


def _entry(record: EntryRecord) -> Statement:
    found_by = (record.id, record.number, int(record.is_final), record.entry.commit, record.entry.onto)
    return "set_entry", (*found_by, record.landed_at, codec.encode(record).decode())


def _on_session_queued(_: SqliteSession, event: SessionQueued, recorded: Recorded, *__: object) -> Iterable[Statement]:
    yield _managed_session(queued_session(event, recorded.sequence, recorded.at))


def _on_session_moved(
    session: SqliteSession, event: SessionMoved, recorded: Recorded, *__: object
) -> Iterable[Statement]:
    before = session.managed_session(event.session_id)
    if before is not None:
        yield _managed_session(moved_session(before, event, recorded.sequence, recorded.at))


def _managed_session(record: ManagedSessionRecord) -> Statement:
    found_by = record.id, record.number, int(record.is_final), record.session.tenant, record.claimed
    return "set_managed_session", (*found_by, codec.encode(record).decode())


# The statements, with their values, that apply an event to the tables, which is also given as it was recorded, and in
# JSON. Other events change no table.
_PROJECTIONS: Final[dict[type[Event], Callable[[SqliteSession, Any, Recorded, str], Iterable[Statement]]]] = {
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
