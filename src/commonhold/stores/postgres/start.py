"""The first facts of a transaction: the instant, and the number of the next event.

That number is the fence of a grant, and none is given out twice, even if the server is set back. Numbers go on from the
newest event, which is right as long as no event was lost since. Events may be lost if a standby takes over that was
behind, or a backup is restored. Both are noticed (see functions.sql); so is a disk that was set back, by a process that
has seen a newer event. Then the numbers jump ahead by more than can have been lost, and every lease there ends: its
holder may have released it since.
"""

from dataclasses import dataclass
from typing import Any, Final

from commonhold.kernel.clock import Now
from commonhold.kernel.lease import Waiter
from commonhold.stores import codec
from commonhold.stores.postgres.transaction import Statement

EPOCH: Final = "postgresql"
JUMP: Final = 1_000_000_000
_FIRST_TIMELINE: Final = 1


@dataclass(frozen=True, slots=True)
class Start:
    """The instant; the line; the number of the next event; and the statement that reserves those below, if necessary.

    `has_lost_events` says that present leases may have ended since.
    """

    now: Now
    line: tuple[Waiter, ...]
    next_sequence: int
    reserve: Statement | None = None
    has_lost_events: bool = False


def start_of(row: tuple[Any, ...], skew: float, newest: int = 0) -> Start:
    """Read the row that the function `start` returns, for a machine that has seen the event `newest`."""
    seconds, last, timeline, is_known, bodies = row
    now, line = instant(seconds + skew), tuple(codec.decode(body, Waiter) for body in bodies)
    if timeline is None or (is_known and newest <= last):
        return Start(now, line, last + 1)
    given = max(last, newest)
    reserved = given + JUMP if given else (timeline - _FIRST_TIMELINE) * JUMP
    reserve = "reserve", {"reserved": reserved, "timeline": timeline}
    return Start(now, line, reserved + 1, reserve, has_lost_events=given > 0)


def instant(seconds: float) -> Now:
    """An instant of the server's clock, which has one epoch: its wall time."""
    return Now(EPOCH, seconds, seconds)
