"""The regions of contents that were looked at lately, found once for all who ask."""

from functools import lru_cache
from typing import Final

from commonhold.regions.discover import discover
from commonhold.regions.region import RegionMap

RECENT_MAPS: Final = 64


@lru_cache(maxsize=RECENT_MAPS)
def discovered(source: bytes, path: str) -> RegionMap:
    """The regions of these very bytes: found once for a read and the commit that follows it."""
    return discover(source, path)
