"""The answers of explain and replay."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from commonhold.kernel.answers import Next
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.task import TaskRecord

Subject = Literal["event", "lease", "task", "run", "entry", "session", "region"]


@dataclass(frozen=True, slots=True)
class Step:
    """One event in words: its `text`, and the reasons for it. `code` is that of a refusal, to look up its meaning."""

    sequence: int
    at: float
    kind: str
    text: str
    reasons: tuple[str, ...] = ()
    code: str = ""


@dataclass(frozen=True, slots=True)
class Account:
    """The events about a subject, oldest first.

    `since` is the number of the oldest event that was examined: older ones are not part of the account. `left_out`
    counts the earlier events about the subject among those examined; the account has the newest.
    """

    subject: Subject
    name: str
    steps: tuple[Step, ...]
    since: int = 0
    left_out: int = 0
    next: Next | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where the log and its replay differ: `found` is recorded, `expected` came out."""

    sequence: int
    why: str
    found: str = ""
    expected: str = ""


@dataclass(frozen=True, slots=True)
class CompactionAnswer:
    """The answer to a compaction: the numbers of the first and the last replaced event, and how many there were.

    `why` says why later events stay; empty if the caller wants to keep them. `freed` counts the bytes that the file
    system got back.
    """

    outcome: Literal["compacted", "nothing"]
    first: int = 0
    last: int = 0
    events: int = 0
    why: str = ""
    freed: int = 0


@dataclass(frozen=True, slots=True)
class ReplayAnswer:
    """The answer to replay. `first` and `last` are the numbers of the first and the last event that were checked.

    `events` counts them by kind, `checked` those whose decision was made again and came out the same. `leases`,
    `waiters` and `tasks` are the state after the last event; `is_stored` if it was compared with the stored state.
    `compacted` is the last event that a snapshot has replaced: replay began with its state; 0 if no event was.
    """

    outcome: Literal["same", "different"]
    first: int
    last: int
    events: Mapping[str, int] = field(default_factory=dict)
    checked: Mapping[str, int] = field(default_factory=dict)
    difference: Difference | None = None
    leases: tuple[Lease, ...] = ()
    waiters: tuple[Waiter, ...] = ()
    tasks: tuple[TaskRecord, ...] = ()
    is_stored: bool = False
    compacted: int = 0
