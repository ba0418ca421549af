"""The regions of contents that were looked at lately, found once for all who ask."""

from typing import Final

from commonhold.app.recent import Recent
from commonhold.regions.discover import discover, rediscover
from commonhold.regions.region import RegionMap

RECENT_MAPS: Final = 64
_MAPS: Final = Recent[tuple[bytes, str], RegionMap](RECENT_MAPS)


def discovered(source: bytes, path: str) -> RegionMap:
    """The regions of these very bytes: found once for a read and the commit that follows it."""
    return _MAPS.get((source, path)) or _MAPS.put((source, path), discover(source, path))


def rediscovered(before: RegionMap, source: bytes) -> RegionMap:
    """The same for what an edit made of `before`, and known to the reads and commits that follow it."""
    place = source, before.path
    return _MAPS.get(place) or _MAPS.put(place, rediscover(before, source))
