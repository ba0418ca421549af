"""What a transaction learns first: the instant, and the number of the next event.

That number is the fence of a grant, and none is given out twice, even if the server is set back. Numbers go on from the
newest event, which is right as long as no event was lost since. Events may be lost where a standby takes over that was
behind, or a backup is restored. Both show (see functions.sql); then the numbers jump ahead by more than can
have been lost.
"""

from dataclasses import dataclass
from typing import Any, Final

from commonhold.adapters.postgres.transaction import Statement
from commonhold.domain.clock import Now
from commonhold.domain.lease import Waiter
from commonhold.wire import codec

EPOCH: Final = "postgresql"
JUMP: Final = 1_000_000_000
_FIRST_TIMELINE: Final = 1


@dataclass(frozen=True, slots=True)
class Start:
    """The instant; the line; the number of the next event; and the statement that reserves those below, if need be."""

    now: Now
    line: tuple[Waiter, ...]
    next_sequence: int
    reserve: Statement | None = None


def start_of(row: tuple[Any, ...], skew: float) -> Start:
    """What the row says that the function `start` gives."""
    seconds, last, timeline, is_known, bodies = row
    now, line = instant(seconds + skew), tuple(codec.decode(body, Waiter) for body in bodies)
    if is_known or timeline is None:
        return Start(now, line, last + 1)
    reserved = last + JUMP if last else (timeline - _FIRST_TIMELINE) * JUMP
    return Start(now, line, reserved + 1, ("reserve", {"reserved": reserved, "timeline": timeline}))


def instant(seconds: float) -> Now:
    """An instant of the server's clock, which has one epoch: its wall time."""
    return Now(EPOCH, seconds, seconds)
