"""Find the regions that differ between two versions of a whole file."""

from collections.abc import Collection, Mapping
from operator import itemgetter

from commonhold.code.regions.region import Region, RegionMap
from commonhold.code.regions.scope import header_lines, is_same_body, placed_lines
from commonhold.kernel.keys import Key

Pair = tuple[Region | None, Region | None]
"""A region before and after; None if it does not exist there."""
Lines = Mapping[Key, list[tuple[int, bytes]]]
"""The lines of each header that are not blank, each with the start of its span."""


def rewritten(before: RegionMap, after: RegionMap) -> list[Pair]:
    """Return the leaves that differ, those that are gone and those that are new; consequences of these are left out.

    Blank lines between definitions belong to no region. If unchanged parts stand in another order, or if a file has no
    regions of its own, the file as a whole changed.
    """
    if before.file in before.leaves() or after.file in after.leaves():
        return [(before.file, after.file)]
    pairs: list[Pair] = []
    for old in _bodies_of(before):
        new = after.by_key.get(old.key)
        if new is None or not new.is_body:
            pairs.append((old, None))
        elif old is not new and not is_same_body(before, old, after, new):
            pairs.append((old, new))
    for new in _bodies_of(after):
        there = before.by_key.get(new.key)
        if there is None or not there.is_body:
            pairs.append((None, new))
    # A header without lines counts as missing.
    old_lines, new_lines = ({key: lines for key, lines in placed_lines(each) if lines} for each in (before, after))
    headers = [key for key in {**old_lines, **new_lines} if _texts(old_lines, key) != _texts(new_lines, key)]
    pairs += [(before.by_key.get(key), after.by_key.get(key)) for key in headers]
    changed = {region.key for pair in pairs for region in pair if region}
    is_moved = _standing(before, old_lines, changed) != _standing(after, new_lines, changed)
    return [(before.file, after.file)] if is_moved else pairs


def only_grew(before: RegionMap, after: RegionMap, header: Key) -> bool:
    """Whether a header kept all its lines in order and gained more, so that nothing is missing from it."""
    old, new = header_lines(before).get(header), iter(header_lines(after).get(header, ()))
    return old is not None and all(line in new for line in old)


def _texts(lines: Lines, key: Key) -> list[bytes]:
    return [line for _, line in lines.get(key, ())]


def _bodies_of(source: RegionMap) -> list[Region]:
    return [region for region in source.regions if region.is_body]


def _standing(source: RegionMap, headers: Lines, changed: Collection[Key]) -> list[Key | bytes]:
    """Return the definitions and the lines of headers in file order, without those that `changed`."""
    bodies = ((each.start, each.key) for each in _bodies_of(source) if each.key not in changed)
    lines = (line for key, placed in headers.items() if key not in changed for line in placed)
    standing: list[tuple[int, Key | bytes]] = [*bodies, *lines]
    return [each for _, each in sorted(standing, key=itemgetter(0))]
