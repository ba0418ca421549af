"""Whether a session knows the content that it is about to overwrite: for each region, by its last read."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from commonhold.commits.plan import Rejected
from commonhold.kernel.keys import Key
from commonhold.kernel.ports import Reader
from commonhold.kernel.refusals import Refusal
from commonhold.reads.partial_reads import NONE
from commonhold.reads.session_observations import Memory
from commonhold.reads.stale_base import Stale

Fresh = Callable[[Key], Stale]
"""A function that returns the present state at a key."""


@dataclass(frozen=True, slots=True)
class Acquaintance:
    """A session's reads in a working tree. `fresh` returns the present state."""

    holder: str
    worktree: str
    fresh: Fresh

    def strangers(self, reader: Reader, keys: Iterable[Key], blind: Collection[str]) -> Rejected | None:
        """Return a rejection for those of `keys` that differ from the session's last read.

        A region that it never read, or only in part, counts as known, since its tool had to name the replaced text; but
        not in the files that are overwritten `blind`.
        """
        wanted = tuple(dict.fromkeys(keys))
        memory = self._memory(reader, wanted)
        found = [each for key in wanted if (each := self._stranger(memory, key, blind))]
        found = [each for each in found if not self._knows_parts(reader, each[0])]
        if not found:
            return None
        why = "; ".join(f"{stale.key} {what}" for stale, what in found)
        strangers = tuple(stale for stale, _ in found)
        return Rejected(Refusal.REGION_CHANGED, why, tuple(each.key for each in strangers), strangers)

    def _memory(self, reader: Reader, keys: Iterable[Key]) -> Memory:
        return Memory(reader, (self.holder, self.worktree), keys)

    def _knows_parts(self, reader: Reader, now: Stale) -> bool:
        """Whether `now` is a file that the session knows region by region, including regions that it wrote itself."""
        if now.source is None or now.region is not now.source.file:
            return False
        parts = [each for each in now.source.leaves() if each is not now.region]
        return bool(parts) and self._memory(reader, [each.key for each in parts]).knows(now.source, parts)

    def _stranger(self, memory: Memory, key: Key, blind: Collection[str]) -> tuple[Stale, str] | None:
        now = self.fresh(key)
        if now.region is None or now.source is None:
            return None
        seen = memory.of(key, now.source, now.region)
        as_it_is = [each for each in seen if each.hash == now.region.hash]
        is_named = key.file_path not in blind
        if any(not each.lines for each in as_it_is) or (is_named and (as_it_is or not seen)):
            return None
        if any(each.lines != NONE for each in as_it_is):
            return now, "is there already, and this session has read only a part of it"
        if as_it_is or not seen:
            return now, "is there already, and this session has not read it"
        base = next((each.hash for each in seen if each.hash), None)
        return replace(now, base=base), "changed since this session read it"


def known_by(shown: Mapping[str, str | None], most_bytes: int) -> tuple[str, ...]:
    """Return the keys of texts that were shown whole, as they are no longer than `most_bytes`."""
    return tuple(key for key, text in shown.items() if text is not None and len(text) <= most_bytes)
