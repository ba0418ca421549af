"""When sessions called last: a session without hooks is at work as long as it calls."""

import threading
from typing import Final

_MOST: Final = 4096
"""The most sessions that are remembered, the newest."""


class Heartbeats:
    """The last call of each session, in this process. For a session and its subagents the latest of all counts."""

    def __init__(self) -> None:
        """Begin without any call."""
        self._at: dict[str, float] = {}
        self._turn = threading.Lock()

    def note(self, holder: str, wall: float) -> None:
        """Record a call of a holder at this wall time."""
        session = _session_of(holder)
        with self._turn:
            self._at.pop(session, None)
            self._at[session] = wall
            if len(self._at) > _MOST:
                del self._at[next(iter(self._at))]

    def forget(self, holder: str) -> None:
        """Delete a session that has reported its end. The end of a subagent is not that of its session."""
        if holder == _session_of(holder):
            with self._turn:
                self._at.pop(holder, None)

    def is_heard(self, holder: str, since: float) -> bool:
        """Whether the session of a holder has called since this wall time."""
        at = self._at.get(_session_of(holder))
        return at is not None and at > since


def _session_of(holder: str) -> str:
    return holder.partition("/")[0]
