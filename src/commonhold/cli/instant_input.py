"""Durations and instants as people write them: an instant is a duration ago, or a time with its zone."""

import time
from datetime import UTC, datetime

from commonhold.kernel.errors import Code, UsageError
from commonhold.tasks.plans import duration


def seconds_of(option: str, text: str) -> float:
    """Return the seconds in a text such as 30m that was given for an option. Raises UsageError."""
    seconds = duration(text)
    if not seconds:
        why = f"{option} takes a time above zero, not {text!r}"
        raise UsageError(Code.USAGE, why, hint="write a number with s, m, h or d, such as 90s or 30m")
    return seconds


def instant_of(text: str) -> float:
    """Return the Unix time that a text such as 7d or 2026-01-31T12:00:00+00:00 means. Raises UsageError."""
    seconds = duration(text)
    if seconds is not None:
        return time.time() - seconds
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        now = datetime.now(UTC).replace(microsecond=0).isoformat()
        raise UsageError(
            Code.USAGE, f"{text!r} is no time", hint=f"write a duration such as 7d, or a time with its zone: {now}"
        )
    return found.timestamp()
