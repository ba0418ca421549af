"""Entries of the merge queue as the log records them: changes that are to land on a branch, and what became of them.

`ENTRY_TRANSITIONS` is the only place that says which state follows which; the diagram in docs/landing.md is drawn from
it. An entry names one commit, which is tested and lands, whatever its branch does meanwhile.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final


class EntryState(StrEnum):
    """The states of an entry.

    QUEUED: it waits for a batch. TESTING: it is merged in a batch, whose checks run or have passed. LANDED: its commit
    is part of the branch. RETURNED: it was refused, with a repair packet, or removed.
    """

    QUEUED = "queued"
    TESTING = "testing"
    LANDED = "landed"
    RETURNED = "returned"


class EntryMove(StrEnum):
    """The transitions, each named for its cause.

    UPDATE replaces the commit, after a newer push. APPROVE records that the checks of its batch have passed, and in its
    note what keeps the branch from moving: from then on it cannot be removed. REQUEUE takes it out of a batch, or marks
    it as suspected or held, or no longer.
    """

    UPDATE = "update"
    TEST = "test"
    APPROVE = "approve"
    REQUEUE = "requeue"
    LAND = "land"
    REFUSE = "refuse"
    REMOVE = "remove"


ENTRY_TRANSITIONS: Final[Mapping[tuple[EntryState, EntryMove], EntryState]] = {
    (EntryState.QUEUED, EntryMove.TEST): EntryState.TESTING,
    (EntryState.TESTING, EntryMove.APPROVE): EntryState.TESTING,
    (EntryState.TESTING, EntryMove.LAND): EntryState.LANDED,
    # Its commit is part of the branch already, by another entry or by hand.
    (EntryState.QUEUED, EntryMove.LAND): EntryState.LANDED,
    (EntryState.TESTING, EntryMove.REQUEUE): EntryState.QUEUED,
    (EntryState.QUEUED, EntryMove.REQUEUE): EntryState.QUEUED,
    (EntryState.QUEUED, EntryMove.UPDATE): EntryState.QUEUED,
    (EntryState.TESTING, EntryMove.UPDATE): EntryState.QUEUED,
    (EntryState.QUEUED, EntryMove.REFUSE): EntryState.RETURNED,
    (EntryState.TESTING, EntryMove.REFUSE): EntryState.RETURNED,
    (EntryState.QUEUED, EntryMove.REMOVE): EntryState.RETURNED,
    (EntryState.TESTING, EntryMove.REMOVE): EntryState.RETURNED,
}
UNLIMITED: Final = 2**62
"""More than the number of any event."""
FINAL: Final = frozenset({EntryState.LANDED, EntryState.RETURNED})


class Fault(StrEnum):
    """Why an entry was refused."""

    MERGE_CONFLICT = "MERGE_CONFLICT"
    SEMANTIC_CONFLICT = "SEMANTIC_CONFLICT"
    CHECK_FAILED = "CHECK_FAILED"
    COMMIT_GONE = "COMMIT_GONE"
    MERGE_FAILED = "MERGE_FAILED"


@dataclass(frozen=True, slots=True)
class Entry:
    """A change that is to land: the commit `commit` (its full hash) of `branch`, on the ref `onto`.

    `task` and `session` are ids, and may be empty; `author` is the session that added it. Of two entries the one with
    the higher `priority` goes first. `checks` are commands that the combined tree must pass. `title` is the first line
    of the commit's message.
    """

    id: str
    branch: str
    commit: str
    onto: str
    title: str = ""
    task: str = ""
    session: str = ""
    author: str = ""
    checks: tuple[str, ...] = ()
    priority: int = 0


@dataclass(frozen=True, slots=True)
class RepairConflict:
    """A place that could not be merged, or that does not work with the other side.

    `region` is the qualified name of its definition, empty for a whole file. `text` is the present text of the branch
    there, `changed_by` the newest commits of others on that file, a line each.
    """

    path: str
    why: str
    region: str = ""
    text: str = ""
    changed_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RepairPacket:
    """The report to the author of a refused entry: why, against which `head` of the branch, and where.

    For a failed check, `check` is its command and `output` the end of its output; `beside` are the entries that
    have landed since the commit left the branch: the change may fail only together with them.
    """

    fault: Fault
    why: str
    head: str
    conflicts: tuple[RepairConflict, ...] = ()
    check: str = ""
    output: str = ""
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntryAdded:
    """An entry was added to the queue."""

    holder: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class EntryMoved:
    """An entry changed its state. Fields that the move does not need are empty.

    An UPDATE has the new `commit` and `title`. A TEST has the `batch`, the head `base` that it is built on, `built`,
    the merge commit of this entry, and `tip`, that of the last entry of the batch. An APPROVE of a part of a batch has
    the `tip` of that part. A LAND has `built`. A REQUEUE may have `suspected_in`, the failed batch among whose entries
    the culprit is, and `held_at`, the head of the branch that fails the same checks alone. A REFUSE has the repair
    packet.
    """

    holder: str
    entry_id: str
    move: EntryMove
    note: str = ""
    commit: str = ""
    title: str = ""
    batch: str = ""
    base: str = ""
    built: str = ""
    tip: str = ""
    suspected_in: str = ""
    held_at: str = ""
    packet: RepairPacket | None = None


@dataclass(frozen=True, slots=True)
class EntryRecord:
    """An entry with its state. `number` is the sequence of the event that added it; `since` a Unix time.

    `last` is the sequence of its last event, which a post names to say which state its author has seen. `tests` counts
    the batches that it was in.
    """

    entry: Entry
    number: int
    last: int
    added_by: str
    added_at: float
    since: float
    state: EntryState = EntryState.QUEUED
    note: str = ""
    tests: int = 0
    batch: str = ""
    base: str = ""
    built: str = ""
    tip: str = ""
    is_approved: bool = False
    suspected_in: str = ""
    held_at: str = ""
    packet: RepairPacket | None = None

    @property
    def id(self) -> str:
        """The id of the entry."""
        return self.entry.id

    @property
    def is_final(self) -> bool:
        """Whether it has landed or was returned."""
        return self.state in FINAL

    @property
    def landed_at(self) -> float | None:
        """The Unix time of its landing; None if it has not landed."""
        return self.since if self.state is EntryState.LANDED else None

    def can(self, move: EntryMove) -> bool:
        """Whether the table has this transition from the present state, and no landing under way forbids it."""
        is_landing = self.is_approved and move in (EntryMove.UPDATE, EntryMove.REMOVE, EntryMove.REFUSE)
        return (self.state, move) in ENTRY_TRANSITIONS and not is_landing


@dataclass(frozen=True, slots=True)
class Landings:
    """How many entries have landed on the ref `onto`, and the Unix time of the last landing (None: there is none)."""

    onto: str
    count: int
    last_at: float | None


def added_entry(event: EntryAdded, sequence: int, at: float) -> EntryRecord:
    """Return the record of an entry that the event with this sequence added at a Unix time."""
    return EntryRecord(event.entry, sequence, sequence, event.holder, at, at)


def moved_entry(before: EntryRecord, event: EntryMoved, sequence: int, at: float) -> EntryRecord:
    """Return the record after a transition at a Unix time. Raises KeyError for one that the table does not have."""
    state = ENTRY_TRANSITIONS[before.state, event.move]
    after = replace(before, state=state, last=sequence, since=at, note=event.note)
    match event.move:
        case EntryMove.UPDATE:
            entry = replace(before.entry, commit=event.commit, title=event.title)
            return replace(_out_of_batch(after), entry=entry, suspected_in="", held_at="")
        case EntryMove.TEST:
            tested = replace(after, batch=event.batch, tests=before.tests + 1)
            return replace(tested, base=event.base, built=event.built, tip=event.tip)
        case EntryMove.APPROVE:
            return replace(after, is_approved=True, tip=event.tip or before.tip)
        case EntryMove.REQUEUE:
            return replace(_out_of_batch(after), suspected_in=event.suspected_in, held_at=event.held_at)
        case EntryMove.LAND:
            return replace(after, built=event.built)
        case EntryMove.REFUSE | EntryMove.REMOVE:
            return replace(after, packet=event.packet)


def _out_of_batch(record: EntryRecord) -> EntryRecord:
    return replace(record, base="", built="", tip="", is_approved=False)
