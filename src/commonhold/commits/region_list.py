"""The regions of a file for a reader: by lines, without the text."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from commonhold.code.regions.region import Region, RegionMap
from commonhold.kernel.keys import Kind

Lines = tuple[int, int]
"""The first and the last line."""


@dataclass(frozen=True, slots=True)
class ListedRegion:
    """A region, and the lines that it occupies; `is_empty` if it contains no byte."""

    key: str
    kind: Kind
    hash: str
    lines: tuple[Lines, ...]
    is_empty: bool


@dataclass(frozen=True, slots=True)
class ListedProblem:
    """A problem that discovery met in the file, and its line."""

    code: str
    message: str
    line: int


@dataclass(frozen=True, slots=True)
class RegionList:
    """The regions of one file, in file order, containers before contents."""

    regions: tuple[ListedRegion, ...]
    problems: tuple[ListedProblem, ...]


def listed(found: RegionMap) -> RegionList:
    """Return the same regions by lines."""
    starts = [0, *(match.end() for match in re.finditer(b"\n", found.source))]
    problems = (ListedProblem(each.code, each.message, _line_at(starts, each.span[0])) for each in found.problems)
    return RegionList(tuple(_listed(starts, each) for each in found.regions), tuple(problems))


def _listed(starts: Sequence[int], region: Region) -> ListedRegion:
    lines = tuple((_line_at(starts, start), _line_at(starts, max(start, end - 1))) for start, end in region.spans)
    return ListedRegion(str(region.key), region.kind, region.hash, lines, region.end == region.start)


def _line_at(starts: Sequence[int], offset: int) -> int:
    """Return the number of the line at `offset`, from the offsets of line starts: there are too many calls to count."""
    return bisect_right(starts, offset)
