"""Line endings, as tools read and write them."""

from typing import Final

CRLF: Final = "\r\n"
_SAMPLE: Final = 4096
"""The number of characters at the start of a file that decide which line ending most of its lines have."""


def are_mostly_crlf(text: str) -> bool:
    """Whether most lines in the first part of a file end in CRLF."""
    sample = text[:_SAMPLE]
    return 2 * sample.count(CRLF) > sample.count("\n")


def in_ends(end: str, text: str) -> str:
    """Return the text with each line ending (LF or CRLF) replaced by `end`."""
    plain = text.replace(CRLF, "\n")
    return plain if end == "\n" else plain.replace("\n", end)
