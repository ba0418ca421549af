"""A session's last reads of files and regions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from commonhold.code.regions.region import Region, RegionMap
from commonhold.kernel.keys import Key, canonical
from commonhold.kernel.ports import Reader
from commonhold.kernel.read_set import Sighting
from commonhold.reads.partial_reads import Part, lines_in
from commonhold.reads.recent_maps import discovered


@dataclass(frozen=True, slots=True)
class Seen:
    """The state of a region at its last read: its hash, None if it did not exist or is no longer kept.

    `lines` are as in a Sighting: the lines that were seen, empty for all.
    """

    hash: str | None
    lines: str = ""


class Memory:
    """A session's last reads of some keys, or of regions and files around them."""

    def __init__(self, reader: Reader, by: tuple[str, str], keys: Iterable[Key]) -> None:
        """Look up `keys`. `by` is the session and its working tree."""
        around = dict.fromkeys(str(each) for key in keys for each in key.upward() if not each.is_folder)
        self._sightings = {each.key: each for each in reader.sightings(*by, around)}
        self._content = cache(reader.content)

    def has(self, key: Key) -> bool:
        """Whether the session has ever seen it."""
        return bool(self._newest(key))

    def is_last(self, sighting: Sighting) -> bool:
        """Whether this was the last read, even if it was long ago."""
        newest = self._newest(canonical(sighting.key))
        return sighting in (replace(each, sequence=sighting.sequence) for each in newest)

    def of(self, key: Key, source: RegionMap, region: Region) -> list[Seen]:
        """Return the session's last reads of the region now at `key`: all those at the newest known event."""
        return [self._seen(key, source, region, each) for each in self._newest(key)]

    def _newest(self, key: Key) -> list[Sighting]:
        found = [self._sightings[name] for name in map(str, key.upward()) if name in self._sightings]
        newest = max((each.sequence for each in found), default=0)
        return [each for each in found if each.sequence == newest]

    def _seen(self, key: Key, source: RegionMap, region: Region, sighting: Sighting) -> Seen:
        if sighting.key == str(key):
            return Seen(sighting.hash, sighting.lines)
        data = None if sighting.lines else self._content(sighting.hash)
        if data is None:
            return Seen(None)
        if sighting.key == str(key.file):
            known = discovered(data, key.file_path).by_key.get(region.key)
            return Seen(known.hash if known else None)
        # A class alone is no file: it contained the region if it contained each of its parts.
        return Seen(region.hash if all(source.cut(span) in data for span in region.spans) else None)

    def added_to(self, part: Part, source: RegionMap) -> Part:
        """Return the part with the lines that the session saw before, if the region has not changed since."""
        for each in self.of(part.region.key, source, part.region):
            if each.hash == part.region.hash:
                part = part.with_more(lines_in(each.lines)) if each.lines else part.complete()
        return part

    def knows(self, source: RegionMap, regions: Sequence[Region]) -> bool:
        """Whether the session has seen the present state of each region, except for those that are blank."""
        return all(Seen(each.hash) in self.of(each.key, source, each) or _is_blank(source, each) for each in regions)


def _is_blank(source: RegionMap, region: Region) -> bool:
    return region.key.is_header and not source.bytes_of(region).strip()
