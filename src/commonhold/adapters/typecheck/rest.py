"""How long a server that failed is left alone, so that one which always fails does not cost every commit."""

from collections.abc import Callable
from typing import Final

_FIRST_SECONDS: Final = 1.0
_LONGEST_SECONDS: Final = 300.0


class Rest:
    """Twice as long after each failure in a row. `reason` is what the last one was."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Nothing has failed yet."""
        self._clock = clock
        self._until = clock()
        self._next_seconds = _FIRST_SECONDS
        self.reason = ""

    def left(self) -> float:
        """How many seconds it is to be left alone yet."""
        return max(0.0, self._until - self._clock())

    def failed(self, reason: str) -> None:
        """Begin a rest."""
        self.reason = reason
        self._until = self._clock() + self._next_seconds
        self._next_seconds = min(2 * self._next_seconds, _LONGEST_SECONDS)

    def worked(self) -> None:
        """All is forgotten."""
        self._next_seconds = _FIRST_SECONDS
