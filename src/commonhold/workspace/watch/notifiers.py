"""The ways to notice possible changes: the system reports them, or a thread polls."""

import threading
from collections.abc import Collection
from typing import Final, Protocol, Self

from watchfiles._rust_notify import RustNotify

QUIET_MILLISECONDS: Final = 100
"""Changes that follow each other this closely belong together."""
LONGEST_BURST_MILLISECONDS: Final = 1_000
LOOK_SECONDS: Final = 30.0
"""How often everything is polled in addition to the system's reports: those may be incomplete."""
POLL_SECONDS: Final = 1.0


class Source(Protocol):
    """A source of change notifications."""

    def wait(self, stop: threading.Event) -> Collection[str] | None:
        """Return the absolute paths that may have changed; None: any path may have. At `stop` it returns at once."""
        ...

    def close(self) -> None:
        """Stop."""
        ...


class Notified:
    """The system reports changes in some folders, not in those below them."""

    @classmethod
    def of(cls, folders: Collection[str]) -> Self | None:
        """Subscribe to `folders`; None if the system has no more watches, or no such service.

        Raises FileNotFoundError if one is gone, PermissionError if one may not be read.
        """
        try:
            return cls(folders)
        except (FileNotFoundError, PermissionError):
            raise
        except (OSError, RuntimeError):
            return None

    def __init__(self, folders: Collection[str]) -> None:
        """As `of`, but raises the system's errors."""
        self._folders = list(folders)
        self._notify = _begun(self._folders)

    def wait(self, stop: threading.Event) -> Collection[str] | None:
        """See Source."""
        try:
            told = self._notify.watch(LONGEST_BURST_MILLISECONDS, QUIET_MILLISECONDS, int(LOOK_SECONDS * 1000), stop)
        except RuntimeError:  # a name is no valid text: from now on only the fact of a change is reported
            self._begin_anew(stop)
            return None
        return {path for _, path in told} if isinstance(told, set) else None

    def _begin_anew(self, stop: threading.Event) -> None:
        try:
            anew = _begun(self._folders)
        except (OSError, RuntimeError):  # a folder has gone, say: the next look shows that, too
            stop.wait(POLL_SECONDS)
        else:
            self._notify.close()
            self._notify = anew

    def close(self) -> None:
        """See Source."""
        self._notify.close()


class Polled:
    """No reports: everything is polled."""

    def wait(self, stop: threading.Event) -> None:
        """See Source."""
        stop.wait(POLL_SECONDS)

    def close(self) -> None:
        """See Source."""


def _begun(folders: list[str]) -> RustNotify:
    return RustNotify(folders, False, False, 0, False, False)  # noqa: FBT003 - not our signature
