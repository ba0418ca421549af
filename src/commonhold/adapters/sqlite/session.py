"""Reading and writing inside one transaction."""

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, Final

import apsw

from commonhold.adapters.sqlite.statements import load
from commonhold.app.ports import Journal, StoredAnswer, Write
from commonhold.domain.clock import Deadline, Now
from commonhold.domain.events import (
    Committed,
    Debt,
    Event,
    LeaseExpired,
    LeaseGranted,
    LeaseReleased,
    LeaseRenewed,
    Recorded,
    holder_of,
    lease_id_of,
)
from commonhold.domain.keys import FILE, Key, canonical
from commonhold.domain.lease import Lease
from commonhold.domain.modes import Mode
from commonhold.wire import codec

Value = str | bytes | int | float | None
Statement = tuple[str, tuple[Value, ...]]
_SEPARATOR: Final = "\x1f"
_AFTER_SEPARATOR: Final = "\x20"
_AFTER_SLASH: Final = "0"
_LAST: Final = "\U0010ffff"
_COMPRESSION_LEVEL: Final = 1
_SQL: Final = load()


class SqliteSession:
    """A transaction on one connection: what the ports call Reader and Writer."""

    def __init__(self, connection: apsw.Connection) -> None:
        """Speak through `connection`, which is inside a transaction."""
        self._connection = connection
        self._execute = connection.execute
        self._next_sequence = 0

    def _rows(self, name: str, *values: Value) -> list[tuple[Any, ...]]:
        return self._execute(_SQL[name], values).fetchall()

    def _run(self, name: str, *values: Value) -> None:
        self._execute(_SQL[name], values)

    def _one(self, name: str, *values: Value) -> tuple[Any, ...] | None:
        return next(iter(self._rows(name, *values)), None)

    @property
    def next_sequence(self) -> int:
        """The number that the next event will have."""
        if not self._next_sequence:
            ((self._next_sequence,),) = self._rows("next_sequence")
        return self._next_sequence

    def leases(self) -> tuple[Lease, ...]:
        """All leases that have not ended in the log."""
        return tuple(map(_lease, self._rows("all_leases")))

    def lease(self, lease_id: str) -> Lease | None:
        """One lease by its id."""
        row = self._one("lease_by_id", lease_id)
        return _lease(row) if row else None

    def expired(self, now: Now) -> tuple[Lease, ...]:
        """Leases whose time is over."""
        rows = self._rows("expired_leases", now.epoch, now.ticks)
        return tuple(map(_lease, rows)) if rows else ()

    def overlapping(self, keys: Sequence[Key]) -> tuple[Lease, ...]:
        """Leases at the keys' places, above them, and (for folders and free keys) below them."""
        above = codec.encode([near for key in keys for near in places(key)]).decode()
        rows = self._rows("leases_at_places", above)
        for key in keys:
            if key.is_folder or key.scheme != FILE:
                start = place(key) + _SEPARATOR
                rows += self._rows("leases_below", start, start[:-1] + _AFTER_SEPARATOR)
        return tuple(map(_lease, sorted(set(rows)))) if rows else ()

    def events(self, *, after: int = 0, limit: int = 1000, lease_id: str | None = None) -> tuple[Recorded, ...]:
        """Events above a sequence, of all leases or of one."""
        if lease_id is None:
            return tuple(map(_recorded, self._rows("events_after", after, limit)))
        return tuple(map(_recorded, self._rows("events_of_lease", lease_id, after, limit)))

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
        return tuple(Debt(*row) for row in self._rows("all_debts"))

    def missing(self, hashes: Iterable[str]) -> tuple[str, ...]:
        """Those hashes under which nothing is kept."""
        return tuple(row[0] for row in self._rows("missing_contents", codec.encode(list(hashes)).decode()))

    def content(self, content_hash: str) -> bytes | None:
        """Kept bytes."""
        row = self._one("content", content_hash)
        return zlib.decompress(row[0]) if row else None

    def contents_like(self, prefix: str) -> tuple[str, ...]:
        """Up to two kept hashes that begin with `prefix`."""
        return tuple(row[0] for row in self._rows("contents_like", prefix, prefix + "g"))

    def answer(self, holder: str, request_id: str) -> StoredAnswer | None:
        """The first answer to a request."""
        row = self._one("answer", holder, request_id)
        return StoredAnswer(row[0], codec.decode_answer(row[1], row[2])) if row else None

    def journals(self) -> tuple[Journal, ...]:
        """Commits begun and not ended."""
        return tuple(_journal(*row) for row in self._rows("journals"))

    def record(self, events: Iterable[Event], at: float) -> None:
        """Append events and bring the tables up to them."""
        for event in events:
            sequence = self.next_sequence
            kind, body = codec.encode_event(event)
            self._run("add_event", sequence, at, kind, holder_of(event), lease_id_of(event), body.decode())
            self._next_sequence = sequence + 1
            project = _PROJECTIONS.get(type(event))
            if project:
                for name, values in project(event, sequence):
                    self._execute(_SQL[name], values)

    def remember(self, holder: str, request_id: str, answer: StoredAnswer, at: float) -> None:
        """Keep the first answer to a request."""
        kind, body = codec.encode_answer(answer.answer)
        self._run("add_answer", holder, request_id, at, answer.fingerprint, kind, body.decode())

    def keep(self, contents: Iterable[tuple[str, bytes]], at: float) -> None:
        """Keep bytes by hash; bytes that are there already are only marked as kept anew."""
        for content_hash, data in contents:
            self._run("touch_content", at, content_hash)
            if not self._connection.changes():
                self._run("keep_content", content_hash, at, zlib.compress(data, _COMPRESSION_LEVEL))

    def drop_before(self, contents_at: float, answers_at: float) -> None:
        """Forget contents and answers that were last kept before these wall times."""
        self._run("drop_contents", contents_at)
        self._run("drop_answers", answers_at)

    def begin(self, root: str, holder: str, intent: str, writes: Sequence[Write]) -> Journal:
        """Write a commit down before its first file is touched."""
        draft = Journal(0, root, holder, intent, tuple(writes))
        (row,) = self._rows("begin_journal", codec.encode(draft).decode())
        return replace(draft, id=row[0])

    def end(self, journal_id: int) -> None:
        """Strike a commit out of the journal."""
        self._run("end_journal", journal_id)


