"""Instants, as the store's clock gives them."""

from dataclasses import dataclass

from commonhold.kernel.expiry import has_passed


@dataclass(frozen=True, slots=True)
class Now:
    """One reading of the store's clock.

    `ticks` are seconds that go on through suspend and never jump; they compare only within one `epoch` (one boot of
    the machine). `wall` is Unix time, for people to read; nothing is decided by it.
    """

    epoch: str
    ticks: float
    wall: float


@dataclass(frozen=True, slots=True)
class Deadline:
    """An instant on the store's clock. One of another epoch has passed: after a reboot leases are expired."""

    epoch: str
    ticks: float
    wall: float

    def has_passed(self, now: Now) -> bool:
        """Whether `now` is at or after this instant."""
        return has_passed(self.epoch, self.ticks, now.epoch, now.ticks)


def deadline(now: Now, ttl_seconds: float) -> Deadline:
    """The instant `ttl_seconds` after `now`."""
    return Deadline(now.epoch, now.ticks + ttl_seconds, now.wall + ttl_seconds)
