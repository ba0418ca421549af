"""Errors of agents that say that their account has reached a limit of its provider, and how long that lasts: PURE.

The words are those of the agents' own error messages. Ordinary text is never looked at.
"""

import re
from datetime import datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

LONGEST_WAIT_SECONDS: Final = 8 * 86_400.0
"""No provider has a limit that lasts longer than a week; an instant beyond that is no end of one."""
_LIMIT: Final = re.compile(
    r"too many requests|rate.?limit|\b(?:usage|session|hour|hourly|daily|weekly|monthly|opus|sonnet) limit"
    r"|hit your (?:\w+ ){0,3}limit|limit reached\b.*\bresets?\b|(?<!disk )quota|resource.?(?:has been )?exhausted"
    r"|credit balance|(?:insufficient|out of|no) (?:credits?|funds)\b|payment required"
    r"|exhausted your (?:\w+ ){0,2}capacity|\b(?:status|code|error|http|failed)\W{0,8}429\b",
    re.IGNORECASE | re.DOTALL,
)
_PAYMENT: Final = re.compile(r"\bcredits?\b|\bbilling\b|\bfunds\b|insufficient.?quota|payment required", re.IGNORECASE)
_EPOCH: Final = re.compile(r"limit reached\|(\d{9,11})\b", re.IGNORECASE)
_SPAN: Final = re.compile(
    r"\b(?:try again|retry|resets?|reset after|wait)\s+(?:in|after)\s+"
    r"((?:about\s+)?(?:\d{1,9}(?:\.\d{1,9})?\s*[a-z]{1,12}\.?,?\s*(?:and\s+)?){1,5})",
    re.IGNORECASE,
)
_PART: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*(ms|milli|[smhd])", re.IGNORECASE)
_CLOCK: Final = re.compile(
    r"\b(?:resets?|reset|try again)(?:\s+(?:at|on))?\s+"
    r"(?:(?P<month>[a-z]{3})[a-z]*\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?(?:\s+(?P<year>\d{4}))?(?:,|\s+at)?\s+)?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?P<half>[ap]m)\b(?:\s*\((?P<zone>[A-Za-z0-9_+/-]{1,60})\))?",
    re.IGNORECASE,
)
_UNITS: Final = {"ms": 0.001, "milli": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_HALF_DAY: Final = 12
_MOST_CHARACTERS: Final = 4_000
"""So much of a message is searched."""


def says_limit(error: str) -> bool:
    """Return whether an error message of an agent says that its account has reached a limit, or is out of quota."""
    return _LIMIT.search(error[:_MOST_CHARACTERS]) is not None


def asks_for_payment(error: str) -> bool:
    """Return whether the error of a limit says that only a payment ends it, unless it says when the limit ends."""
    return _PAYMENT.search(error[:_MOST_CHARACTERS]) is not None


def wait_seconds(error: str, until: float | None, now: datetime) -> float | None:
    """Return how long a limit lasts from `now` on, which has a time zone; None if its error does not say, or is stale.

    `until` is the Unix time of its end, if the agent says that beside the message.
    """
    ends_at = until if until is not None else _end(error[:_MOST_CHARACTERS], now)
    if ends_at is None:
        return None
    left = ends_at - now.timestamp()
    return left if 0 < left <= LONGEST_WAIT_SECONDS else None


def _end(error: str, now: datetime) -> float | None:
    """Return the Unix time in the words of an error: an instant, a span from now on, or a time of day."""
    if found := _EPOCH.search(error):
        return float(found[1])
    if found := _SPAN.search(error):
        parts = [float(number) * _UNITS[unit.lower()] for number, unit in _PART.findall(found[1])]
        return now.timestamp() + sum(parts) if parts else None
    if found := _CLOCK.search(error):
        return _instant(found, now)
    return None


def _instant(found: re.Match[str], now: datetime) -> float | None:
    """Return the Unix time of a time of day, perhaps with a date: without one, the next such time."""
    here = now.astimezone(_zone(found["zone"], now))
    hour = int(found["hour"]) % _HALF_DAY + (_HALF_DAY if found["half"].lower() == "pm" else 0)
    try:
        at = here.replace(hour=hour, minute=int(found["minute"] or 0), second=0, microsecond=0)
        if found["month"]:
            month = _MONTHS.index(found["month"].lower()) + 1
            at = at.replace(year=int(found["year"] or here.year), month=month, day=int(found["day"]))
        elif at <= here:
            at += timedelta(days=1)
        return at.timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _zone(name: str | None, now: datetime) -> tzinfo | None:
    """Return the time zone of that name; that of `now` if there is none, or this machine does not know it."""
    try:
        return ZoneInfo(name) if name else now.tzinfo
    except (ValueError, OSError, KeyError):  # the error of an unknown one is a KeyError
        return now.tzinfo
