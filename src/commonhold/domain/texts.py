"""Holder names, task descriptions and intents: one line of printable text, since other agents read them."""

import unicodedata
from collections.abc import Sequence
from typing import Final

from commonhold.domain.errors import Code, InputError, UsageError

NOBODY: Final = "outside"
"""The holder of changes that nobody is known to have made; they are judged by nobody."""
MARK: Final = "\ufeff"
"""The byte order mark, with which some programs begin a file: no part of its text."""
MAX_HOLDER_LENGTH: Final = 200
MAX_ID_LENGTH: Final = 200
MAX_TEXT_LENGTH: Final = 2000
_MOST_QUOTED: Final = 160
_UNPRINTABLE: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def check_holder(text: str) -> str:
    """Check the name of an agent session. Raises UsageError `HOLDER_MISSING`, InputError `TEXT_INVALID`."""
    if not text.strip():
        raise UsageError(
            Code.HOLDER_MISSING,
            "no holder was named, so nobody could be told whose lease this is",
            hint="name this agent session: --agent NAME, COMMONHOLD_AGENT, or X-Commonhold-Agent over HTTP",
        )
    if text == NOBODY:
        raise _invalid("holder", f"cannot be {NOBODY!r}, the word for nobody", "choose another name")
    return check_line(text, "holder", MAX_HOLDER_LENGTH)


def check_line(text: str, what: str, limit: int = MAX_TEXT_LENGTH) -> str:
    """Check that a text is one printable line of at most `limit` characters. Raises InputError `TEXT_INVALID`."""
    bad = None if text.isprintable() else _first_unprintable(text)
    if bad is not None:
        raise _invalid(what, f"holds the control character {bad!r}", "write it as one line of printable text")
    if len(text) > limit:
        raise _invalid(what, f"has {len(text)} characters; at most {limit} are kept", "shorten it")
    return text


def quoted(text: str) -> str:
    """What somebody else has said, for another agent: in quotation marks that it cannot end, and not too long."""
    cut = text if len(text) <= _MOST_QUOTED else f"{text[: _MOST_QUOTED - 1]}…"
    import json  # noqa: PLC0415 - loaded here: who speaks to no agent's program quotes nobody

    return json.dumps(cut, ensure_ascii=False)


def listed(names: Sequence[str], most: int) -> str:
    """Names in a line: the first of them, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def in_utf8(text: str) -> str:
    """The text as it can be kept: programs that count in UTF-16 cut texts in the middle of a character."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _first_unprintable(text: str) -> str | None:
    return next((char for char in text if unicodedata.category(char) in _UNPRINTABLE), None)


def _invalid(what: str, why: str, hint: str) -> InputError:
    return InputError(Code.TEXT_INVALID, f"the {what} {why}", hint=hint, fields={"field": what})
