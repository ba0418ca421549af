"""The answers to calls about the merge queue."""

from dataclasses import dataclass
from typing import Literal

from commonhold.kernel.answers import Next
from commonhold.kernel.entry import EntryRecord
from commonhold.kernel.refusals import Refusal


@dataclass(frozen=True, slots=True)
class EntryView:
    """An entry. `is_missing`: it has landed, and its commit is no longer part of the branch: a person has reset it.

    In a list, `why` says why it has not landed yet.
    """

    record: EntryRecord
    is_missing: bool = False
    why: str = ""


@dataclass(frozen=True, slots=True)
class QueueView:
    """The queue of one branch: the session that runs it (empty: none does), and the Unix time of its last landing.

    `waiting_since` is the Unix time at which the oldest entry that has not landed was added; None if there is none.
    """

    onto: str
    runner: str = ""
    queued: int = 0
    testing: int = 0
    landed: int = 0
    last_landed_at: float | None = None
    waiting_since: float | None = None


@dataclass(frozen=True, slots=True)
class EntryAnswer:
    """The answer to every call about entries; a refusal has a code and a reason, and the entry that it is about.

    `unchanged`: the entry was in the queue with that commit. A list has the `queues` of its entries; `has_older`: there
    are older entries than those listed.
    """

    outcome: Literal["added", "changed", "unchanged", "listed", "refused"]
    entries: tuple[EntryView, ...] = ()
    queues: tuple[QueueView, ...] = ()
    code: Refusal | None = None
    why: str = ""
    next: Next | None = None
    has_older: bool = False
