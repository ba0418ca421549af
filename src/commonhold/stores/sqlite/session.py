"""Reading and writing inside one transaction."""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import apsw

from commonhold.kernel.events import Event, LogCompacted, Recorded, holder_of, lease_id_of
from commonhold.kernel.files import Journal, Write
from commonhold.kernel.hash_chain import START, next_hash
from commonhold.kernel.lease_ports import StoredAnswer
from commonhold.kernel.options import ANSWER_RETENTION_SECONDS, ANSWERS_DROPPED_AT_ONCE
from commonhold.kernel.presence import Message, Presence, Proposal
from commonhold.kernel.read_set import Sighting, StaleRead
from commonhold.stores import codec, kept_answers
from commonhold.stores.sqlite.projection import PROJECTIONS
from commonhold.stores.sqlite.reader import SPARSE, SQL, SqliteReader, Value
from commonhold.stores.statements import table_written

_COMPRESSION_LEVEL: Final = 1
_FILLS: Final = {name: table for name, sql in SQL.items() if (table := table_written(sql)) in SPARSE}


class SqliteSession(SqliteReader):
    """A transaction on one connection, for the ports Reader and Writer."""

    def __init__(self, connection: apsw.Connection, *, is_for_writing: bool = True) -> None:
        """Speak through `connection`, which is inside a transaction."""
        super().__init__(connection)
        self.is_for_writing = is_for_writing
        self._hash: bytes | None = None
        self.newest: tuple[int, float] | None = None
        """The number and the wall time of the event that was recorded last."""

    def _run(self, name: str, *values: Value) -> None:
        self._execute(SQL[name], values)
        if self._filled is not None and name in _FILLS:
            self._filled.add(_FILLS[name])

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
            project = PROJECTIONS.get(type(event))
            if project:
                for name, values in project(self, event, recorded, body):
                    self._run(name, *values)
            self.follow(recorded)

    def compact(self, compacted: LogCompacted, snapshot: bytes, at: float) -> None:
        """Keep a snapshot in place of events."""
        number = self.next_sequence
        self.record([compacted], at)
        self._run("drop_snapshot")
        self._run("add_snapshot", compacted.last, number, zlib.compress(snapshot, _COMPRESSION_LEVEL))
        self._run("drop_commits", compacted.last)
        self._run("drop_events", compacted.last)

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
        """Store the first answer to a request, and drop a few that are so old that no client asks for them."""
        kind, body = kept_answers.encode_answer(answer.answer)
        self._run("add_answer", holder, request_id, at, answer.fingerprint, kind, body.decode())
        self._run("drop_old_answers", at - ANSWER_RETENTION_SECONDS, ANSWERS_DROPPED_AT_ONCE)

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

    def attend(self, presence: Presence) -> None:
        """Record that a session is at work."""
        self._run("attend", presence.holder, presence.worktree, codec.encode(presence).decode())

    def end_session(self, holder: str, worktree: str) -> None:
        """Forget that a session is at work."""
        self._run("end_session", holder, worktree)

    def send(self, messages: Iterable[Message]) -> None:
        """Queue messages for sessions, each to be delivered once."""
        for each in messages:
            self._run("send", each.holder, each.worktree, each.text, each.at, codec.encode(each).decode())

    def end_messages(self, messages: Iterable[Message]) -> None:
        """Delete delivered messages."""
        for each in messages:
            self._run("end_message", each.holder, each.worktree, each.text)

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
