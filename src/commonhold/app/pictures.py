"""What the state looks like to somebody who asks."""

from dataclasses import dataclass

from commonhold.domain.at_work import Presence
from commonhold.domain.debt import Debt
from commonhold.domain.lease import Lease, Waiter
from commonhold.domain.partial_work import PartialWork


@dataclass(frozen=True, slots=True)
class Change:
    """A commit as somebody sees it who asks about a path."""

    sequence: int
    at: float
    holder: str
    intent: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Who:
    """Who holds what overlaps a key and who waits for it, who changed it last, and what is owed there."""

    key: str
    leases: tuple[Lease, ...]
    changes: tuple[Change, ...]
    debts: tuple[Debt, ...]
    waiters: tuple[Waiter, ...] = ()


@dataclass(frozen=True, slots=True)
class Status:
    """The whole picture in one answer; `sessions` are the agents at work in this working tree, by holder."""

    root: str
    leases: tuple[Lease, ...]
    changes: tuple[Change, ...]
    debts: tuple[Debt, ...]
    waiters: tuple[Waiter, ...] = ()
    works: tuple[PartialWork, ...] = ()
    sessions: tuple[Presence, ...] = ()


@dataclass(frozen=True, slots=True)
class Briefing:
    """What others are doing in a working tree, what they did last, and what waits for somebody.

    `leases` are those of others, `changes` the commits of others in the last quarter of an hour, newest first, `works`
    what was left half done, `debts` what this session owes.
    """

    others: tuple[Presence, ...] = ()
    leases: tuple[Lease, ...] = ()
    changes: tuple[Change, ...] = ()
    works: tuple[PartialWork, ...] = ()
    debts: tuple[Debt, ...] = ()
