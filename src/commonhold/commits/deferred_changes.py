"""Changes recorded before all files of the repository were read: they are examined across files later."""

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock


@dataclass(frozen=True, slots=True)
class Unexamined:
    """A change by `holder` in the working tree at `root`.

    `before` is the earlier state of the files, by path: content hashes of kept bytes; None if there was no file.
    """

    root: str
    holder: str
    before: Mapping[str, str | None]
    intent: str


class DeferredChanges:
    """The changes of one process that are still to examine, one for each session and working tree.

    They are kept in memory alone: a daemon that is killed before it has read all files never examines them.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._waiting: dict[tuple[str, str], Unexamined] = {}
        self._lock = Lock()

    def add(self, change: Unexamined) -> None:
        """Queue a change for examination, together with the session's earlier ones."""
        place = change.root, change.holder
        with self._lock:
            earlier = self._waiting.get(place, change)
            before = {**change.before, **earlier.before}
            self._waiting[place] = Unexamined(*place, before, earlier.intent or change.intent)

    @property
    def roots(self) -> list[str]:
        """Return the working trees with queued changes."""
        with self._lock:
            return list(dict.fromkeys(root for root, _ in self._waiting))

    def take(self, root: str) -> list[Unexamined]:
        """Return the changes of a working tree, and remove them from the queue."""
        with self._lock:
            found = [place for place in self._waiting if place[0] == root]
            return [self._waiting.pop(place) for place in found]
