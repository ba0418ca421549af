"""Hold a lease for the length of a block: renewed meanwhile, released after, and never silently lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from commonhold.client.acquisition import or_let_go
from commonhold.client.effects import Call, ReadClock, Sleep, Steps
from commonhold.kernel.errors import Code, RefusedError
from commonhold.kernel.texts import short_name, short_names
from commonhold.kernel.values import check_value

if TYPE_CHECKING:
    from commonhold.kernel.answers import AcquireAnswer, LeaseAnswer
    from commonhold.kernel.lease import Lease
    from commonhold.kernel.values import Value

LOOK_SECONDS: Final = 5.0
"""How often a holder checks whether its lease was ended by others."""
RENEWALS: Final = 3
"""How often a lease is renewed within its time to live."""
MARGIN: Final = 0.1
"""The part of its time to live before the end at which a lease counts as lost here: clocks and answers take time."""


NAMES: Final = frozenset({"ticket", "request_id"})
"""The arguments that identify a repeated request, so that an earlier call may have been granted its lease."""


class LeaseHandle:
    """A holder's knowledge of its lease: enough to know without a call when it must stop.

    The holder's own deadline counts from the moment before it asked, so it is never later than the store's.
    """

    def __init__(self, lease: Lease, asked_at: float) -> None:
        """Begin with a lease that was asked for at `asked_at`, on a clock that never runs back."""
        self.lease = lease
        self._asked_at = asked_at
        self._lost: str | None = None
        self.result: str | None = None
        """The result to release the lease with, of work that is done once."""

    @property
    def renewal_seconds(self) -> float:
        """The time from one renewal to the next."""
        return self.lease.ttl_seconds / RENEWALS

    def pause_seconds(self, now: float) -> float:
        """Return how long to wait before the next renewal: zero if one is due."""
        return max(0.0, self._asked_at + self.renewal_seconds - now)

    def renewed(self, answer: LeaseAnswer, asked_at: float) -> None:
        """Take note of the answer to a renewal."""
        if answer.lease is None:
            self._lost = answer.why
        elif answer.lease.fence != self.lease.fence:
            self._lost = f"the lease {self.lease.id} was another's meanwhile: its fence is {answer.lease.fence} now"
        else:
            self.lease = answer.lease
            self._asked_at = asked_at

    def seen(self, held: Sequence[Lease]) -> None:
        """Take note of the leases that the holder has."""
        mine = next((lease for lease in held if (lease.id, lease.fence) == (self.lease.id, self.lease.fence)), None)
        if mine is None:
            self._lost = f"the lease {self.lease.id} was ended, or given to another"
        else:
            self.lease = mine

    def finish(self, result: str) -> None:
        """Note the result of the work. Raises InputError `TEXT_INVALID`."""
        self.result = check_value(result)

    def released(self, answer: LeaseAnswer) -> None:
        """Raise RefusedError `LEASE_LOST` if the release at the end found no lease: it was lost before."""
        if answer.outcome == "refused":
            self._lost = self._lost or answer.why
            raise self._error(self._lost)

    def why_lost(self, now: float) -> str | None:
        """Return why the lease must not be relied on any more; None while it holds."""
        if self._lost is None and now >= self._asked_at + self.lease.ttl_seconds * (1 - MARGIN):
            return f"the lease {self.lease.id} could not be renewed in time"
        return self._lost

    def check(self, now: float) -> None:
        """Raise RefusedError `LEASE_LOST` unless the lease holds. Call it before every write under it."""
        why = self.why_lost(now)
        if why is not None:
            raise self._error(why)

    def _error(self, why: str) -> RefusedError:
        return RefusedError(
            Code.LEASE_LOST,
            f"{why}; do not write anything further under this lease",
            hint="acquire again, read the current content again, and redo the work on it",
            fields={"lease_id": self.lease.id, "fence": self.lease.fence},
        )


def begin(acquiring: Steps[AcquireAnswer], *, may_be_known: bool = False) -> Steps[LeaseHandle]:
    """Acquire the lease. Raises RefusedError `LEASE_DENIED` if it is not granted, `ALREADY_DONE` if the work is done.

    `may_be_known` says that the request has an id and may have been granted before: then the lease is renewed at once.
    """
    asked_at: float = yield ReadClock()
    answer = yield from acquiring
    if answer.result is not None:
        raise _done(answer.result)
    if answer.lease is None:
        raise _denied(answer)
    handle = LeaseHandle(answer.lease, asked_at)
    now: float = yield ReadClock()
    # For a lease that was waited for, or granted to an earlier call, the time of the grant is not known here.
    if may_be_known or now - asked_at > MARGIN * answer.lease.ttl_seconds:
        yield from or_let_go(handle.lease.id, _renew(handle, now))
    return handle


def _renew(handle: LeaseHandle, asked_at: float) -> Steps[None]:
    answer: LeaseAnswer = yield Call("renew", (handle.lease.id,), {"ttl_seconds": handle.lease.ttl_seconds})
    handle.renewed(answer, asked_at)


def _done(result: Value) -> RefusedError:
    return RefusedError(
        Code.ALREADY_DONE,
        f"{result.key} was done by {short_name(result.holder)}",
        hint="use its result, which is in the fields of this error",
        fields={"key": result.key, "result": result.text or "", "holder": result.holder, "at": result.at},
    )


def _denied(answer: AcquireAnswer) -> RefusedError:
    holders = ", ".join(sorted({conflict.holder for conflict in answer.conflicts})) or "nobody"
    keys = ", ".join(dict.fromkeys(conflict.held for conflict in answer.conflicts))
    fields: dict[str, Any] = {"code": answer.code, "holders": holders, "keys": keys}
    return RefusedError(
        Code.LEASE_DENIED,
        f"{short_names(holders.split(', '))} holds or waits for {keys}" if keys else "; ".join(answer.notices),
        hint=answer.next.why if answer.next else "ask again later",
        retry_after_seconds=1.0,
        fields=fields,
    )


def keep(handle: LeaseHandle) -> Steps[None]:
    """Renew in time, and check in between, until the lease is lost or the driver stops this."""
    while handle.why_lost(now := (yield ReadClock())) is None:
        pause = handle.pause_seconds(now)
        yield Sleep(min(pause, LOOK_SECONDS))
        if pause <= LOOK_SECONDS:
            yield from _renew(handle, (yield ReadClock()))
        else:
            yield from _look(handle)


def _look(handle: LeaseHandle) -> Steps[None]:
    """Check whether the lease still exists: it may have been ended or handed over."""
    held: Sequence[Lease] = yield Call("leases", (), {"holder": handle.lease.holder})
    handle.seen(held)


def end(handle: LeaseHandle) -> Steps[LeaseAnswer]:
    """Release the lease, with the result of its work if there is one."""
    named = {} if handle.result is None else {"result": handle.result}
    answer: LeaseAnswer = yield Call("release", (handle.lease.id,), named)
    return answer
