"""Holding a lease for the length of a block: renewed meanwhile, released after, and never silently lost."""

from typing import Any, Final

from commonhold.app.answers import AcquireAnswer, LeaseAnswer
from commonhold.client.acquiring import or_let_go
from commonhold.client.effects import Call, Look, Sleep, Steps
from commonhold.domain.errors import Code, RefusedError
from commonhold.domain.lease import Lease

RENEWALS: Final = 3
"""How often a lease is renewed in the time that it would last."""
MARGIN: Final = 0.1
"""The part of its time before the end at which a lease counts as lost here: clocks and answers take time."""


class Grip:
    """What a holder knows of its lease: enough to know without asking when it must stop.

    The holder's own deadline counts from the moment before it asked, so it is never later than the store's.
    """

    def __init__(self, lease: Lease, asked_at: float) -> None:
        """Begin with a lease that was asked for at `asked_at`, on a clock that never runs back."""
        self.lease = lease
        self._asked_at = asked_at
        self._lost: str | None = None

    @property
    def renewal_seconds(self) -> float:
        """The time from one renewal to the next."""
        return self.lease.ttl_seconds / RENEWALS

    def pause_seconds(self, now: float) -> float:
        """How long to wait before the next renewal: not at all where one is due."""
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

    def why_lost(self, now: float) -> str | None:
        """Why the lease must not be relied on any more; None while it holds."""
        if self._lost is None and now >= self._asked_at + self.lease.ttl_seconds * (1 - MARGIN):
            return f"the lease {self.lease.id} could not be renewed in time"
        return self._lost

    def check(self, now: float) -> None:
        """Raise RefusedError `LEASE_LOST` unless the lease holds. Call it before every write under it."""
        why = self.why_lost(now)
        if why is not None:
            raise RefusedError(
                Code.LEASE_LOST,
                f"{why}; what was not written yet must not be",
                hint="acquire again, look again at what is there now, and redo the work on it",
                fields={"lease_id": self.lease.id, "fence": self.lease.fence},
            )


def begin(acquiring: Steps[AcquireAnswer]) -> Steps[Grip]:
    """Take hold. Raises RefusedError `LEASE_DENIED` where the lease is not granted."""
    asked_at: float = yield Look()
    answer = yield from acquiring
    if answer.lease is None:
        raise _denied(answer)
    grip = Grip(answer.lease, asked_at)
    now: float = yield Look()
    if now - asked_at > MARGIN * answer.lease.ttl_seconds:  # it was waited for: when it was granted is not known here
        yield from or_let_go(grip.lease.id, _renew(grip, now))
    return grip


def _renew(grip: Grip, asked_at: float) -> Steps[None]:
    answer: LeaseAnswer = yield Call("renew", (grip.lease.id,), {"ttl_seconds": grip.lease.ttl_seconds})
    grip.renewed(answer, asked_at)


def _denied(answer: AcquireAnswer) -> RefusedError:
    holders = ", ".join(sorted({conflict.holder for conflict in answer.conflicts})) or "nobody"
    keys = ", ".join(dict.fromkeys(conflict.held for conflict in answer.conflicts))
    fields: dict[str, Any] = {"code": answer.code, "holders": holders, "keys": keys}
    return RefusedError(
        Code.LEASE_DENIED,
        f"{holders} holds or waits for {keys}" if keys else "; ".join(answer.notices),
        hint=answer.next.why if answer.next else "ask again later",
        retry_after_seconds=1.0,
        fields=fields,
    )


def keep(grip: Grip) -> Steps[None]:
    """Renew until the lease is lost, or whoever drives this stops."""
    while grip.why_lost(now := (yield Look())) is None:
        yield Sleep(grip.pause_seconds(now))
        yield from _renew(grip, (yield Look()))


def end(grip: Grip) -> Steps[LeaseAnswer]:
    """Let go."""
    answer: LeaseAnswer = yield Call("release", (grip.lease.id,))
    return answer
