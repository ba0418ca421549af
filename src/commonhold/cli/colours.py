"""Colours on a terminal: the first word of a line determines its colour.

NO_COLOR (any value) and --plain switch them off, FORCE_COLOR switches them on without a terminal.
"""

import os
import re
from contextvars import ContextVar
from typing import Final, TextIO

_RESET: Final = "\x1b[0m"
_BOLD, _DIM, _RED, _GREEN, _YELLOW, _CYAN = (f"\x1b[{code}m" for code in ("1", "2", "31", "32", "33", "36"))
_DONE: Final = (
    "granted|released|renewed|committed|merged|stored|reviewed|waived|handed over|proven|verified|"
    "all is well|nothing to change|wrote|changed|added|started|stopped|compatible"
)
_LOOKS: Final = (
    (re.compile(rf"(?:{_DONE})\b"), _GREEN),
    (re.compile(r"ok(?= {2,}\S)"), _GREEN),
    (
        re.compile(
            r"(?:refused|denied|queued|cancelled|removed|replaced|not merged|conflict)\b|(?:warn|note) (?= *\S)"
        ),
        _YELLOW,
    ),
    (re.compile(r"(?:error:|fail (?= *\S)|something fails)"), _BOLD + _RED),
    (re.compile(r"(?:next|hint|notice):"), _CYAN),
    (re.compile(r"(?:@@ .*|(?:\+\+\+|---) .*)$"), _DIM),
    (re.compile(r"\+.*$"), _GREEN),
    (re.compile(r"-(?!-).*$"), _RED),
    (re.compile(r"[A-Za-z][^:]*:$"), _BOLD),
)
"""Beginnings of lines and their colours; the first match counts."""
_ID: Final = re.compile(r"\blease-[0-9a-f]{16}\b")
_plain: ContextVar[bool] = ContextVar("plain", default=False)


def choose(*, plain: bool) -> None:
    """Set whether the output of the present command is plain."""
    _plain.set(plain)


def is_plain() -> bool:
    """Whether the user wants neither colours nor anything that moves."""
    return _plain.get()


def are_wanted(stream: TextIO) -> bool:
    """Whether output to this stream is coloured."""
    if _plain.get() or os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR")
    if forced:
        return forced != "0"
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def painted(line: str) -> str:
    """Return the line as a terminal must show it."""
    body = line.lstrip(" ")
    look = next(((found, colour) for start, colour in _LOOKS if (found := start.match(body))), None)
    if look is None:
        return _with_ids(line)
    found, colour = look
    indent, rest = line[: len(line) - len(body)], body[found.end() :]
    return f"{indent}{colour}{found[0]}{_RESET}{_with_ids(rest)}"


def _with_ids(text: str) -> str:
    return _ID.sub(lambda found: f"{_CYAN}{found[0]}{_RESET}", text)
