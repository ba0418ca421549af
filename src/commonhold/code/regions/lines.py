"""The bounds and indents of lines: every count of lines in this package goes by line feeds."""

from typing import Final

TAB_WIDTH: Final = 8
INDENT: Final = b" \t\f"


def line_start(source: bytes, position: int) -> int:
    """Return the start of the line that holds the byte at `position`."""
    return source.rfind(b"\n", 0, position) + 1


def line_end(source: bytes, position: int) -> int:
    """Return the byte after the line that holds the byte at `position`, its line end included."""
    return source.find(b"\n", position) + 1 or len(source)


def width_of(indent: bytes) -> int:
    """Return the column that an indent reaches."""
    return len(indent.rpartition(b"\f")[2].expandtabs(TAB_WIDTH))
