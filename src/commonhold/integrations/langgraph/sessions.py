"""A pool of open sessions: opening one takes longer than a call does."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from commonhold.client.opening import Choices, open_session
from commonhold.client.session import Commonhold

MOST_IDLE: Final = 16


class Sessions:
    """Sessions on the repository around one path, for any holder; each is used by one caller at a time."""

    def __init__(self, path: str, choices: Choices) -> None:
        """Open nothing yet."""
        self.path = path
        self.choices = choices
        self._lock = threading.Lock()
        self._idle: list[tuple[str, Commonhold]] = []

    @contextmanager
    def of(self, holder: str) -> Iterator[Commonhold]:
        """Yield a session of `holder`."""
        hold = self._taken(holder) or open_session(self.path, agent=holder, **self.choices)
        try:
            yield hold
        finally:
            self._given_back(holder, hold)

    def _taken(self, holder: str) -> Commonhold | None:
        with self._lock:
            for index in reversed(range(len(self._idle))):
                if self._idle[index][0] == holder:
                    return self._idle.pop(index)[1]
        return None

    def _given_back(self, holder: str, hold: Commonhold) -> None:
        with self._lock:
            self._idle.append((holder, hold))
            over = self._idle.pop(0)[1] if len(self._idle) > MOST_IDLE else None
        if over is not None:
            over.close()

    def close(self) -> None:
        """Close the open sessions. Leases stay as they are."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, hold in idle:
            hold.close()
