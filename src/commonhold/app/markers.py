"""Conflict markers of another length than the usual seven: git asks for longer ones where a file holds some itself."""

import re
from typing import Final

from commonhold.merging.verdict import Sides

USUAL_SIZE: Final = 7


def with_markers_of(size: int, marked: bytes, sides: Sides) -> bytes:
    """The marked text with markers of `size` characters. Only those are touched that bear the names of the sides."""
    if size == USUAL_SIZE:
        return marked
    begin, end = _line(b"<", sides.ours), _line(b">", sides.theirs)
    blocks = re.compile(begin + rb".*?" + end, re.DOTALL | re.MULTILINE)
    return blocks.sub(lambda block: _resized(size, block[0], sides), marked)


def _resized(size: int, block: bytes, sides: Sides) -> bytes:
    for mark, name in ((b"<", sides.ours), (b"|", sides.base), (b">", sides.theirs)):
        block = re.sub(_line(mark, name), lambda line: line[1][:1] * size + line[2], block, flags=re.MULTILINE)
    return re.sub(rb"^(={7})([ \t\r]*)$", lambda line: b"=" * size + line[2], block, flags=re.MULTILINE)


def _line(mark: bytes, name: str) -> bytes:
    written = re.escape(name.encode("utf-8", "surrogateescape"))
    return rb"^(" + re.escape(mark) + rb"{7})( " + written + rb"\r?)$"
