"""Commas between entries: one between two neighbours, none before the end."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from commonhold.code.regions.encoding import BLANK
from commonhold.code.regions.lines import line_start
from commonhold.code.regions.region import Span

_OPENERS: Final = b"{["
_CLOSERS: Final = b"}]"
# The code of a line: all before a comment that is not in a string.
_CODE: Final = re.compile(rb"""(?:[^"'/\n]|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|/(?![/*]))*+""")
_BLANK_OR_COMMENT: Final = re.compile(rb"(?:[\s]|//[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/)*+")


def mended(source: bytes, seams: Iterable[int], spans: Sequence[Span], separator: bytes) -> tuple[bytes, list[Span]]:
    """Return the source with separators added or removed at the seams, and the spans moved accordingly."""
    found = list(spans)
    for seam in sorted(seams, reverse=True):
        at, length = _fault(source, seam, separator)
        if length > 0:
            source = source[:at] + separator + source[at:]
        elif length < 0:
            source = source[: at + length] + source[at:]
        found = [(_moved(start, at, length), _moved(end, at, length)) for start, end in found]
    return source, found


def without_last(text: bytes, separator: bytes) -> bytes:
    """Return the text of a definition without the separator behind it."""
    end = _code_end(text, len(text))
    start = end - len(separator)
    return text[:start] + text[end:] if separator and text[max(start, 0) : end] == separator else text


def _fault(source: bytes, seam: int, separator: bytes) -> tuple[int, int]:
    """Return where to insert a separator (its length) or to remove one (its length, negative); else (0, 0)."""
    left = _code_end(source, seam)
    match = _BLANK_OR_COMMENT.match(source, seam)
    right = source[match.end() : match.end() + 1] if match else b""
    before = source[max(left - len(separator), 0) : left]
    if not right or not left:
        return 0, 0
    if before == separator:
        return (left, -len(separator)) if right in _CLOSERS else (0, 0)
    return (0, 0) if before[-1:] in _OPENERS or right in _CLOSERS else (left, len(separator))


def _code_end(source: bytes, position: int) -> int:
    """Return the end of the last code before a position, comments at line ends left out."""
    while position > 0:
        start = line_start(source, position - 1)
        match = _CODE.match(source, start, position)
        code = match[0].rstrip(BLANK) if match else b""
        if code:
            return start + len(code)
        position = start
    return 0


def _moved(position: int, at: int, length: int) -> int:
    return position + length if position >= at and length else position
