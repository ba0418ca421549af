"""Diagnostics that a server sends without being asked, and when they count as complete."""

import threading

from commonhold.typecheck.connection import Deadline, Unanswered
from commonhold.typecheck.framing import ServerFault


class Published:
    """The diagnostics that a server sent unasked, and whether they are complete: stored by the thread that reads."""

    def __init__(self) -> None:
        """Begin without diagnostics."""
        self._news = threading.Condition()
        self._expected: dict[str, int] = {}
        self._said: dict[str, object] = {}
        self._fault: ServerFault | None = None

    def expect(self, path: str, version: int) -> None:
        """Discard the earlier diagnostics of a file; only those of this version count from now on."""
        with self._news:
            self._expected[path] = version

    def take(self, path: str, version: object, diagnostics: object) -> None:
        """Store the newest diagnostics of a file, unless they are about an older version than was shown."""
        with self._news:
            if isinstance(version, int) and version < self._expected.get(path, version):
                return
            self._said[path] = diagnostics
            self._expected.pop(path, None)
            self._news.notify_all()

    def lose(self, fault: ServerFault) -> None:
        """Take the fault after which nothing more will come."""
        with self._news:
            self._fault = fault
            self._news.notify_all()

    def settled(self, quiet_seconds: float, deadline: Deadline) -> dict[str, object]:
        """Return all diagnostics, once none is expected and none came for a while. Raises ServerFault."""
        with self._news:
            while self._expected and self._fault is None:
                if not self._news.wait(deadline.left()):
                    raise Unanswered(f"said nothing of {min(self._expected)} within {deadline.seconds:.3g} s")
            while self._fault is None and self._news.wait(quiet_seconds):
                if not deadline.left():
                    raise Unanswered(f"did not come to rest within {deadline.seconds:.3g} s")
            if self._fault is not None:
                raise self._fault
            return dict(self._said)
