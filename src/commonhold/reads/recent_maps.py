"""A shared cache of the regions of recently read contents."""

from typing import Final

from commonhold.code.regions.discover import discover, rediscover
from commonhold.code.regions.region import RegionMap
from commonhold.machine.recent import Recent

RECENT_MAPS: Final = 64
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
