"""The versions of files that agents know: the last read of each, with their own writes since."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

MOST: Final = 256


@dataclass(frozen=True, slots=True)
class View:
    """A file as an agent knows it. `hash` and `content` of None: it does not exist.

    `hash` is that of the last version that the agent has read whole or made, `content` that version with its own edits
    since: it lacks the edits of others, even those that the agent has heard of.
    """

    path: str
    hash: str | None = None
    content: bytes | None = None


class Views:
    """The views of all agents, by holder and path, if they hold more than the store knows.

    A view that is forgotten costs an agent a refusal at worst: then its last read counts.
    """

    def __init__(self) -> None:
        """Begin without views."""
        self._lock = threading.Lock()
        self._views: OrderedDict[tuple[str, str], View] = OrderedDict()

    def get(self, holder: str, path: str) -> View | None:
        """Return the agent's view of a file; None if that is the version it has read last."""
        with self._lock:
            return self._views.get((holder, path))

    def wrote(self, holder: str, view: View) -> None:
        """Record that the agent has written the file, or a part of it."""
        with self._lock:
            self._views[holder, view.path] = view
            self._views.move_to_end((holder, view.path))
            if len(self._views) > MOST:
                self._views.popitem(last=False)

    def read(self, holder: str, path: str) -> None:
        """Record that the agent has read the file again."""
        with self._lock:
            self._views.pop((holder, path), None)
