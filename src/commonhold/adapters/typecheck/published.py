"""Diagnostics that a server sends without being asked, and when they count as complete."""

import threading

from commonhold.adapters.typecheck.connection import Deadline, Unanswered
from commonhold.adapters.typecheck.framing import ServerFault


class Published:
    """What a server said without being asked, and whether that is all: taken in by the thread that reads."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        self._news = threading.Condition()
        self._expected: dict[str, int] = {}
        self._said: dict[str, object] = {}
        self._fault: ServerFault | None = None

    def expect(self, path: str, version: int) -> None:
        """From now on what was said of a file is not what counts."""
        with self._news:
            self._expected[path] = version

    def take(self, path: str, version: object, diagnostics: object) -> None:
        """The newest about a file; of an older version of it than was shown, nothing."""
        with self._news:
            if isinstance(version, int) and version < self._expected.get(path, version):
                return
            self._said[path] = diagnostics
            self._expected.pop(path, None)
            self._news.notify_all()

    def lose(self, fault: ServerFault) -> None:
        """Nothing more will be said."""
        with self._news:
            self._fault = fault
            self._news.notify_all()

    def settled(self, quiet_seconds: float, deadline: Deadline) -> dict[str, object]:
        """All that was said, once nothing is expected and nothing new came for a while. Raises ServerFault."""
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
