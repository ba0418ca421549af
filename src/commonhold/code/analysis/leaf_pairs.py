"""Match the leaves of a file before and after a change."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

from commonhold.code.regions.region import Region, RegionMap
from commonhold.kernel.keys import HEADER, Key, Kind

_CALLABLES = frozenset({Kind.FUNCTION, Kind.METHOD})


@dataclass(frozen=True, slots=True)
class Pair:
    """A leaf before and the leaf it became: inserted without the first, deleted without the second."""

    before: Region | None
    after: Region | None

    @property
    def is_callable(self) -> bool:
        """Whether this concerns functions or methods, not headers."""
        return any(region is not None and region.kind in _CALLABLES for region in (self.before, self.after))

    @property
    def is_class_header(self) -> bool:
        """Whether this concerns the header of a class."""
        return any(region is not None and region.kind is Kind.CLASS_HEADER for region in (self.before, self.after))


def definition_of(region: Region) -> tuple[str, str]:
    """Return the class around a leaf and its defined name, without ordinals; two empty texts for a file's header."""
    texts = [name.text for name in region.key.names if name.text != HEADER]
    return ".".join(texts[:-1]), texts[-1] if texts else ""


def leaf_pairs(
    before: RegionMap, after: RegionMap, changed: Iterable[tuple[Key | None, Key | None]]
) -> tuple[Pair, ...]:
    """Return the leaves that differ, for pairs of keys of leaves or containers. Keys that a map lacks are left out."""
    pairs: dict[Pair, None] = {}
    for old_key, new_key in changed:
        old, new = _leaves(before, old_key), _leaves(after, new_key)
        for names in {**old, **new}:
            for was, now in zip_longest(old.get(names, ()), new.get(names, ())):
                is_same = was and now and was.hash == now.hash and definition_of(was) == definition_of(now)
                if not is_same:
                    pairs[Pair(was, now)] = None
    return tuple(pairs)


Group = dict[tuple[str, ...], list[Region]]


def _leaves(regions: RegionMap, key: Key | None) -> Group:
    """Return the leaves under a key by their names relative to it."""
    region = regions.by_key.get(key) if key else None
    if region is None:
        return {}
    if not region.is_container:
        return {(): [region]}
    group: Group = {}
    for leaf in regions.leaves():
        if leaf.key.names[: len(region.key.names)] == region.key.names:
            group.setdefault(_relative(leaf, len(region.key.names)), []).append(leaf)
    return group


def _relative(leaf: Region, depth: int) -> tuple[str, ...]:
    if leaf.kind is Kind.FILE:
        return (HEADER,)
    return tuple(name.text for name in leaf.key.names[depth:])
