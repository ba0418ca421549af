"""The outcomes of commands in a store. `app` turns them into the answers that people and agents see."""

from dataclasses import dataclass

from commonhold.kernel.lease import Conflict, Lease, Waiter
from commonhold.kernel.partial_work import PartialWork
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.values import Value


@dataclass(frozen=True, slots=True)
class Granted:
    """The lease was granted. `wished` are the holder's leases that somebody asks it to release."""

    lease: Lease
    wished: tuple[Lease, ...] = ()


@dataclass(frozen=True, slots=True)
class Queued:
    """Not granted yet: the holder is in line, `position` 1 being the next; `conflicts` names the claims ahead of it."""

    waiter: Waiter
    position: int
    conflicts: tuple[Conflict, ...]


@dataclass(frozen=True, slots=True)
class Denied:
    """Nothing was granted: every conflict is named.

    `code` is LOCK_CONFLICT, DEADLOCK if waiting would never end, SLOTS_DIFFER if the key is divided into another number
    of slots, or ID_IN_USE if the lease id belongs to another request.
    """

    conflicts: tuple[Conflict, ...]
    code: Refusal = Refusal.LOCK_CONFLICT


@dataclass(frozen=True, slots=True)
class Done:
    """The work is done already, once for all; `value` is its result."""

    value: Value


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
    """The caller cannot do that with the lease; `why` is a sentence.

    `code` is `LEASE_LOST`, `NOT_HOLDER`, or `NOT_ONCE` if a result was given for a lease that keeps none.
    """

    code: Refusal
    lease_id: str
    why: str


@dataclass(frozen=True, slots=True)
class Stored:
    """The key carries the value now."""

    value: Value


@dataclass(frozen=True, slots=True)
class NotStored:
    """Nothing was changed. `current` are the present values of the keys that have changed, to start again from."""

    code: Refusal
    why: str
    current: tuple[Value, ...] = ()
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The record was made. `work` is the partial work that it concerns, if any."""

    work: PartialWork | None = None


@dataclass(frozen=True, slots=True)
class NothingLeft:
    """There is no partial work of that lease to be recorded or reviewed."""

    lease_id: str


Outcome = (
    Granted
    | Queued
    | Denied
    | Done
    | Renewed
    | Released
    | Cancelled
    | Broken
    | Asked
    | HandedOver
    | NotHeld
    | Stored
    | NotStored
    | Acknowledged
    | NothingLeft
)
