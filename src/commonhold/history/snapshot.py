"""The state after an event, kept in place of all events up to it, and the beginning of the log that is left."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Final

import msgspec

from commonhold.history.answers import Difference
from commonhold.history.ledger import ENDS
from commonhold.kernel.entry import EntryRecord
from commonhold.kernel.events import LogCompacted, Recorded
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.managed_session import ManagedSessionRecord
from commonhold.kernel.obligations import Debt
from commonhold.kernel.partial_work import PartialWork
from commonhold.kernel.ports import TaskReader
from commonhold.kernel.projection import State, apply
from commonhold.kernel.run import ItemRecord, RunRecord
from commonhold.kernel.task import TaskRecord
from commonhold.kernel.values import Value
from commonhold.machine.decoding import from_json

REMEMBERED_SECONDS: Final = 60.0
"""How long before the newest event a lease may have ended that a commit names: its files take so long to be written."""
CHANGED: Final = "the snapshot was changed: it is not the one whose digest this event has"
Ended = tuple[float, Lease]
"""A lease with the Unix time at which its end was recorded."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state after the event `sequence`, and the leases that `ended` shortly before, with the times of their ends.

    It has no commits: those of the deleted events cannot be looked up any more.
    """

    sequence: int
    leases: tuple[Lease, ...]
    waiters: tuple[Waiter, ...]
    lost: tuple[Lease, ...]
    works: tuple[PartialWork, ...]
    values: tuple[Value, ...]
    debts: tuple[Debt, ...]
    tasks: tuple[TaskRecord, ...]
    runs: tuple[RunRecord, ...]
    run_items: tuple[ItemRecord, ...]
    entries: tuple[EntryRecord, ...]
    managed_sessions: tuple[ManagedSessionRecord, ...]
    ended: tuple[Ended, ...]

    def state(self) -> State:
        """Return the state."""
        return State(
            self.sequence,
            {each.id: each for each in self.leases},
            {each.id: each for each in self.waiters},
            {each.id: each for each in self.lost},
            {each.lease_id: each for each in self.works},
            {each.key: each for each in self.values},
            {each.place: each for each in self.debts},
            {},
            {each.id: each for each in self.tasks},
            {each.id: each for each in self.runs},
            {(each.run_id, each.task_id): each for each in self.run_items},
            {each.id: each for each in self.entries},
            {each.id: each for each in self.managed_sessions},
        )


class Progress:
    """The state after the events of a log so far, and the leases that have `ended`, by id."""

    def __init__(self, snapshot: Snapshot | None = None) -> None:
        """Begin after a snapshot, or with the empty state."""
        self.state = snapshot.state() if snapshot else State()
        self.ended: dict[str, Ended] = {each.id: (at, each) for at, each in snapshot.ended} if snapshot else {}

    def apply(self, recorded: Recorded) -> None:
        """Apply the next event. Raises KeyError for one that does not fit the state."""
        if isinstance(recorded.event, ENDS):
            lease_id = recorded.event.lease_id
            self.ended[lease_id] = (recorded.at, self.state.leases[lease_id])
        self.state = apply(self.state, recorded)

    def snapshot(self, at: float) -> bytes:
        """Return the snapshot of the present state, whose last event was recorded at the Unix time `at`, as JSON."""
        self.ended = {name: each for name, each in self.ended.items() if each[0] >= at - REMEMBERED_SECONDS}
        state = self.state
        kept = Snapshot(
            state.sequence,
            tuple(state.leases.values()),
            tuple(state.waiters.values()),
            tuple(state.lost.values()),
            tuple(state.works.values()),
            tuple(state.values.values()),
            tuple(state.debts.values()),
            tuple(state.tasks.values()),
            tuple(state.runs.values()),
            tuple(state.run_items.values()),
            tuple(state.entries.values()),
            tuple(state.managed_sessions.values()),
            tuple(self.ended.values()),
        )
        return msgspec.json.encode(kept)


def digest_of(snapshot: bytes) -> str:
    """Return the digest by which an event names a snapshot."""
    return sha256(snapshot).hexdigest()


@dataclass(frozen=True, slots=True)
class Beginning:
    """The beginning of a log: after a snapshot, which the event `compaction` names; both None if all events are there.

    `fault` says where a snapshot was changed; the snapshot is None then.
    """

    snapshot: Snapshot | None = None
    compaction: Recorded | None = None
    fault: Difference | None = None

    @property
    def after(self) -> int:
        """The number of the event that the log begins after."""
        event = self.compaction.event if self.compaction else None
        return event.last if isinstance(event, LogCompacted) else 0

    @property
    def hash(self) -> bytes | None:
        """The hash of that event; None if it had none, or no event is missing."""
        event = self.compaction.event if self.compaction else None
        return bytes.fromhex(event.hash) if isinstance(event, LogCompacted) and event.hash else None


def beginning_of(reader: TaskReader) -> Beginning:
    """Return the beginning of the log that `reader` shows."""
    compaction, body = reader.compaction(), reader.snapshot()
    if compaction is None:
        return Beginning(fault=Difference(0, "there is a snapshot that no event names") if body else None)
    event = compaction.event
    if not isinstance(event, LogCompacted) or digest_of(body) != event.digest:
        return Beginning(None, compaction, Difference(compaction.sequence, CHANGED))
    return Beginning(from_json(body, Snapshot), compaction)
