"""The portion of a file that a tool has shown: all of it, or some lines of some regions. Pure."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from typing import Final

from commonhold.code.regions.region import Region, RegionMap
from commonhold.kernel.texts import MARK

CUT: Final = "\0"
"""The marker, in a text that was shown of a file, for an omitted rest of a line."""
Lines = frozenset[int]
"""Line numbers, counted from 0."""


@dataclass(frozen=True, slots=True)
class Glimpse:
    """Lines of a file that were shown; `is_whole`: all except blank ones at its start and end."""

    lines: tuple[range, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Part:
    """The lines of a region, counted within it, that a session has seen, and how many it has."""

    region: Region
    seen: Lines
    total: int

    @property
    def is_all(self) -> bool:
        """Whether all lines of the region were seen."""
        return len(self.seen) == self.total

    def with_more(self, lines: Iterable[int]) -> "Part":
        """Return the part with these lines seen, too."""
        return replace(self, seen=self.seen.union(lines))

    def complete(self) -> "Part":
        """Return the part with all lines seen."""
        return self.with_more(range(self.total))


def can_show(content: bytes, shown: str) -> bool:
    """Whether a tool can have shown these lines from this content: all or part, perhaps with other line endings."""
    return next(_places(_text_of(content), _sought(shown)), None) is not None


def glimpse_of(content: bytes, shown: str) -> Glimpse | None:
    """Return the lines shown of this content, at every place where the text fits; None if it fits nowhere."""
    text, sought = _text_of(content), _sought(shown)
    if text.strip("\n") == sought.strip("\n"):
        return Glimpse((range(text.count("\n") - 1),), is_whole=True)
    lines = tuple(_places(text, sought))
    return Glimpse(lines, is_whole=False) if lines else None


def parts_shown(source: RegionMap, glimpse: Glimpse) -> list[Part]:
    """Return the lines shown of each leaf region: blank lines count as seen, but show nothing by themselves."""
    starts = [0, *accumulate(len(line) + 1 for line in source.source.split(b"\n"))]
    shown = {number for lines in glimpse.lines for number in lines}
    first, after = starts[min(shown)], starts[max(shown) + 1]
    near = (each for each in source.leaves() if each.key.is_header or (each.start < after and each.end > first))
    parts = (_part(source, region, starts, shown) for region in near)
    return [part for part in parts if part is not None]


def _part(source: RegionMap, region: Region, starts: Sequence[int], shown: Collection[int]) -> Part | None:
    """Return the lines shown of a region; None if there are none, although it has some that are not blank."""
    numbers = [number for span in region.spans if span[0] < span[1] for number in _numbers(starts, span)]
    blank = [not source.cut((starts[number], starts[number + 1])).strip() for number in numbers]
    seen = frozenset(at for at, number in enumerate(numbers) if number in shown or blank[at])
    is_shown = all(blank) or any(not blank[at] for at in seen)
    return Part(region, seen, len(numbers)) if is_shown else None


def _numbers(starts: Sequence[int], span: tuple[int, int]) -> range:
    return range(bisect_right(starts, span[0]) - 1, bisect_right(starts, span[1] - 1))


def _places(text: str, sought: str) -> Iterator[range]:
    length, line, after = sought.count("\n") - 1, 0, 0
    for place in _found(text, sought):
        line += text.count("\n", after, place)
        after = place
        yield range(line, line + length)


def _found(text: str, sought: str) -> Iterator[int]:
    """Yield the positions of a text that may contain a CUT; overlapping ones, too."""
    if CUT in sought:
        pattern = re.escape(sought).replace(re.escape(CUT), r"[^\n]*")
        yield from (match.start() for match in re.finditer(f"(?={pattern})", text))
        return
    place = text.find(sought)
    while place >= 0:
        yield place
        place = text.find(sought, place + 1)


def _text_of(content: bytes) -> str:
    return f"\n{_plain(content.decode('utf-8', 'replace'))}\n"


def _sought(shown: str) -> str:
    return f"\n{_plain(shown).strip(chr(10))}\n"


def _plain(text: str) -> str:
    return text.removeprefix(MARK).replace("\r\n", "\n")


def written(lines: Lines) -> str:
    """Return lines as text: the start of each run of them, and the line after it."""
    runs = groupby(enumerate(sorted(lines)), key=lambda each: each[1] - each[0])
    found = [[line for _, line in run] for _, run in runs]
    return ",".join(f"{run[0]}-{run[-1] + 1}" for run in found) or NONE


NONE: Final = "0-0"
"""The text for no line at all."""


def lines_in(text: str) -> Iterator[int]:
    """Yield the lines that such a text lists."""
    for run in text.split(","):
        start, _, end = run.partition("-")
        yield from range(int(start), int(end))
