"""How long a server that failed is left alone, so that a server that always fails does not slow every commit."""

from collections.abc import Callable
from typing import Final

_FIRST_SECONDS: Final = 1.0
_LONGEST_SECONDS: Final = 300.0


class Backoff:
    """A pause after a failure, twice as long after each in a row. `reason` is that of the last one."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Nothing has failed yet."""
        self._clock = clock
        self._until = clock()
        self._next_seconds = _FIRST_SECONDS
        self.reason = ""

    def left(self) -> float:
        """Return the remaining seconds of the pause."""
        return max(0.0, self._until - self._clock())

    def failed(self, reason: str) -> None:
        """Begin a pause."""
        self.reason = reason
        self._until = self._clock() + self._next_seconds
        self._next_seconds = min(2 * self._next_seconds, _LONGEST_SECONDS)

    def worked(self) -> None:
        """Forget the failures."""
        self._next_seconds = _FIRST_SECONDS
