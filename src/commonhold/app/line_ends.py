"""The ends of lines, as tools see and write them."""

from typing import Final

CRLF: Final = "\r\n"
_SAMPLE: Final = 4096
"""So much of a file is looked at for the ends that most of its lines have."""


def are_mostly_crlf(text: str) -> bool:
    """Whether most of the lines that a file begins with end in CRLF."""
    sample = text[:_SAMPLE]
    return 2 * sample.count(CRLF) > sample.count("\n")


def in_ends(end: str, text: str) -> str:
    """The text with every line feed, alone or after a carriage return, as that end."""
    plain = text.replace(CRLF, "\n")
    return plain if end == "\n" else plain.replace("\n", end)
