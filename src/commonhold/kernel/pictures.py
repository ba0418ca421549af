"""Views of the state for questions."""

from dataclasses import dataclass

from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.obligations import Debt
from commonhold.kernel.partial_work import PartialWork
from commonhold.kernel.presence import Presence


@dataclass(frozen=True, slots=True)
class Change:
    """A commit in the form that answers a question about a path."""

    sequence: int
    at: float
    holder: str
    intent: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Who:
    """The leases and waiters that overlap a key, the last changes of it, and the open debts there."""

    key: str
    leases: tuple[Lease, ...]
    changes: tuple[Change, ...]
    debts: tuple[Debt, ...]
    waiters: tuple[Waiter, ...] = ()


@dataclass(frozen=True, slots=True)
class Status:
    """The whole state in one answer; `sessions` are the agents at work in this working tree, by holder."""

    root: str
    leases: tuple[Lease, ...]
    changes: tuple[Change, ...]
    debts: tuple[Debt, ...]
    waiters: tuple[Waiter, ...] = ()
    works: tuple[PartialWork, ...] = ()
    sessions: tuple[Presence, ...] = ()


@dataclass(frozen=True, slots=True)
class Briefing:
    """The activity of others in a working tree, their recent changes, and the work that waits.

    `leases` are those of others, `changes` the commits of others in the last quarter of an hour, newest first, `works`
    the partial work, `debts` the debts of this session.
    """

    others: tuple[Presence, ...] = ()
    leases: tuple[Lease, ...] = ()
    changes: tuple[Change, ...] = ()
    works: tuple[PartialWork, ...] = ()
    debts: tuple[Debt, ...] = ()
