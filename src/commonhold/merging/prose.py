"""The merge of text that is read, not run: documentation, comments, files without a grammar. By lines."""

import re
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import Final

from commonhold.merging.align import common
from commonhold.merging.pieces import Clash, Piece
from commonhold.merging.verdict import Lines as Rows
from commonhold.merging.verdict import Reason, Spot
from commonhold.regions.reparsing import common_prefix

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
    """Merge by lines. Of lines that both sides put at one point ours stand first."""
    if ours in (base, theirs):
        return [theirs]
    if theirs == base:
        return [ours]
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
    """The lines of both sides joined, but each change that one of the spots speaks of left open.

    For what merges by lines and still may not be written: each side's change stands against the text without it.
    """
    texts = lines_of(base), lines_of(ours), lines_of(theirs)
    doubted = [spot.ours for spot in spots], [spot.theirs for spot in spots]
    return list(_Weave(texts, AtOnePoint.NEITHER, (0, 0, 0), doubted).pieces())


def _shared_ends(*texts: bytes) -> tuple[int, int]:
    """How many first and last bytes all have in common, in whole lines."""
    first = texts[0]
    start = first.rfind(b"\n", 0, min(common_prefix(first, each) for each in texts[1:])) + 1
    backwards = [text[start:][::-1] for text in texts]
    end = min(common_prefix(backwards[0], each) for each in backwards[1:])
    return start, max(backwards[0].rfind(b"\n", 0, end), 0)


def without_shared_ends(*texts: bytes) -> list[bytes]:
    """The texts without the first and last lines that all have in common."""
    start, end = _shared_ends(*texts)
    return [text[start : len(text) - end] for text in texts]


class _Weave:
    """One merge of lines."""

    def __init__(
        self,
        texts: tuple[Lines, Lines, Lines],
        at_one_point: AtOnePoint,
        at: tuple[int, int, int],
        doubted: tuple[Sequence[Rows], Sequence[Rows]] = ((), ()),
    ) -> None:
        self._base, self._ours, self._theirs = texts
        self._at_one_point = at_one_point
        self._at = at
        self._doubted = doubted

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
        if self._is_doubted(start, end) and not base == ours == theirs:
            yield self._clash(start, base, ours, theirs)
        elif ours in (base, theirs):
            yield b"".join(theirs)
        elif theirs == base:
            yield b"".join(ours)
        elif not base and self._at_one_point is AtOnePoint.BOTH and _are_ended(ours) and _are_ended(theirs):
            yield b"".join(_both(ours, theirs))
        else:
            yield self._clash(start, base, ours, theirs)

    def _is_doubted(self, start: tuple[int, int, int], end: tuple[int, int, int]) -> bool:
        changed = zip(self._doubted, start[1:], end[1:], strict=True)
        return any(first < high and low < last for rows, low, high in changed for first, last in rows)

    def _clash(self, start: tuple[int, int, int], base: Lines, ours: Lines, theirs: Lines) -> Clash:
        texts = (self._base, self._ours, self._theirs)
        places = (
            first + sum(map(len, lines[:index])) for first, lines, index in zip(self._at, texts, start, strict=True)
        )
        first, second, third = places
        why = "both sides changed the same lines of text" if base else "both sides put text at the same point"
        reason = Reason.BOTH_CHANGED if base else Reason.ORDER_MATTERS
        return Clash(b"".join(base), b"".join(ours), b"".join(theirs), reason, why, (first, second, third))


def _both(ours: Lines, theirs: Lines) -> Lines:
    """The lines of both; what they begin and end with alike stands once."""
    head, tail = alike(ours, theirs)
    return [*ours[: len(ours) - tail], *theirs[head:]]


def alike(left: Lines, right: Lines) -> tuple[int, int]:
    """How many first and last lines are the same."""
    shortest = min(len(left), len(right))
    head = next((at for at in range(shortest) if left[at] != right[at]), shortest)
    tail = next((at for at in range(shortest - head) if left[-1 - at] != right[-1 - at]), shortest - head)
    return head, tail


def _are_ended(lines: Lines) -> bool:
    """Whether something may follow the lines."""
    return all(line.endswith(b"\n") for line in lines)
