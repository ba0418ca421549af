"""What a tool has shown of a file: all of it, or which lines of which regions. Pure."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from typing import Final

from commonhold.app.happenings import CUT
from commonhold.domain.texts import MARK
from commonhold.regions.region import Region, RegionMap

Lines = frozenset[int]
"""Numbers of lines, counted from 0."""


@dataclass(frozen=True, slots=True)
class Glimpse:
    """Lines of a file that were shown; `is_whole`: all but blank ones at its ends."""

    lines: tuple[range, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Part:
    """The lines of a region, counted within it, that somebody has seen, and how many it has."""

    region: Region
    seen: Lines
    total: int

    @property
    def is_all(self) -> bool:
        """Whether that is the region."""
        return len(self.seen) == self.total

    def with_more(self, lines: Iterable[int]) -> "Part":
        """The same when these were seen as well."""
        return replace(self, seen=self.seen.union(lines))

    def complete(self) -> "Part":
        """The same when all was seen."""
        return self.with_more(range(self.total))


def can_show(content: bytes, shown: str) -> bool:
    """Whether these lines can have been shown of this content: all of it or a part, perhaps with other line ends."""
    return next(_places(_text_of(content), _sought(shown)), None) is not None


def glimpse_of(content: bytes, shown: str) -> Glimpse | None:
    """What was shown of this content, wherever the text fits; None where it does not."""
    text, sought = _text_of(content), _sought(shown)
    if text.strip("\n") == sought.strip("\n"):
        return Glimpse((range(text.count("\n") - 1),), is_whole=True)
    lines = tuple(_places(text, sought))
    return Glimpse(lines, is_whole=False) if lines else None


def parts_shown(source: RegionMap, glimpse: Glimpse) -> list[Part]:
    """What that shows of each region that holds no others: blank lines show nothing, and nobody has to see them."""
    starts = [0, *accumulate(len(line) + 1 for line in source.source.split(b"\n"))]
    shown = {number for lines in glimpse.lines for number in lines}
    first, after = starts[min(shown)], starts[max(shown) + 1]
    near = (each for each in source.leaves() if each.key.is_header or (each.start < after and each.end > first))
    parts = (_part(source, region, starts, shown) for region in near)
    return [part for part in parts if part is not None]


def _part(source: RegionMap, region: Region, starts: Sequence[int], shown: Collection[int]) -> Part | None:
    """What is shown of a region; None for nothing, although there is something to be seen."""
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
    """Where a text begins that may be cut somewhere; overlapping ones, too."""
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
    """Lines as text: where each run of them begins, and the line after it."""
    runs = groupby(enumerate(sorted(lines)), key=lambda each: each[1] - each[0])
    found = [[line for _, line in run] for _, run in runs]
    return ",".join(f"{run[0]}-{run[-1] + 1}" for run in found) or NONE


NONE: Final = "0-0"
"""No line at all, as text."""


def lines_in(text: str) -> Iterator[int]:
    """The lines that such a text tells."""
    for run in text.split(","):
        start, _, end = run.partition("-")
        yield from range(int(start), int(end))
