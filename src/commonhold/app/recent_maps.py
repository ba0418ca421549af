"""The regions of contents that were looked at lately, found once for all who ask."""

from typing import Final

from commonhold.app.recent import Recent
from commonhold.regions.discover import discover, rediscover
from commonhold.regions.region import RegionMap

RECENT_MAPS: Final = 64
_MAPS: Final = Recent[tuple[bytes, str], RegionMap](RECENT_MAPS)


_NEWEST: Final = Recent[str, RegionMap](RECENT_MAPS)
"""The map that was found last at a path: most of the next one is the same."""


def discovered(source: bytes, path: str) -> RegionMap:
    """The regions of these very bytes: found once for a read and the commit that follows it."""
    return _MAPS.get((source, path)) or _found(source, path, _NEWEST.get(path))


def rediscovered(before: RegionMap, source: bytes) -> RegionMap:
    """The same for what an edit made of `before`, and known to the reads and commits that follow it."""
    return _MAPS.get((source, before.path)) or _found(source, before.path, before)


def _found(source: bytes, path: str, before: RegionMap | None) -> RegionMap:
    found = rediscover(before, source) if before else discover(source, path)
    return _MAPS.put((source, path), _NEWEST.put(path, found))
