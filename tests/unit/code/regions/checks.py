"""What every map of regions must fulfil, and short ways to build edits."""

from itertools import pairwise

from commonhold.code.regions.discover import discover
from commonhold.code.regions.edit import Insert, RegionEdit, Replace, Spliced, splice
from commonhold.code.regions.find import find
from commonhold.code.regions.region import Region, RegionMap, hash_bytes, hash_spans
from commonhold.code.regions.scope import Breach, breach
from commonhold.kernel.keys import Key, Kind, Name, parse_names

HEADERS = (Kind.CLASS_HEADER, Kind.SECTION_HEADER, Kind.SHARED_HEADER)
BODIES = (Kind.FUNCTION, Kind.METHOD)


def check_map(found: RegionMap) -> None:
    """Assert that leaves tile the file, keys are unique, parents are there and contain, hashes are right."""
    regions = found.regions
    assert len(found.by_key) == len(regions)
    assert len({region.id for region in regions}) == len(regions)
    assert regions[0] is found.file
    assert (found.file.kind, found.file.parent, found.file.spans) == (Kind.FILE, None, ((0, len(found.source)),))
    check_tiling(found)
    places = {region.key: place for place, region in enumerate(regions)}
    for region in regions[1:]:
        parent = found.by_key[region.parent] if region.parent else None
        assert parent is not None
        assert parent.is_container
        assert parent.start <= region.start <= region.end <= parent.end
        assert places[parent.key] < places[region.key]
        assert list(region.key.upward())[1] == region.parent
    for region in regions:
        is_header = region.kind in HEADERS
        expected = hash_spans(found.source, region.spans) if is_header else hash_bytes(found.bytes_of(region))
        assert region.hash == expected


def check_tiling(found: RegionMap) -> None:
    """Assert that every byte lies in exactly one leaf, and that only the file's header may have an empty span."""
    spans = sorted(span for leaf in found.leaves() for span in leaf.spans)
    assert spans[0][0] == 0
    assert spans[-1][1] == len(found.source)
    assert all(left[1] == right[0] for left, right in pairwise(spans))
    empty = [leaf for leaf in found.leaves() for start, end in leaf.spans if start >= end]
    assert empty in ([], [found.regions[1]] if len(found.regions) > 1 else [found.file])


def region(found: RegionMap, name: str = "") -> Region:
    return find(found, parse_names(name))


def texts(found: RegionMap) -> dict[str, bytes]:
    """Give the bytes of each leaf by its qualified name."""
    return {leaf.key.qualname: found.bytes_of(leaf) for leaf in found.leaves()}


def names(found: RegionMap) -> list[str]:
    return [each.key.qualname for each in found.regions[1:]]


def insert(found: RegionMap, name: str, text: str, after: str | None = None, container: str = "") -> Insert:
    around = region(found, container)
    anchor = None if after is None else region(found, after)
    return Insert(around.key.child(Name(name)), anchor, around, text)


def replace(found: RegionMap, name: str, text: str, span: int | None = None) -> Replace:
    return Replace(region(found, name), text, span)


def spliced(before: RegionMap, *edits: RegionEdit) -> tuple[Spliced, RegionMap, Breach | None]:
    made = splice(before, edits)
    after = discover(made.source, before.path)
    return made, after, breach(before, after, made.placed)


def bare(key: Key | None) -> Key | None:
    return key and key.bare()
