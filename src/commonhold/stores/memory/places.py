"""Which leases are near a key, by look-ups alone: no search grows with the number of leases elsewhere."""

from collections.abc import Iterable
from typing import Final, TypeVar

from commonhold.kernel.keys import HEADER, Key

K = TypeVar("K")
Place = tuple[str, ...]
"""A scheme and a path: the place of a key, without the names inside a file."""

Ids = dict[str, None]
"""Ids of leases, as a set that keeps its order."""

_NOBODY: Final[Ids] = {}
_NOTHING: Final[dict[str, Ids]] = {}


class Places:
    """The places of leases. One that is below another is also found from there, so that no path needs a search."""

    def __init__(self) -> None:
        """Begin empty."""
        self._at: dict[Place, dict[str, Ids]] = {}
        self._below: dict[Place, Ids] = {}
        self._spots: dict[str, tuple[tuple[Place, str], ...]] = {}

    def add(self, lease_id: str, keys: Iterable[Key]) -> None:
        """Make a lease findable by its keys."""
        spots = self._spots[lease_id] = tuple([((key.scheme, *key.path), key.first_name) for key in keys])
        for place, name in spots:
            self._at.setdefault(place, {}).setdefault(name, {})[lease_id] = None
            for size in range(1, len(place)):
                self._below.setdefault(place[:size], {})[lease_id] = None

    def remove(self, lease_id: str) -> None:
        """Remove a lease."""
        for place, name in self._spots.pop(lease_id):
            names = self._at.get(place, {})
            _strike(names, name, lease_id)
            if not names:
                self._at.pop(place, None)
            for size in range(1, len(place)):
                _strike(self._below, place[:size], lease_id)

    def near(self, key: Key) -> list[str]:
        """At least the ids of all leases with a key that overlaps `key`; some more than once."""
        place = (key.scheme, *key.path)
        found: list[str] = []
        for size in range(1, len(place)):
            for above in self._at.get(place[:size], _NOTHING).values():
                found += above
        if here := self._at.get(place):
            first = key.first_name
            for name in here if first in ("", HEADER) else (first, "", HEADER):
                found += here.get(name, _NOBODY)
        found += self._below.get(place, _NOBODY)
        return found


def _strike(shelves: dict[K, Ids], name: K, lease_id: str) -> None:
    """Remove an id from a shelf, and a shelf that has become empty."""
    shelf = shelves.get(name)
    if shelf is not None:
        shelf.pop(lease_id, None)
        if not shelf:
            del shelves[name]
