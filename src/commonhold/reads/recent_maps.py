"""A shared cache of the regions of recently read contents, and the kind of cache that it is."""

from collections import OrderedDict
from threading import Lock
from typing import Final, Generic, TypeVar

from commonhold.code.regions.discover import discover, rediscover
from commonhold.code.regions.region import RegionMap

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

RECENT_MAPS: Final = 64


class Recent(Generic[_Key, _Value]):
    """Keeps the `limit` most recently used entries; a value must depend on its key alone.

    Unlike `lru_cache` it also accepts values that were computed in another way than by one function. Thread-safe.
    """

    def __init__(self, limit: int) -> None:
        """Keep at most `limit` entries."""
        self._limit = limit
        self._kept: OrderedDict[_Key, _Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: _Key) -> _Value | None:
        """Return the value under a key, and count this as a use; None if there is none."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key]

    def put(self, key: _Key, value: _Value) -> _Value:
        """Keep a value, and return it; the least recently used entry makes room."""
        with self._lock:
            self._kept[key] = value
            self._kept.move_to_end(key)
            if len(self._kept) > self._limit:
                self._kept.popitem(last=False)
        return value


_MAPS: Final = Recent[tuple[bytes, str], RegionMap](RECENT_MAPS)
_NEWEST: Final = Recent[str, RegionMap](RECENT_MAPS)
"""The last map at each path: the next version of the file shares most of it."""


def discovered(source: bytes, path: str) -> RegionMap:
    """Return the regions of exactly these bytes: parsed once for a read and the commit that follows it."""
    return _MAPS.get((source, path)) or _found(source, path, _NEWEST.get(path))


def rediscovered(before: RegionMap, source: bytes) -> RegionMap:
    """Return the regions of `source`, an edited version of `before`; later reads and commits share the result."""
    return _MAPS.get((source, before.path)) or _found(source, before.path, before)


def _found(source: bytes, path: str, before: RegionMap | None) -> RegionMap:
    found = rediscover(before, source) if before else discover(source, path)
    return _MAPS.put((source, path), _NEWEST.put(path, found))
