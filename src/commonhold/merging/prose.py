"""The merge, by lines, of text that is read and not run: documentation, comments, files without a grammar."""

import re
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from functools import lru_cache
from typing import Final

from commonhold.code.regions.incremental_parse import common_prefix
from commonhold.merging.align import Places, equal_ends, stretches
from commonhold.merging.pieces import Clash, Piece, uncontested
from commonhold.merging.verdict import Lines as Rows
from commonhold.merging.verdict import Reason, Spot

Lines = Sequence[bytes]
_HEADING: Final = re.compile(rb"#{1,6}[ \t]|([=\-~^])\1{2,}[ \t]*\r?$")
_ITEM: Final = re.compile(rb"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_VERSION: Final = re.compile(rb"\d\.\d|\d-\d")
_LINE: Final = re.compile(rb"[^\n]*\n|[^\n]+\Z")
_LARGEST_KEPT: Final = 250_000


class AtOnePoint(Enum):
    """How lines that both sides put at one point are merged: both kept, those with a heading last, or neither."""

    BOTH = auto()
    SECTIONS_LAST = auto()
    NEITHER = auto()


def lines_of(text: bytes) -> Lines:
    """Return the lines, each with its end.

    Each merge asks for those of the same few texts many times, so the last ones of ordinary size are remembered.
    """
    return _kept_lines(text) if len(text) <= _LARGEST_KEPT else _LINE.findall(text)


@lru_cache(maxsize=8)
def _kept_lines(text: bytes) -> tuple[bytes, ...]:
    return tuple(_LINE.findall(text))


def merge_prose(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    at_one_point: AtOnePoint = AtOnePoint.BOTH,
    at: Places = (0, 0, 0),
) -> list[Piece]:
    """Merge by lines. Of lines that both sides put at one point ours stand first."""
    alone = uncontested(base, ours, theirs)
    if alone is not None:
        return [alone]
    start, end = _shared_ends(base, ours, theirs)
    inner = [text[start : len(text) - end] for text in (base, ours, theirs)]
    texts = lines_of(inner[0]), lines_of(inner[1]), lines_of(inner[2])
    shifted = (at[0] + start, at[1] + start, at[2] + start)
    return [
        base[:start],
        *_Weave(texts, at_one_point, shifted).pieces(),
        base[len(base) - end :],
    ]


def apart(base: bytes, ours: bytes, theirs: bytes, spots: Sequence[Spot]) -> list[Piece]:
    """Join the lines of both sides, but leave open each change that one of the spots names.

    This serves texts that merge by lines and still must not be written: each side's change stands against the text
    without it.
    """
    texts = lines_of(base), lines_of(ours), lines_of(theirs)
    doubted = [spot.ours for spot in spots], [spot.theirs for spot in spots]
    return list(_Weave(texts, AtOnePoint.NEITHER, (0, 0, 0), doubted).pieces())


def _shared_ends(*texts: bytes) -> tuple[int, int]:
    """Return how many first and last bytes all have in common, in whole lines."""
    first = texts[0]
    start = first.rfind(b"\n", 0, min(common_prefix(first, each) for each in texts[1:])) + 1
    backwards = [text[start:][::-1] for text in texts]
    end = min(common_prefix(backwards[0], each) for each in backwards[1:])
    return start, max(backwards[0].rfind(b"\n", 0, end), 0)


def without_shared_ends(*texts: bytes) -> list[bytes]:
    """Return the texts without the first and last lines that all have in common."""
    start, end = _shared_ends(*texts)
    return [text[start : len(text) - end] for text in texts]


class _Weave:
    """One merge of lines."""

    def __init__(
        self,
        texts: tuple[Lines, Lines, Lines],
        at_one_point: AtOnePoint,
        at: Places,
        doubted: tuple[Sequence[Rows], Sequence[Rows]] = ((), ()),
    ) -> None:
        self._base, self._ours, self._theirs = texts
        self._at_one_point = at_one_point
        self._at = at
        self._doubted = doubted

    def pieces(self) -> Iterator[Piece]:
        """Yield the merge: lines that both sides kept are common points; the stretches between are compared."""
        for start, end in stretches(self._base, self._ours, self._theirs):
            yield self._between(start, end)
            yield from self._base[end[0] : end[0] + 1]

    def _between(self, start: Places, end: Places) -> Piece:
        base, ours, theirs = (
            lines[low:high] for lines, low, high in zip((self._base, self._ours, self._theirs), start, end, strict=True)
        )
        alone = uncontested(base, ours, theirs)
        is_same = base == ours == theirs
        if alone is not None and (is_same or not self._is_doubted(start, end)):
            return b"".join(alone)
        is_joined = alone is None and not base and self._at_one_point is not AtOnePoint.NEITHER
        if is_joined and _are_ended(ours) and _are_ended(theirs):
            if self._at_one_point is AtOnePoint.SECTIONS_LAST:
                ours, theirs = sorted((ours, theirs), key=_opens_section)
            joined = self._joined(ours, theirs)
            if joined is not None:
                return b"".join(joined)
        return self._clash(start, base, ours, theirs)

    def _joined(self, ours: Lines, theirs: Lines) -> Lines | None:
        has_entries = self._at_one_point is AtOnePoint.SECTIONS_LAST and _are_entries(ours, theirs)
        return _both_entries(ours, theirs) if has_entries else _both(ours, theirs)

    def _is_doubted(self, start: Places, end: Places) -> bool:
        changed = zip(self._doubted, start[1:], end[1:], strict=True)
        return any(first < high and low < last for rows, low, high in changed for first, last in rows)

    def _clash(self, start: Places, base: Lines, ours: Lines, theirs: Lines) -> Clash:
        texts = (self._base, self._ours, self._theirs)
        places = (
            first + sum(map(len, lines[:index])) for first, lines, index in zip(self._at, texts, start, strict=True)
        )
        first, second, third = places
        why = "both sides changed the same lines of text" if base else "both sides put text at the same point"
        reason = Reason.BOTH_CHANGED if base else Reason.ORDER_MATTERS
        return Clash(b"".join(base), b"".join(ours), b"".join(theirs), reason, why, (first, second, third))


def _opens_section(lines: Lines) -> bool:
    """Whether lines contain a heading, so that the lines after them would belong to its section."""
    return any(map(_HEADING.match, lines))


def _both(ours: Lines, theirs: Lines) -> Lines:
    """Return the lines of both; equal lines at their beginning and end stand once."""
    head, tail = equal_ends(ours, theirs)
    return [*ours[: len(ours) - tail], *theirs[head:]]


def _both_entries(ours: Lines, theirs: Lines) -> Lines | None:
    """Return the entries of both; equal entries at their beginning and end stand once.

    None if both begin one entry alike, or each has a release of its own, whose order is that of the versions. Entries
    that only end alike are two entries. Blank lines around text that is no list item also stand twice.
    """
    head, tail = equal_ends(ours, theirs)
    if any(_continues(run, head) for run in (ours, theirs)) or all(
        _names_release(run[head:]) for run in (ours, theirs)
    ):
        return None
    tail = next(at for at in range(tail, -1, -1) if not any(_continues(run, len(run) - at) for run in (ours, theirs)))
    if not all(_opens_item(run) for run in (ours, theirs)):
        head = head if b"".join(ours[:head]).strip() else 0
        tail = tail if b"".join(ours[len(ours) - tail :]).strip() else 0
    return [*ours[: len(ours) - tail], *theirs[head:]]


def _names_release(lines: Lines) -> bool:
    """Whether lines contain a heading with a version or a date."""
    rows = zip(lines, (b"", *lines), strict=False)
    return any(_VERSION.search(before + line) for line, before in rows if _HEADING.match(line))


def _are_entries(*runs: Lines) -> bool:
    """Whether an entry may have several lines: in a document, but not in a list of lines such as requirements."""
    return any(not line.strip() or line[:1] in b" \t" or _ITEM.match(line) for run in runs for line in run)


def _continues(lines: Lines, at: int) -> bool:
    """Whether the line at an index belongs to the entry of the line before it."""
    if not 0 < at < len(lines) or not lines[at - 1].strip() or not lines[at].strip():
        return False
    return not (_ITEM.match(lines[at]) or _HEADING.match(lines[at - 1]))


def _opens_item(lines: Lines) -> bool:
    """Whether lines begin with an item of a list."""
    return next((_ITEM.match(line) is not None for line in lines if line.strip()), False)


def _are_ended(lines: Lines) -> bool:
    """Whether every line is ended, so that more text may follow."""
    return all(line.endswith(b"\n") for line in lines)
