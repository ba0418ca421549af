"""Whether edits stayed inside their regions, and where the regions are afterwards."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import inf
from operator import itemgetter

from commonhold.code.regions.edit import Delete, Insert, Placed, RegionEdit, Replace, replaced_span
from commonhold.code.regions.encoding import BLANK, BOM
from commonhold.code.regions.languages import language_named
from commonhold.code.regions.region import Region, RegionMap, Span
from commonhold.code.regions.separators import without_last
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.keys import Key, Kind


@dataclass(frozen=True, slots=True)
class Breach:
    """A change outside an edit's region: the message names it, `key` is the region that the edit was for."""

    message: str
    key: Key
    hint: str


def breach(before: RegionMap, after: RegionMap, placed: Sequence[Placed]) -> Breach | None:
    """Return the first way in which the edits reach beyond their regions; None if they do not.

    `after` is the discovery of the candidate, `placed` gives the places of the edits in it. In scope means: each given
    definition is exactly one definition in the container that it was meant for, a header holds no definition, and every
    other function, method and line of a header is unchanged and in its place. Replacing a whole file is always in
    scope.
    """
    if not placed or any(each.edit.is_whole_file for each in placed):
        return None
    for each in placed:
        if found := _misplaced(after, each):
            return found
    return _changed_body(before, after, placed) or _changed_header(before, after, placed)


def neighbours(before: RegionMap, after: RegionMap, placed: Sequence[Placed]) -> Iterator[tuple[Region, Region]]:
    """Yield the definitions that no edit names, but that gained or lost the comma behind them: before and after."""
    if not _separator(before):
        return
    edited = sorted(_edited_spans([each.edit for each in placed]))
    for left in before.regions:
        right = after.by_key.get(left.key)
        if left.is_body and right is not None and right.hash != left.hash and not _inside(left, edited):
            yield left, right


def placed_region(after: RegionMap, placed: Placed) -> Region:
    """Return the region in `after` that the text of an edit became, perhaps under another name.

    Raises InputError REGION_UNKNOWN for a Delete, and for text that is no region of its own (see `breach`).
    """
    found = None
    if placed.edit.is_whole_file:
        found = after.file
    elif isinstance(placed.edit, Replace) and placed.edit.is_header:
        found = _header_at(after, placed.edit.region, placed.start)
    elif not isinstance(placed.edit, Delete):
        found = after.by_span.get((placed.start, placed.end))
    if found is None:
        raise InputError(
            Code.REGION_UNKNOWN, f"{placed.edit.key} is no region after the edit", hint="discover the file again"
        )
    return found


def _header_at(after: RegionMap, before: Region, position: int) -> Region | None:
    """Return the header of the same class; of several classes with one name, the one around `position`."""
    headers = [region for region in after.by_bare_key.get(before.key.bare(), ()) if region.kind is before.kind]
    around = ((each, after.by_key[each.parent] if each.parent else each) for each in headers)
    return next((header for header, container in around if container.end >= position), None)


def _same_name(left: Key | None, right: Key | None) -> bool:
    return left == right or (left and left.bare()) == (right and right.bare())


def _misplaced(after: RegionMap, placed: Placed) -> Breach | None:
    edit = placed.edit
    if isinstance(edit, Delete):
        return None
    if edit.is_header:
        return _definition_in_header(after, placed)
    found = after.by_span.get((placed.start, placed.end))
    if found is None:
        return Breach(
            f"the text for {edit.key} is not exactly one definition with its own comments and decorators",
            edit.key,
            "give one definition; use an insert edit for each further one, a header edit for other lines",
        )
    if not _same_name(found.parent, edit.parent):
        return Breach(
            f"the text for {edit.key} became {found.key}, which lies in another container",
            edit.key,
            f"indent the text as a definition directly in {edit.parent}",
        )
    # A paragraph is named by its first words, which the caller need not predict.
    is_named = found.kind is not Kind.PARAGRAPH
    if isinstance(edit, Insert) and is_named and found.key.names[-1].text != edit.key.names[-1].text:
        return Breach(
            f"the inserted text defines {found.key.names[-1].text!r}, the edit names {edit.key}",
            edit.key,
            "name the definition in the key of the insert",
        )
    return None


def _definition_in_header(after: RegionMap, placed: Placed) -> Breach | None:
    header = placed.edit.key
    around = {key.bare() for key in header.upward()}
    for region in after.regions:
        is_around = region.is_container and region.key.bare() in around
        if region.is_definition and region.start < placed.end and placed.start < region.end and not is_around:
            return Breach(
                f"the text for {header} reaches into the definition {region.key}",
                header,
                "use an insert edit for a new definition; leave a blank line between a comment and a definition",
            )
    return None


def _changed_body(before: RegionMap, after: RegionMap, placed: Iterable[Placed]) -> Breach | None:
    """Find a change of functions and methods outside the edits, or of their order."""
    edits = [each.edit for each in placed]
    old = _bodies_outside(before, _edited_spans(edits))
    new = _bodies_outside(after, [(each.start, each.end) for each in placed if not each.edit.is_header])
    for left, right in zip(old, new, strict=False):
        if left is not right and not is_same_body(before, left, after, right):
            return _touched(left.key, edits)
    rest = old[len(new) :] or new[len(old) :]
    return _touched(rest[0].key, edits) if rest else None


