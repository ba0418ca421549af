"""Whether what a merge of a document puts together stands under the headings that its writers put it under."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.merging.align import common
from commonhold.merging.prose import lines_of
from commonhold.merging.verdict import Reason, Spot
from commonhold.regions.headings import Heading, markdown_headings

_MARKDOWN: Final = frozenset({"markdown", "md", "mdx"})
_UNDERLINED: Final = frozenset({"rst", "txt", ""})
_UNDERLINE: Final = re.compile(rb"^(\S[^\r\n]*)\r?\n(([=\-~^\"'`#*+.:_])\3{2,})[ \t]*\r?$", re.MULTILINE)
_ITEM: Final = re.compile(rb"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S")

Path = tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class _Document:
    """The lines of a document, with the headings that each stands under."""

    lines: Sequence[bytes]
    paths: Sequence[Path]
    headings: Counter[Path]

    @classmethod
    def of(cls, source: bytes, suffix: str) -> "_Document":
        """Read a document; the one heading that is over all others says nothing of any line."""
        headings = list(markdown_headings(source)) if suffix in _MARKDOWN else list(_underlined(source))
        found = list(_paths(headings))
        tops = [path for path in found if len(path) == 1]
        over = 1 if len(tops) == 1 and found[0] == tops[0] else 0
        starts = [each.start for each in headings]
        lines, paths, position = lines_of(source), list[Path](), 0
        for line in lines:
            at = bisect_right(starts, position)
            paths.append(found[at - 1][over:] if at else ())
            position += len(line)
        return cls(lines, paths, Counter(found))


def _underlined(source: bytes) -> Iterator[Heading]:
    ranks: dict[bytes, int] = {}
    for match in _UNDERLINE.finditer(source):
        title = match[1].strip()
        if len(match[2]) + 1 >= len(title) and re.search(rb"\w", title):
            rank = ranks.setdefault(match[3], len(ranks) + 1)
            yield Heading(match.start(), rank, title.decode(errors="replace"), len(source))


def _paths(headings: Sequence[Heading]) -> Iterator[Path]:
    around: list[tuple[int, bytes]] = []
    for each in headings:
        while around and around[-1][0] >= each.rank:
            around.pop()
        around.append((each.rank, each.name.strip().casefold().encode()))
        yield tuple(name for _, name in around)


def misplaced(merged: bytes, versions: tuple[bytes, bytes, bytes], path: str) -> Spot | None:
    """Why a document cannot be what both sides mean; None if nothing speaks against it.

    A section of one heading stands twice where no version has it so, or what one side added stands under a heading that
    it did not have there.
    """
    suffix = path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else ""
    if suffix not in _MARKDOWN | _UNDERLINED:
        return None
    now = _Document.of(merged, suffix)
    known = [_Document.of(each, suffix) for each in versions]
    doubled = [each for each, count in now.headings.items() if count > max(one.headings[each] for one in known)]
    twice = next((each for each in doubled if now.headings[each] > 1), None)
    if twice is not None:
        return Spot(Reason.SAME_NAME, f"both sides added a section {twice[-1].decode(errors='replace')!r}")
    stands = Counter(zip(now.lines, now.paths, strict=True))
    base, *sides = known
    for side, other in zip(sides, reversed(sides), strict=True):
        released = _released(base, other)
        for line, under in _added(base, side):
            if not stands[line, under] or under in released:
                shown = line.decode(errors="replace").strip()
                why = f"what one side added ({shown}) would stand under a heading that the other side put there"
                return Spot(Reason.ORDER_MATTERS, why)
    return None


def _released(base: _Document, side: _Document) -> set[Path]:
    """The sections that are no longer called unreleased."""
    open_ones, still = (
        {under for line, under in zip(each.lines, each.paths, strict=True) if b"unreleased" in line.lower()}
        for each in (base, side)
    )
    return open_ones - still


def _added(base: _Document, side: _Document) -> Iterator[tuple[bytes, Path]]:
    """The items that a side put in, and what it put under headings that the base has, too; not what it wrote anew."""
    position = other = 0
    for index, place in [*common(base.lines, side.lines), (len(base.lines), len(side.lines))]:
        gone, new = base.lines[position:index], range(other, place)
        items = [at for at in new if _ITEM.match(side.lines[at])]
        if len(items) > sum(1 for line in gone if _ITEM.match(line)):
            yield from ((side.lines[at], side.paths[at]) for at in items)
        position, other = index + 1, place + 1
