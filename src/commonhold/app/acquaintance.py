"""Whether a session knows what it is about to write over: region by region, by what it was shown last."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from commonhold.app.plan import Rejected, Stale
from commonhold.app.ports import Reader
from commonhold.domain.keys import Key
from commonhold.domain.read_set import Sighting
from commonhold.domain.refusal import Refusal
from commonhold.regions.discover import discover
from commonhold.regions.region import RegionMap

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
        found = [each for key in keys if (each := self._stranger(reader, key, blind))]
        if not found:
            return None
        why = "; ".join(dict.fromkeys(map(_told, found)))
        return Rejected(Refusal.REGION_CHANGED, why, tuple(each.key for each in found), tuple(found))

    def _stranger(self, reader: Reader, key: Key, blind: Collection[str]) -> Stale | None:
        now = self.fresh(key)
        if now.region is None or now.source is None:
            return None
        seen = self._seen(reader, key)
        shown = list(_shown(reader, key, now.region.key, seen))
        if now.region.hash in shown:
            return None
        if not seen:
            return now if key.file_path in blind else None
        return Stale(now.asked, key, next((each for each in shown if each), None), now.source, now.region)

    def _seen(self, reader: Reader, key: Key) -> list[Sighting]:
        """What it saw of the region and of what lies around it, newest first."""
        around = [str(each) for each in key.upward() if not each.is_folder]
        found = reader.sightings(self.holder, self.worktree, around)
        return sorted(found, key=lambda each: -each.sequence)


def _shown(reader: Reader, key: Key, region: Key, seen: Iterable[Sighting]) -> Iterator[str | None]:
    """The hashes that the region had in what was seen."""
    for each in seen:
        if each.key == str(key):
            yield each.hash
        elif each.key == str(key.file):
            data = reader.content(each.hash)
            known = _discovered(data, key.file_path).by_key.get(region) if data is not None else None
            yield known.hash if known else None


@lru_cache(maxsize=64)
def _discovered(source: bytes, path: str) -> RegionMap:
    return discover(source, path)


def _told(stale: Stale) -> str:
    if stale.base is None:
        return f"{stale.key} is there already, and this session has not read it"
    return f"{stale.key} changed since this session read it"


def known_by(shown: Mapping[str, str | None], most_bytes: int) -> tuple[str, ...]:
    """The keys of texts that were shown whole, being no longer than that."""
    return tuple(key for key, text in shown.items() if text is not None and len(text) <= most_bytes)
