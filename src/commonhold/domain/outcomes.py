"""What a store answers to a command. The app room makes of these what people and agents get to see."""

from dataclasses import dataclass

from commonhold.domain.lease import Conflict, Lease, Waiter
from commonhold.domain.partial_work import PartialWork
from commonhold.domain.refusal import Refusal
from commonhold.domain.value import Value


@dataclass(frozen=True, slots=True)
class Granted:
    """The lease was granted. `wished` are the holder's leases that somebody asks it to release."""

    lease: Lease
    wished: tuple[Lease, ...] = ()


@dataclass(frozen=True, slots=True)
class Queued:
    """Not yet: the holder stands in line, `position` 1 being the next. What stands before it is named."""

    waiter: Waiter
    position: int
    conflicts: tuple[Conflict, ...]


@dataclass(frozen=True, slots=True)
class Denied:
    """Nothing was granted: every conflict is named.

    `code` is LOCK_CONFLICT, DEADLOCK where waiting would never end, or ID_IN_USE where the id of the lease is that of
    another wish.
    """

    conflicts: tuple[Conflict, ...]
    code: Refusal = Refusal.LOCK_CONFLICT


@dataclass(frozen=True, slots=True)
class Renewed:
    """The lease now ends at `lease.deadline`."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class Released:
    """The lease has ended; its keys are free."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The place in line was given up."""

    waiter: Waiter


@dataclass(frozen=True, slots=True)
class Broken:
    """The lease was taken from its holder."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class Asked:
    """The holder will see the wish with its next answer."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class HandedOver:
    """The lease is another's now, with a new fence."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class NotHeld:
    """The caller does not hold that lease. `code` is `LEASE_LOST` or `NOT_HOLDER`; `why` is a sentence."""

    code: Refusal
    lease_id: str
    why: str


@dataclass(frozen=True, slots=True)
class Stored:
    """The key carries the value now."""

    value: Value


@dataclass(frozen=True, slots=True)
class NotStored:
    """Nothing was changed. `current` is what the keys carry that have changed since, to start again from."""

    code: Refusal
    why: str
    current: tuple[Value, ...] = ()
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class Noted:
    """It was written down. `work` is the partial work that it was about, if it is about one."""

    work: PartialWork | None = None


@dataclass(frozen=True, slots=True)
class NothingLeft:
    """There is no partial work of that lease to be recorded or reviewed."""

    lease_id: str


Outcome = (
    Granted
    | Queued
    | Denied
    | Renewed
    | Released
    | Cancelled
    | Broken
    | Asked
    | HandedOver
    | NotHeld
    | Stored
    | NotStored
    | Noted
    | NothingLeft
)
