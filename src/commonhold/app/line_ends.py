"""The ends of lines, as tools see and write them."""

from typing import Final

from commonhold.app.happenings import Ends

_CRLF: Final = "\r\n"
_SAMPLE: Final = 4096
"""So much of a file is looked at where the ends that most lines have are asked for."""


def is_crlf(text: str, ends: Ends) -> bool:
    """Whether a tool takes the file for one whose lines end in CRLF."""
    match ends:
        case Ends.MOST:
            sample = text[:_SAMPLE]
            return 2 * sample.count(_CRLF) > sample.count("\n")
        case Ends.ANY | Ends.SPOKEN:
            return _CRLF in text
        case Ends.AS_GIVEN | Ends.FIRST:
            return False


def in_ends(end: str, text: str) -> str:
    """The text with every line feed, alone or after a carriage return, as that end."""
    plain = text.replace(_CRLF, "\n")
    return plain if end == "\n" else plain.replace("\n", end)
