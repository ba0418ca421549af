"""How it is noticed that something may have changed: the system tells, or one has to look."""

import threading
from collections.abc import Collection
from typing import Final, Protocol, Self

from watchfiles._rust_notify import RustNotify

QUIET_MILLISECONDS: Final = 100
"""Changes that follow each other this closely belong together."""
LONGEST_BURST_MILLISECONDS: Final = 1_000
LOOK_SECONDS: Final = 30.0
"""How often all is looked at beside what the system tells: it may tell less than there was."""
POLL_SECONDS: Final = 1.0


class Source(Protocol):
    """Where news of changes come from."""

    def wait(self, stop: threading.Event) -> Collection[str] | None:
        """The absolute paths of what may have changed; None: it may be anything. At `stop` it returns at once."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class Notified:
    """The system tells what becomes other in some folders, not in those below them."""

    @classmethod
    def of(cls, folders: Collection[str]) -> Self | None:
        """Be told of `folders`; None where the system has no more watches, or no such service.

        Raises FileNotFoundError where one is gone, PermissionError where one may not be looked at.
        """
        try:
            return cls(folders)
        except (FileNotFoundError, PermissionError):
            raise
        except (OSError, RuntimeError):
            return None

    def __init__(self, folders: Collection[str]) -> None:
        """As `of`, but raises what the system does."""
        self._folders = list(folders)
        self._notify = _begun(self._folders)

    def wait(self, stop: threading.Event) -> Collection[str] | None:
        """See Source."""
        try:
            told = self._notify.watch(LONGEST_BURST_MILLISECONDS, QUIET_MILLISECONDS, int(LOOK_SECONDS * 1000), stop)
        except RuntimeError:  # something has a name that is no text: from now on no more than that is said
            self._begin_anew(stop)
            return None
        return {path for _, path in told} if isinstance(told, set) else None

    def _begin_anew(self, stop: threading.Event) -> None:
        try:
            anew = _begun(self._folders)
        except (OSError, RuntimeError):  # a folder has gone, say: whoever looks now sees that, too
            stop.wait(POLL_SECONDS)
        else:
            self._notify.close()
            self._notify = anew

    def close(self) -> None:
        """See Source."""
        self._notify.close()


class Polled:
    """Nobody tells: all is looked at again and again."""

    def wait(self, stop: threading.Event) -> None:
        """See Source."""
        stop.wait(POLL_SECONDS)

    def close(self) -> None:
        """See Source."""


def _begun(folders: list[str]) -> RustNotify:
    return RustNotify(folders, False, False, 0, False, False)  # noqa: FBT003 - not our signature
