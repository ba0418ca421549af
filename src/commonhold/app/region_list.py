"""The regions of a file as somebody reads them: by lines, without the text."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from commonhold.domain.keys import Kind
from commonhold.regions.region import Region, RegionMap

Lines = tuple[int, int]
"""The first and the last line."""


@dataclass(frozen=True, slots=True)
class ListedRegion:
    """A region, and the lines that it lies on; `is_empty` if it has no byte there."""

    key: str
    kind: Kind
    hash: str
    lines: tuple[Lines, ...]
    is_empty: bool


@dataclass(frozen=True, slots=True)
class ListedProblem:
    """What discovery could not make sense of, and on which line."""

    code: str
    message: str
    line: int


@dataclass(frozen=True, slots=True)
class RegionList:
    """The regions of one file, in file order, containers before contents."""

    regions: tuple[ListedRegion, ...]
    problems: tuple[ListedProblem, ...]


def listed(found: RegionMap) -> RegionList:
    """The same regions by lines."""
    starts = [0, *(match.end() for match in re.finditer(b"\n", found.source))]
    problems = (ListedProblem(each.code, each.message, _line_at(starts, each.span[0])) for each in found.problems)
    return RegionList(tuple(_listed(starts, each) for each in found.regions), tuple(problems))


def _listed(starts: Sequence[int], region: Region) -> ListedRegion:
    lines = tuple((_line_at(starts, start), _line_at(starts, max(start, end - 1))) for start, end in region.spans)
    return ListedRegion(str(region.key), region.kind, region.hash, lines, region.end == region.start)


def _line_at(starts: Sequence[int], offset: int) -> int:
    """The number of the line at `offset`, from where the lines start; asked often, so not counted anew."""
    return bisect_right(starts, offset)