def _edited_spans(edits: Iterable[RegionEdit]) -> list[Span]:
    return [edit.region.spans[0] for edit in edits if not isinstance(edit, Insert) and not edit.is_header]


def _bodies_outside(map: RegionMap, spans: Sequence[Span]) -> list[Region]:  # noqa: A002
    ordered = sorted(spans)
    return [region for region in map.regions if region.is_body and not _inside(region, ordered)]


def _inside(region: Region, ordered: Sequence[Span]) -> bool:
    """Whether a region lies in one of the spans, which are in order and do not overlap."""
    index = bisect_right(ordered, (region.start, inf)) - 1
    return index >= 0 and region.end <= ordered[index][1]


def is_same_body(before: RegionMap, left: Region, after: RegionMap, right: Region) -> bool:
    """Whether a definition is unchanged, apart from a line end or a comma behind it."""
    if left.kind is not right.kind or not _same_name(left.key, right.key):
        return False
    return left.hash == right.hash or _follows_otherwise(before, left, after, right)


def _follows_otherwise(before: RegionMap, left: Region, after: RegionMap, right: Region) -> bool:
    """Whether only the text behind it changed a definition: the last line end of a file, the comma behind an entry."""
    old, new = before.bytes_of(left), after.bytes_of(right)
    if left.end == len(before.source) and new in (old + b"\n", old + b"\r\n"):
        return True
    separator = _separator(before)
    return bool(separator) and without_last(old, separator) == without_last(new, separator)


def _separator(map: RegionMap) -> bytes:  # noqa: A002
    return language_named(map.language).layout.separator


def _touched(key: Key, edits: Iterable[RegionEdit]) -> Breach:
    edited = next(iter(edits)).key
    return Breach(
        f"the edit changes {key}, which it does not name",
        edited,
        f"keep to the text of one region, or add an edit for {key}",
    )


def _changed_header(before: RegionMap, after: RegionMap, placed: Sequence[Placed]) -> Breach | None:
    """Find a change of the headers' lines outside the edits; blank lines do not count."""
    edits = [each.edit for each in placed]
    old_headers = _headers(before, _edited_spans(edits))
    new_headers = _headers(after, [(each.start, each.end) for each in placed if not each.edit.is_header])
    old_ranges = [replaced_span(before, edit) for edit in edits if isinstance(edit, Replace) and edit.is_header]
    if not old_ranges and list(map(_sign, old_headers)) == list(map(_sign, new_headers)):
        return None
    old = _header_lines(before, old_headers, old_ranges)
    new = _header_lines(after, new_headers, [(each.start, each.end) for each in placed if each.edit.is_header])
    if old == new:
        return None
    changed = [each for each in old if each not in new] or [each for each in new if each not in old] or old
    return _touched(changed[0][0], edits)


def header_lines(map: RegionMap) -> dict[Key, list[bytes]]:  # noqa: A002
    """Return each header with its lines, without blank ones."""
    return {key: [line for _, line in placed] for key, placed in placed_lines(map)}


def placed_lines(map: RegionMap) -> Iterator[tuple[Key, list[tuple[int, bytes]]]]:  # noqa: A002
    """Yield each header with its lines, without blank ones, each line with the start of its span."""
    for region in map.regions:
        if region.key.is_header:
            yield region.key, list(_lines(map, region.spans, ()))


def _headers(map: RegionMap, definitions: Iterable[Span]) -> list[Region]:  # noqa: A002
    """Return the headers outside `definitions`."""
    within = sorted(definitions)
    return [
        region
        for region in map.regions
        if region.key.is_header and (region.kind is Kind.SHARED_HEADER or not _inside(region, within))
    ]


def _sign(header: Region) -> tuple[Key, str, bool]:
    """Return a value that is equal for equal lines; at the start of a file, a byte order mark is no part of them."""
    return header.key.bare(), header.hash, header.start == 0


def _header_lines(
    map: RegionMap,  # noqa: A002
    headers: Iterable[Region],
    ranges: Iterable[Span],
) -> list[tuple[Key, list[bytes]]]:
    """Return each header under its bare key, with its lines outside `ranges`."""
    without = sorted(ranges)
    return [(region.key.bare(), [line for _, line in _lines(map, region.spans, without)]) for region in headers]


def _lines(
    map: RegionMap,  # noqa: A002
    spans: Iterable[Span],
    ranges: Sequence[Span],
) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are neither blank nor in one of the ranges, each with the start of its span."""
    separator = _separator(map)
    for span in spans:
        for part in _outside(span, ranges) if ranges else (span,):
            data = map.cut(part).removeprefix(BOM) if part[0] == 0 else map.cut(part)
            if data.strip(BLANK):  # most spans are the blank lines between definitions
                lines = (line.rstrip(b"\r") for line in data.split(b"\n") if line.strip(BLANK))
                yield from ((span[0], without_last(line, separator) if separator else line) for line in lines)


def _outside(span: Span, ordered: Sequence[Span]) -> Iterator[Span]:
    position, limit = span
    first = max(bisect_right(ordered, position, key=itemgetter(0)) - 1, 0)
    for start, end in islice(ordered, first, None):
        if start >= limit:
            break
        if end > position:
            yield position, max(position, start)
            position = min(end, limit)
    yield position, limit
