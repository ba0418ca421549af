"""Whether the lines of a merged document stand under the headings under which their authors put them."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Final

from commonhold.code.regions.headings import Heading, markdown_headings
from commonhold.merging.align import common
from commonhold.merging.prose import lines_of
from commonhold.merging.verdict import Reason, Spot

_MARKDOWN: Final = frozenset({"markdown", "md", "mdx"})
_UNDERLINED: Final = frozenset({"rst", "txt", ""})
_UNDERLINE: Final = re.compile(rb"^(\S[^\r\n]*)\r?\n(([=\-~^\"'`#*+.:_])\3{2,})[ \t]*\r?$", re.MULTILINE)
_ITEM: Final = re.compile(rb"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
# A line that serves as a heading over a list ("Bug fixes:", "**Added**"); its rank is below that of any heading.
_LABEL: Final = re.compile(
    rb"(?:(?<=\n\n)|(?<=\n\r\n)|\A)(?:\*\*)?([A-Z][A-Za-z ]{2,40})(?::|:?\*\*:?)[ \t]*\r?\n"
    rb"(?=(?:[ \t]*\r?\n)?[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t])"
)
_LABEL_RANK: Final = 100
# Words about the release of a section, or that it is not released yet.
_RELEASE: Final = re.compile(
    rb"\b(?:un|not (?:yet )?)?released?\b|\bTB[AD]\b|\b(?:19|20)\d\d\b|\bin development\b|\bunpublished\b",
    re.IGNORECASE,
)

Path = tuple[bytes, ...]


@dataclass(frozen=True)
class _Document:
    """The lines of a document, with the headings over each."""

    lines: Sequence[bytes]
    paths: Sequence[Path]
    headings: Counter[Path]
    items: Sequence[int]
    """The indices of the lines that begin an item of a list."""

    @classmethod
    def of(cls, source: bytes, suffix: str) -> "_Document":
        """Read a document; a single heading over all others is left out, since it distinguishes no lines."""
        headings = list(markdown_headings(source)) if suffix in _MARKDOWN else list(_underlined(source))
        labels = (Heading(each.start(), _LABEL_RANK, each[1].decode(), len(source)) for each in _LABEL.finditer(source))
        headings = sorted((*headings, *labels), key=attrgetter("start"))
        found = list(_paths(headings))
        tops = [path for path in found if len(path) == 1]
        over = 1 if len(tops) == 1 and found[0] == tops[0] else 0
        starts = [each.start for each in headings]
        lines, paths, position = lines_of(source), list[Path](), 0
        for line in lines:
            at = bisect_right(starts, position)
            paths.append(found[at - 1][over:] if at else ())
            position += len(line)
        items = [at for at, line in enumerate(lines) if _ITEM.match(line)]
        return cls(lines, paths, Counter(found), items)

    @cached_property
    def releases(self) -> dict[Path, list[bytes]]:
        """The lines between each heading and its first item that say whether and when it is released."""
        found: dict[Path, list[bytes]] = {}
        begun = set[Path]()
        items = set(self.items)
        for at, (line, path) in enumerate(zip(self.lines, self.paths, strict=True)):
            if at in items:
                begun.add(path)
            elif path not in begun and _RELEASE.search(line):
                found.setdefault(path, []).append(line.strip())
        return found

    @cached_property
    def places(self) -> dict[bytes, Path]:
        """The headings over each item whose line stands once."""
        counts = Counter(self.lines[at] for at in self.items)
        return {self.lines[at]: self.paths[at] for at in self.items if counts[self.lines[at]] == 1}


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
    """Return why a document cannot be what both sides mean; None if there is no objection.

    The objections: a section of one heading stands twice where no version has it so, or a line that one side added
    stands under a heading that it did not have there.
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
    base, *sides = known
    return _torn(base, *sides) or _under_another(Counter(zip(now.lines, now.paths, strict=True)), base, *sides)


def _torn(base: _Document, ours: _Document, theirs: _Document) -> Spot | None:
    """Find an item that each side put under another heading, as if both made a release of the unreleased items."""
    for line, before in base.places.items():
        one, other = ours.places.get(line, before), theirs.places.get(line, before)
        if before != one != other != before:
            shown = line.decode(errors="replace").strip()
            return Spot(Reason.ORDER_MATTERS, f"each side put an item ({shown}) under another heading")
    return None


def _under_another(stands: Counter[tuple[bytes, Path]], base: _Document, *sides: _Document) -> Spot | None:
    """Find an item that one side added under a heading that has changed, or that has been released since."""
    for side, other in zip(sides, reversed(sides), strict=True):
        for line, under in _added(base, side):
            is_released = under in base.paths and base.releases.get(under) != other.releases.get(under)
            if not stands[line, under] or is_released:
                shown = line.decode(errors="replace").strip()
                why = f"the text that one side added ({shown}) would stand under a heading that the other side added"
                return Spot(Reason.ORDER_MATTERS, why)
    return None


def _added(base: _Document, side: _Document) -> Iterator[tuple[bytes, Path]]:
    """Yield the items that a side inserted, with the headings over them; rewritten items do not count."""
    position = other = 0
    for index, place in [*common(base.lines, side.lines), (len(base.lines), len(side.lines))]:
        gone, new = base.lines[position:index], range(other, place)
        items = [at for at in new if _ITEM.match(side.lines[at])]
        if len(items) > sum(1 for line in gone if _ITEM.match(line)):
            yield from ((side.lines[at], side.paths[at]) for at in items)
        position, other = index + 1, place + 1
