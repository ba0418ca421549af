"""Commands on entries of the merge queue and their outcomes, as values.

Every step of a runner names the fence of its lease on the key of the branch, so that a runner that was replaced cannot
post any more, and the sequence of the entry's last event, so that it takes effect only on the state that it has seen.
"""

from dataclasses import dataclass

from commonhold.kernel.entry import Entry, EntryMove, EntryRecord, RepairPacket
from commonhold.kernel.refusals import Refusal


@dataclass(frozen=True, slots=True)
class AddEntry:
    """Add an entry, whose id comes from the store. An entry of the same branch that waits gets its commit instead.

    A commit that was refused before is refused again with the same packet, unless it is to be tried `again`.
    """

    holder: str
    entry: Entry
    again: bool = False


@dataclass(frozen=True, slots=True)
class RemoveEntry:
    """Take an entry out of the queue; `note` may say why."""

    holder: str
    entry_id: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class EntryStep:
    """A step of an entry by the runner of its queue; see `EntryMoved` for the fields that a move has.

    `expected` is the sequence of the last event of the entry that the runner has seen.
    """

    entry: str
    move: EntryMove
    expected: int
    note: str = ""
    base: str = ""
    built: str = ""
    tip: str = ""
    suspected_in: str = ""
    held_at: str = ""
    packet: RepairPacket | None = None


@dataclass(frozen=True, slots=True)
class PostEntries:
    """Post steps of entries of the branch `onto`: all of them, or none. Steps that TEST make one batch."""

    holder: str
    onto: str
    fence: int
    steps: tuple[EntryStep, ...]


EntryCommand = AddEntry | RemoveEntry | PostEntries


@dataclass(frozen=True, slots=True)
class EntriesChanged:
    """The entries after the change."""

    records: tuple[EntryRecord, ...]


@dataclass(frozen=True, slots=True)
class EntryUnchanged:
    """The entry is in the queue already, with the same commit."""

    record: EntryRecord


@dataclass(frozen=True, slots=True)
class EntryRefused:
    """Nothing was changed: a code, a sentence, and the entry in question, if there is one."""

    code: Refusal
    why: str
    record: EntryRecord | None = None


EntryOutcome = EntriesChanged | EntryUnchanged | EntryRefused