def place(key: Key) -> str:
    """Where a lease on `key` is looked up: its scheme and path."""
    return _SEPARATOR.join((key.scheme, *key.path))


def places(key: Key) -> Iterable[str]:
    """The place of `key` and of everything above it."""
    return accumulate((key.scheme, *key.path), _below)


def _below(above: str, part: str) -> str:
    return f"{above}{_SEPARATOR}{part}"


def _lease(row: tuple[Any, ...]) -> Lease:
    fence, lease_id, holder, task, keys, mode, acquisition_id, granted_at, epoch, ticks, expires_at = row
    return Lease(
        lease_id,
        fence,
        holder,
        task,
        codec.decode_texts(keys),
        Mode(mode),
        acquisition_id,
        granted_at,
        Deadline(epoch, ticks, expires_at),
    )


def _recorded(row: tuple[Any, ...]) -> Recorded:
    sequence, at, kind, body = row
    return Recorded(sequence, at, codec.decode_event(kind, body))


def _commits(rows: Iterable[tuple[Any, ...]]) -> tuple[tuple[Recorded, Committed], ...]:
    recorded = map(_recorded, rows)
    return tuple((each, each.event) for each in recorded if isinstance(each.event, Committed))


def _journal(journal_id: int, body: str) -> Journal:
    return replace(codec.decode(body, Journal), id=journal_id)


def _on_granted(event: LeaseGranted, _sequence: int) -> Iterable[Statement]:
    lease, until = event.lease, event.lease.deadline
    keys = codec.encode(lease.keys).decode()
    what = (lease.fence, lease.id, lease.holder, lease.task, keys, lease.mode.value)
    when = (lease.acquisition_id, lease.granted_at, until.epoch, until.ticks, until.wall)
    yield "add_lease", what + when
    for key in lease.keys:
        yield "add_lease_key", (place(canonical(key)), lease.fence)


def _on_renewed(event: LeaseRenewed, _sequence: int) -> Iterable[Statement]:
    until = event.deadline
    yield "set_deadline", (until.epoch, until.ticks, until.wall, event.lease_id)


def _on_ended(event: LeaseReleased | LeaseExpired, _sequence: int) -> Iterable[Statement]:
    yield "end_lease", (event.lease_id,)


def _on_committed(event: Committed, sequence: int) -> Iterable[Statement]:
    for change in event.files:
        yield "add_commit", (change.path, sequence)
    for key in event.settled:
        yield "settle_debt", (event.worktree, key)
    for debt in event.debts:
        yield "add_debt", (debt.key, debt.holder, debt.why, debt.worktree)


# The statements, with their values, that bring the tables up to an event. Other events change no table.
_PROJECTIONS: Final[dict[type[Event], Callable[[Any, int], Iterable[Statement]]]] = {
    LeaseGranted: _on_granted,
    LeaseRenewed: _on_renewed,
    LeaseReleased: _on_ended,
    LeaseExpired: _on_ended,
    Committed: _on_committed,
}
