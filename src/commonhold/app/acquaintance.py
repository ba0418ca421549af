"""Whether a session knows what it is about to write over: region by region, by what it was shown last."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from commonhold.app.plan import Rejected, Stale
from commonhold.app.ports import Reader
from commonhold.app.reading import discovered
from commonhold.domain.keys import Key
from commonhold.domain.read_set import Sighting
from commonhold.domain.refusal import Refusal
from commonhold.regions.region import Region, RegionMap

Fresh = Callable[[Key], Stale]
"""What is at a key now."""


@dataclass(frozen=True, slots=True)
class Acquaintance:
    """What a session has seen of a working tree. `fresh` shows what is there now."""

    holder: str
    worktree: str
    fresh: Fresh

    def strangers(self, reader: Reader, keys: Iterable[Key], blind: Collection[str]) -> Rejected | None:
        """What of `keys` is not what the session saw last.

        What it never saw is taken for known, since its tool had to name what it replaces, but not in the files that
        are overwritten `blind`.
        """
        found = [each for key in dict.fromkeys(keys) if (each := self._stranger(reader, key, blind))]
        if not found:
            return None
        why = "; ".join(f"{stale.key} {what}" for stale, what in found)
        strangers = tuple(stale for stale, _ in found)
        return Rejected(Refusal.REGION_CHANGED, why, tuple(each.key for each in strangers), strangers)

    def _stranger(self, reader: Reader, key: Key, blind: Collection[str]) -> tuple[Stale, str] | None:
        now = self.fresh(key)
        if now.region is None or now.source is None:
            return None
        seen = self._seen(reader, key)
        shown = [_shown(reader, key, now.source, now.region, each) for each in seen]
        if now.region.hash in shown:
            return None
        if not seen:
            return (now, "is there already, and this session has not read it") if key.file_path in blind else None
        base = next((each for each in shown if each), None)
        return Stale(now.asked, key, base, now.source, now.region), "changed since this session read it"

    def _seen(self, reader: Reader, key: Key) -> list[Sighting]:
        """What it saw last of the region, or of what lies around it: all that was seen with the newest event known."""
        around = [str(each) for each in key.upward() if not each.is_folder]
        found = reader.sightings(self.holder, self.worktree, around)
        newest = max((each.sequence for each in found), default=0)
        return [each for each in found if each.sequence == newest]


def _shown(reader: Reader, key: Key, source: RegionMap, region: Region, seen: Sighting) -> str | None:
    """The hash that the region had in what was seen; None where it was not there, or that is not kept."""
    if seen.key == str(key):
        return seen.hash
    data = reader.content(seen.hash)
    if data is None:
        return None
    if seen.key == str(key.file):
        known = discovered(data, key.file_path).by_key.get(region.key)
        return known.hash if known else None
    # A class by itself is no file: the region was in it if each of its parts was.
    return region.hash if all(source.cut(span) in data for span in region.spans) else None


def known_by(shown: Mapping[str, str | None], most_bytes: int) -> tuple[str, ...]:
    """The keys of texts that were shown whole, being no longer than that."""
    return tuple(key for key, text in shown.items() if text is not None and len(text) <= most_bytes)
