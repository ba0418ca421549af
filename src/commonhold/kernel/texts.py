"""Holder names, task descriptions and intents: one line of printable text, since other agents read them.

This module also decides how messages show them: session names short, times as durations.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from commonhold.kernel.errors import Code, InputError, UsageError

NOBODY: Final = "outside"
"""The holder of changes of unknown origin; no rule applies to them."""
MARK: Final = "\ufeff"
"""The byte order mark, with which some programs begin a file: no part of its text."""
MAX_HOLDER_LENGTH: Final = 200
MAX_ID_LENGTH: Final = 200
MAX_TEXT_LENGTH: Final = 2000
CONTROL_IN_LINES: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
"""The control characters that a text of several lines does not need."""
_MOST_QUOTED: Final = 160
_RANDOM_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{12,}")
_TIMED_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]{2,5}_[0-9A-Za-z]{16,}")
_SESSION_DIGITS: Final = 8
_SUBAGENT_DIGITS: Final = 4
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_UNPRINTABLE: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def check_holder(text: str) -> str:
    """Check the name of an agent session. Raises UsageError `HOLDER_MISSING`, InputError `TEXT_INVALID`."""
    if not text.strip():
        raise UsageError(
            Code.HOLDER_MISSING,
            "this needs a session name, so that others see who does it",
            hint="name this session: agent=NAME in Python, the header X-Commonhold-Agent over HTTP",
        )
    if text != text.strip():
        raise _invalid("holder", "begins or ends with white space", "leave it out")
    if text == NOBODY:
        raise _invalid("holder", f"cannot be {NOBODY!r}, the name for “no holder”", "choose another name")
    return check_line(text, "holder", MAX_HOLDER_LENGTH)


def check_line(text: str, what: str, limit: int = MAX_TEXT_LENGTH) -> str:
    """Check that a text is one printable line of at most `limit` characters. Raises InputError `TEXT_INVALID`."""
    if not text.isprintable():
        bad = next((char for char in text if unicodedata.category(char) in _UNPRINTABLE), None)
        if bad is not None:
            raise _invalid(what, f"holds the control character {bad!r}", "write it as one line of printable text")
    if len(text) > limit:
        raise _invalid(what, f"has {len(text)} characters; at most {limit} are kept", "shorten it")
    return text


def quoted(text: str) -> str:
    """Quote a text of another agent, at most 160 characters, in quotation marks that the text cannot close."""
    cut = text if len(text) <= _MOST_QUOTED else f"{text[: _MOST_QUOTED - 1]}…"
    import json  # noqa: PLC0415 - loaded here: only messages to agents quote

    return json.dumps(cut, ensure_ascii=False)


def counted(count: int, noun: str) -> str:
    """Return a number and its noun, in the plural where needed: `1 file`, `2 files`, `0 files`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def listed(names: Sequence[str], most: int) -> str:
    """Join the first `most` names, and say how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def short_name(holder: str) -> str:
    """Return a holder's name for messages: `claude:26baef9a`, and `claude:26baef9a/a8f0` for a subagent of it.

    A generated id is cut to eight characters (four for a subagent); a name chosen by people stays as it is. Short names
    are for reading only: two holders may share one, so they are never compared, and JSON has the full name.
    """
    program, colon, rest = holder.rpartition(":")
    session, slash, subagent = rest.partition("/")
    short = f"{_short_id(session, _SESSION_DIGITS)}{slash}{_short_id(subagent, _SUBAGENT_DIGITS)}"
    return f"{program}{colon}{short}"


def short_names(holders: Iterable[str]) -> str:
    """Several holders in a line, each once."""
    return ", ".join(dict.fromkeys(map(short_name, holders)))


def _short_id(text: str, digits: int) -> str:
    """The part of an id that tells it from others: an id that is not random begins with the time it was made at."""
    if _RANDOM_ID.fullmatch(text):
        return text[:digits]
    return text[-digits:] if _TIMED_ID.fullmatch(text) else text


def duration(seconds: float) -> str:
    """A duration in words, without a clock time: `40 s`, `9 min`, `2 h 5 min`, `3 days`."""
    if seconds < 1:
        return "less than 1 s"
    if seconds < 1.5 * _MINUTE:
        return f"{round(seconds)} s"
    if seconds < 1.5 * _HOUR:
        return f"{round(seconds / _MINUTE)} min"
    if seconds < 2 * _DAY:
        hours, minutes = divmod(round(seconds / _MINUTE), 60)
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{round(seconds / _DAY)} days"


def in_utf8(text: str) -> str:
    """Return the text without lone surrogates: programs that count in UTF-16 cut texts inside a character."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _invalid(what: str, why: str, hint: str) -> InputError:
    return InputError(Code.TEXT_INVALID, f"the {what} {why}", hint=hint, fields={"field": what})
