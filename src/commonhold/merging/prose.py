"""The merge of text that is read, not run: documentation, comments, files without a grammar. By lines."""

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import Final

from commonhold.merging.align import common
from commonhold.merging.pieces import Clash, Piece
from commonhold.merging.verdict import Reason

Lines = list[bytes]
_LINE: Final = re.compile(rb"[^\n]*\n|[^\n]+\Z")


class AtOnePoint(Enum):
    """What is done with lines that both sides put at one point."""

    BOTH = auto()
    NEITHER = auto()


def lines_of(text: bytes) -> list[bytes]:
    """The lines, each with its end."""
    return _LINE.findall(text)


def merge_prose(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    at_one_point: AtOnePoint = AtOnePoint.BOTH,
    at: tuple[int, int, int] = (0, 0, 0),
) -> list[Piece]:
    """Merge by lines. Lines that both sides put at one point are kept in an order that depends on them alone."""
    if ours in (base, theirs):
        return [theirs]
    if theirs == base:
        return [ours]
    texts = lines_of(base), lines_of(ours), lines_of(theirs)
    return list(_Weave(texts, at_one_point, at).pieces())


class _Weave:
    """One merge of lines."""

    def __init__(self, texts: tuple[Lines, Lines, Lines], at_one_point: AtOnePoint, at: tuple[int, int, int]) -> None:
        self._base, self._ours, self._theirs = texts
        self._at_one_point = at_one_point
        self._at = at

    def pieces(self) -> Iterator[Piece]:
        """Where both sides kept a line is where they meet again; between such lines they are compared."""
        ours = dict(common(self._base, self._ours))
        theirs = dict(common(self._base, self._theirs))
        start = (0, 0, 0)
        for index in range(len(self._base)):
            if index in ours and index in theirs:
                here = (index, ours[index], theirs[index])
                yield from self._between(start, here)
                yield self._base[index]
                start = (here[0] + 1, here[1] + 1, here[2] + 1)
        yield from self._between(start, (len(self._base), len(self._ours), len(self._theirs)))

    def _between(self, start: tuple[int, int, int], end: tuple[int, int, int]) -> Iterator[Piece]:
        base, ours, theirs = (
            lines[low:high] for lines, low, high in zip((self._base, self._ours, self._theirs), start, end, strict=True)
        )
        if ours in (base, theirs):
            yield b"".join(theirs)
        elif theirs == base:
            yield b"".join(ours)
        elif not base and self._at_one_point is AtOnePoint.BOTH:
            yield b"".join(_ended(line) for run in sorted((ours, theirs)) for line in run)
        else:
            yield self._clash(start, base, ours, theirs)

    def _clash(self, start: tuple[int, int, int], base: Lines, ours: Lines, theirs: Lines) -> Clash:
        texts = (self._base, self._ours, self._theirs)
        places = (
            first + sum(map(len, lines[:index])) for first, lines, index in zip(self._at, texts, start, strict=True)
        )
        first, second, third = places
        why = "both sides changed the same lines of text" if base else "both sides put text at the same point"
        reason = Reason.BOTH_CHANGED if base else Reason.ORDER_MATTERS
        return Clash(b"".join(base), b"".join(ours), b"".join(theirs), reason, why, (first, second, third))


def _ended(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n"
