"""Commands on leases, as values with everything in them that a decision needs.

Ids are drawn by the caller, so that deciding needs no randomness and a repeated command is known again.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from commonhold.kernel.keys import Key
from commonhold.kernel.lease import Base
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import (
    Acknowledged,
    Asked,
    Broken,
    Cancelled,
    Denied,
    Done,
    Granted,
    HandedOver,
    NotHeld,
    NothingLeft,
    NotStored,
    Outcome,
    Queued,
    Released,
    Renewed,
    Stored,
)
from commonhold.kernel.partial_work import UnfinishedChange
from commonhold.kernel.values import Version

O_co = TypeVar("O_co", bound=Outcome, covariant=True)


class Command(Generic[O_co]):
    """A request of `holder`; the type parameter is its possible outcomes."""

    __slots__ = ()
    holder: str


@dataclass(frozen=True, slots=True)
class Acquire(Command[Granted | Queued | Denied | NotHeld | Done]):
    """Ask for all of `keys` at once.

    With `patience_seconds` the holder gets a place in line where it cannot have them now, and keeps it by asking
    again with the same `lease_id` at least that often. `replaces` names a lease of the holder that ends with the
    grant: that is how a lease is upgraded. `bases` are the present hashes of the keys, in `worktree`.

    With `slots` above zero there is one key, of which that many leases may exist at once. `is_once` asks for work that
    is done once for all: it is granted to one holder at a time (`slots` is 1) until one has released it with a result.
    """

    lease_id: str
    acquisition_id: str
    holder: str
    task: str
    keys: tuple[Key, ...]
    mode: Mode
    ttl_seconds: float
    patience_seconds: float | None = None
    replaces: str | None = None
    worktree: str = ""
    bases: tuple[Base, ...] = ()
    slots: int = 0
    is_once: bool = False


@dataclass(frozen=True, slots=True)
class Renew(Command[Renewed | NotHeld]):
    """Let the lease end `ttl_seconds` from now. The expiry is set, never added to."""

    lease_id: str
    holder: str
    ttl_seconds: float


@dataclass(frozen=True, slots=True)
class Release(Command[Released | Cancelled | NotHeld]):
    """End the lease now, or give up the place in line.

    `result` is what the work under a lease for work that is done once resulted in: it is kept, and the work is done.
    """

    lease_id: str
    holder: str
    result: str | None = None


@dataclass(frozen=True, slots=True)
class Break(Command[Broken | NotHeld]):
    """Take a lease from its holder by force, in the name of `holder`; the log keeps `reason` forever."""

    lease_id: str
    holder: str
    reason: str


@dataclass(frozen=True, slots=True)
class Ask(Command[Asked | NotHeld]):
    """Ask the holder of a lease to release it, in the name of `holder`."""

    lease_id: str
    holder: str
    why: str


@dataclass(frozen=True, slots=True)
class HandOver(Command[HandedOver | NotHeld | Denied]):
    """Give a lease to another holder, with a new fence: later writes of the old holder under it are refused."""

    lease_id: str
    holder: str
    to: str


@dataclass(frozen=True, slots=True)
class Put(Command[Stored | NotStored]):
    """Give a key a value, if it and everything in `reads` still have the versions named.

    `fence` is that of a lease of the holder which covers the key; `must_hold` says that there has to be one.
    """

    key: Key
    holder: str
    text: str | None
    expected_version: int
    fence: int | None = None
    reads: tuple[Version, ...] = ()
    must_hold: bool = False


@dataclass(frozen=True, slots=True)
class Heartbeat(Command[Acknowledged]):
    """A sign of life of the holder: extend its leases, and end all leases and places in line that have expired."""

    holder: str


@dataclass(frozen=True, slots=True)
class RecordPartialWork(Command[Acknowledged | NothingLeft]):
    """Record the changes that the holder of an ended lease made under it; no `changes` if it made none."""

    lease_id: str
    holder: str
    changes: tuple[UnfinishedChange, ...]


@dataclass(frozen=True, slots=True)
class Review(Command[Acknowledged | NothingLeft]):
    """Close a partial work after a review. `note` says how it was resolved."""

    lease_id: str
    holder: str
    note: str
