"""Reading inside one transaction."""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, TypeVar

import apsw
import msgspec

from commonhold.kernel.clock import Now
from commonhold.kernel.commands import Command, RecordPartialWork, Review
from commonhold.kernel.entry import UNLIMITED, EntryRecord, Landings
from commonhold.kernel.events import (
    Committed,
    Event,
    Recorded,
)
from commonhold.kernel.files import Journal
from commonhold.kernel.hash_chain import ChainLink
from commonhold.kernel.keys import Key, canonical
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.lease_ports import StoredAnswer
from commonhold.kernel.lease_table import LeaseTable
from commonhold.kernel.managed_session import ALL_SESSIONS, ManagedSessionRecord, SessionChoice
from commonhold.kernel.obligations import Debt
from commonhold.kernel.partial_work import PartialWork
from commonhold.kernel.presence import Message, Presence, Proposal
from commonhold.kernel.read_set import Sighting, StaleRead
from commonhold.kernel.run import (
    ItemRecord,
    RunRecord,
)
from commonhold.kernel.task import TaskRecord
from commonhold.kernel.values import Value as KeyValue
from commonhold.leases.decide import keys_of, most_ended_beside, value_keys_of
from commonhold.stores import codec, kept_answers
from commonhold.stores.places import AFTER_SEPARATOR, SEPARATOR, place, places
from commonhold.stores.sqlite.statements import load

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
T = TypeVar("T")
Value = str | bytes | int | float | None
_AFTER_SLASH: Final = "0"
_LAST: Final = "\U0010ffff"
SQL: Final = load()
SPARSE: Final = ("waiters", "lost", "overtaken")
"""Tables that are usually empty, in the order of the query for signs."""


class SqliteReader:
    """A transaction on one connection, for the port Reader."""

    def __init__(self, connection: apsw.Connection) -> None:
        """Speak through `connection`, which is inside a transaction."""
        self._connection = connection
        self._execute = connection.execute
        self._next_sequence = 0
        self._filled: set[str] | None = None

    def _rows(self, name: str, *values: Value) -> list[tuple[Any, ...]]:
        try:
            return self._execute(SQL[name], values).fetchall()
        except UnicodeDecodeError as fault:  # SQLite does not check texts
            raise _unreadable(fault) from fault

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
        self._filled = {table for table, is_filled in zip(SPARSE, signs, strict=True) if is_filled}
        return self._filled

    def table(self, command: Command[Any], now: Now) -> LeaseTable:
        """The part of the state that a decision needs."""
        waiters = self.waiters()
        keys = [*keys_of(command), *(canonical(key) for waiter in waiters for key in waiter.keys)]
        lease_id, value_keys = getattr(command, "lease_id", ""), value_keys_of(command)
        named = json_text([lease_id, getattr(command, "replaces", None) or ""])
        holders = json_text(sorted({command.holder, *(waiter.holder for waiter in waiters)}))
        rows = self._rows(
            "leases_concerned", named, holders, now.epoch, now.ticks, most_ended_beside(command)
        ) + self._near(keys)
        return LeaseTable(
            _in_order(rows),
            self.next_sequence,
            waiters,
            tuple(KeyValue(*row) for row in self._rows("values", json_text(list(value_keys)))) if value_keys else (),
            self._body("lost_by_id", Lease, lease_id) if isinstance(command, RecordPartialWork) else None,
            self._body("work_by_id", PartialWork, lease_id) if isinstance(command, Review) else None,
        )

    def _bodies(self, name: str, kind: type[B], *values: Value) -> tuple[B, ...]:
        rows = self._rows(name, *values)
        return tuple(_decode(row[0], kind) for row in rows) if rows else ()

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

    def managed_sessions(self, choice: SessionChoice = ALL_SESSIONS) -> tuple[ManagedSessionRecord, ...]:
        """The managed sessions that are chosen, oldest first."""
        filters = (
            choice.is_open,
            choice.state.value if choice.state else "",
            choice.task_id,
            choice.tenant,
            choice.since,
        )
        found = self._bodies("managed_sessions_before", ManagedSessionRecord, *filters, choice.before, choice.limit)
        return found[::-1]

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

    def links(self, *, after: int = 0, limit: int = 1000) -> tuple[ChainLink, ...]:
        """Events above a sequence, with their hashes."""
        return tuple(ChainLink(*row) for row in self._rows("links", after, limit))

    def latest(self, limit: int) -> tuple[Recorded, ...]:
        """The newest events, in order."""
        return tuple(map(_recorded, reversed(self._rows("latest_events", limit))))

    def compaction(self) -> Recorded | None:
        """The event that says up to which event a snapshot stands for the log."""
        row = self._one("compaction")
        return _recorded(row) if row else None

    def snapshot(self) -> bytes:
        """The snapshot in place of the oldest events."""
        row = self._one("snapshot")
        try:
            return zlib.decompress(row[0]) if row else b""
        except zlib.error as fault:
            raise apsw.CorruptError(f"the snapshot cannot be unpacked: {fault}") from fault

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
            Debt(key, holder, why, worktree, _decode(since, tuple[int, ...]), evidence)
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
        return tuple(replace(_decode(body, Journal), id=number) for number, body in self._rows("journals"))

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

    def presences(self, worktree: str) -> tuple[Presence, ...]:
        """The sessions at work in a working tree."""
        return self._bodies("presences", Presence, worktree)

    def messages(self, holder: str, worktree: str) -> tuple[Message, ...]:
        """The messages that wait for a session in a working tree."""
        return self._bodies("messages", Message, holder, worktree)

    def proposals(self, worktree: str) -> tuple[Proposal, ...]:
        """The proposed writes in a working tree."""
        return self._bodies("proposals", Proposal, worktree)


def json_text(texts: list[str]) -> str:
    """Return a JSON list, as a statement takes it."""
    return codec.encode(texts).decode()


def _in_order(rows: Sequence[tuple[Any, ...]]) -> tuple[Lease, ...]:
    """The leases in rows of fence and body, each once, oldest first."""
    return tuple(_decode(body, Lease) for _, body in sorted(set(rows))) if rows else ()


def _recorded(row: tuple[Any, ...]) -> Recorded:
    sequence, at, kind, body = row
    return Recorded(sequence, at, _decode_event(kind, body))


def _commits(rows: Iterable[tuple[Any, ...]]) -> tuple[tuple[Recorded, Committed], ...]:
    recorded = (Recorded(sequence, at, _known_event(kind, body)) for sequence, at, kind, body in rows)
    return tuple((each, each.event) for each in recorded if isinstance(each.event, Committed))


@lru_cache(maxsize=64)
def _known_event(kind: str, body: str) -> Event:
    """Decode an event, cached: a commit of thousands of files is read once for each of them."""
    return _decode_event(kind, body)


def _decode(body: str, kind: type[T]) -> T:
    try:
        return codec.decode(body, kind)
    except msgspec.DecodeError as fault:
        raise _unreadable(fault) from fault


def _decode_event(kind: str, body: str) -> Event:
    try:
        return codec.decode_event(kind, body)
    except (KeyError, msgspec.DecodeError) as fault:
        raise _unreadable(fault) from fault


def _unreadable(fault: Exception) -> apsw.CorruptError:
    return apsw.CorruptError(f"a row cannot be read: {fault}")
