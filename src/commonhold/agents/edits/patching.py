"""Apply the hunks of a patch to a file. They are located by their lines, as there are no line numbers."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.agents.hook_events import Ends, Hunk, Manner, Patched, Unclear
from commonhold.kernel.texts import MARK

_END: Final = re.compile(r"\r\n|\n|\r")
_LINE_FEED: Final = re.compile(r"\n")
_PUNCTUATION: Final = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
    | dict.fromkeys("\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " ")
)

_Way = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    end: str


@dataclass(frozen=True, slots=True)
class _Place:
    """The place where a hunk was found: the lines from `start` up to but not including `stop`."""

    start: int
    stop: int
    hunk: Hunk


def patched(wish: Patched, text: str | None) -> str | Unclear:
    """Return the future text of a file whose present text is `text` (None: there is no file), or why it is unclear."""
    if text is None:
        return Unclear("there is no such file", wish.path)
    if wish.to == wish.path:
        return Unclear("the patch moves the file to where it is", wish.path)
    mark = MARK if wish.manner.keeps_mark and text.startswith(MARK) else ""
    lines = list(_lines(text.removeprefix(mark), wish.manner))
    places: list[_Place] = []
    at = 0
    for hunk in wish.hunks:
        place = _place([line.text for line in lines], hunk, at, wish.manner)
        if isinstance(place, str):
            return Unclear(place, wish.path)
        places.append(place)
        at = place.stop if hunk.before else at
    return mark + _joined(lines, places, wish.manner)


def _lines(text: str, manner: Manner) -> Iterator[_Line]:
    start = 0
    for end in (_END if manner.ends is Ends.FIRST else _LINE_FEED).finditer(text):
        yield _Line(text[start : end.start()], end.group())
        start = end.end()
    if start < len(text):
        yield _Line(text[start:], "")


def _place(lines: Sequence[str], hunk: Hunk, at: int, manner: Manner) -> _Place | str:
    ways = _WAYS_TO_SEE_INDENTS if manner.reindents else _WAYS_TO_SEE
    for anchor in hunk.anchors:
        found = _find(lines, (anchor,), range(at, len(lines)), _WAYS_TO_SEE)
        if found is None:
            return f"the patch names a line that is not in the file, or not after its last change: {anchor.strip()}"
        at = found + 1
    if not hunk.before:
        return _Place(len(lines), len(lines), hunk)
    for each in (hunk, _less_a_blank(hunk)):
        last = len(lines) - len(each.before)
        is_last = each.at_end and manner.heeds_end and each.before
        start = _find(lines, each.before, range(max(at, last) if is_last else at, last + 1), ways)
        if start is not None:
            return _Place(start, start + len(each.before), each)
    where = (
        "at the end of the file" if hunk.at_end and manner.heeds_end else "in the file, or not after the last change"
    )
    first = next((line.strip() for line in hunk.before if line.strip()), "a blank line")
    return f"lines that the patch changes are not {where}: {first}"


def _find(lines: Sequence[str], sought: Sequence[str], starts: range, ways: Sequence[_Way]) -> int | None:
    """Return the first place with these lines: exact, or else without regard to blanks, then to kinds of dashes."""
    for seen in ways:
        wanted = [seen(line) for line in sought]
        there = [seen(line) for line in lines]
        for start in starts:
            if there[start : start + len(wanted)] == wanted:
                return start
    return None


def _plainly(line: str) -> str:
    return line.strip().translate(_PUNCTUATION)


_WAYS_TO_SEE: Final[tuple[_Way, ...]] = (str, str.rstrip, str.strip, _plainly)
_WAYS_TO_SEE_INDENTS: Final = _WAYS_TO_SEE[:2]


def _less_a_blank(hunk: Hunk) -> Hunk:
    """Return the hunk without its final blank line, which may stand for the end of the file."""
    if hunk.before[-1]:
        return hunk
    after = hunk.after[:-1] if hunk.after and not hunk.after[-1] else hunk.after
    kept = tuple(pair for pair in hunk.kept if pair[0] < len(hunk.before) - 1 and pair[1] < len(after))
    return Hunk(hunk.before[:-1], after, hunk.anchors, at_end=hunk.at_end, kept=kept)


def _joined(lines: list[_Line], places: Sequence[_Place], manner: Manner) -> str:
    end = (lines[0].end if lines and manner.ends is Ends.FIRST else "") or "\n"
    after = list(lines)
    for place in reversed(sorted(places, key=lambda place: place.start)):  # noqa: C413 - keeps the order at one place
        kept = {new: old for old, new in place.hunk.kept} if manner.keeps_context else {}
        after[place.start : place.stop] = [
            lines[place.start + kept[number]] if number in kept else _Line(text, end)
            for number, text in enumerate(place.hunk.after)
        ]
    # A last line without a line ending is completed.
    return "".join(f"{line.text}{line.end or end}" for line in after)
