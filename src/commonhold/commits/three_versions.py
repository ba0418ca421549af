"""Three versions of a file with late edits: as the edits found it, as they would have made it, and as it is.

The base is the present file with the late edits' base content put back in place; ours is the base with all edits
applied, as they would have been in time. So the sides differ only in the regions that the edits name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from commonhold.code.regions.discover import rediscover
from commonhold.code.regions.edit import Delete, Placed, Replace, replaced_span
from commonhold.code.regions.find import find
from commonhold.code.regions.region import RegionMap, Span, hash_bytes
from commonhold.code.regions.scope import placed_region
from commonhold.commits.apply_edits import Content, applied, span_of, splice_of
from commonhold.commits.rebase import Origin
from commonhold.commits.resolved_edits import KeyedEdit
from commonhold.kernel.changeset import Op

_NOT_OF_CONTENT: Final = frozenset({Op.CHMOD, Op.RENAME_FILE})


@dataclass(frozen=True, slots=True)
class Part:
    """An edit of the content, expressed for the present file and for the base, with its origin if it is late."""

    now: KeyedEdit
    then: KeyedEdit
    origin: Origin | None


@dataclass(frozen=True, slots=True)
class Versions:
    """Base, ours and theirs; `parts` are the edits between base and ours, in the order of `ours.placed`."""

    base: RegionMap
    ours: Content
    theirs: RegionMap
    parts: tuple[Part, ...]

    def in_merged(self, source: bytes) -> Content | None:
        """Return a merged file as the result of the edits on the present one; None if it does not contain an edit."""
        merged = rediscover(self.theirs, source)
        spans = [_span_in(merged, self.ours.map, placed) for placed in self.ours.placed]
        placed = [
            Placed(splice_of(self.theirs, part.now), *span)
            for part, span in zip(self.parts, spans, strict=False)
            if span is not None
        ]
        return Content(source, merged, tuple(placed)) if len(placed) == len(spans) else None


def versions_of(theirs: RegionMap, edits: Sequence[KeyedEdit], origins: Mapping[KeyedEdit, Origin]) -> Versions | None:
    """Return the three versions; None if the base cannot be built. Raises InputError as the edits would have."""
    base = _base_of(theirs, sorted(origins.values(), key=lambda origin: origin.span))
    if base is None:
        return None
    parts = tuple(_part(theirs, edit, origins.get(edit)) for edit in edits if edit.edit.op not in _NOT_OF_CONTENT)
    return Versions(base, applied(base, [part.then for part in parts]), theirs, parts)


def _base_of(theirs: RegionMap, origins: Sequence[Origin]) -> RegionMap | None:
    if any(left.span[1] > right.span[0] or left.span == right.span for left, right in pairwise(origins)):
        return None
    pieces, position = [], 0
    for origin in origins:
        pieces += [theirs.source[position : origin.span[0]], origin.data]
        position = origin.span[1]
    base = rediscover(theirs, b"".join((*pieces, theirs.source[position:])))
    return base if all(_is_in(base, origin) for origin in origins) else None


def _is_in(base: RegionMap, origin: Origin) -> bool:
    """Whether the bytes that were put back form the region again that they were."""
    region = base.by_key.get(origin.key)
    return region is not None and any(base.cut(span) == origin.data for span in region.spans)


def _part(theirs: RegionMap, keyed: KeyedEdit, origin: Origin | None) -> Part:
    """Return the edit for both versions. A header's piece is named by bytes and number: the header's hash differs."""
    if not keyed.key.is_header:
        return Part(keyed, keyed, origin)
    if origin is not None and origin.index is not None:
        now, then = (_pinned(keyed, data, origin.index) for data in (theirs.cut(origin.span), origin.data))
        return Part(now, then, origin)
    region = find(theirs, keyed.key.names)
    span = replaced_span(theirs, Replace(region, "", span_of(theirs, region, keyed)))
    pinned = _pinned(keyed, theirs.cut(span), region.spans.index(span))
    return Part(pinned, pinned, None)


def _pinned(keyed: KeyedEdit, piece: bytes, index: int) -> KeyedEdit:
    return replace(keyed, edit=replace(keyed.edit, base=hash_bytes(piece), span=index))


def _span_in(merged: RegionMap, ours: RegionMap, placed: Placed) -> Span | None:
    """Return the span of an edit's text in the merged file: the region of that name, the piece of that number."""
    if isinstance(placed.edit, Delete):
        return (0, 0)
    region = placed_region(ours, placed)
    there = merged.by_key.get(region.key)
    if there is None or len(there.spans) != len(region.spans):
        return None
    index = next((i for i, span in enumerate(region.spans) if span[0] <= placed.start and placed.end <= span[1]), None)
    return None if index is None else there.spans[index]
