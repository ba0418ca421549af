"""Instants as people write them: as a duration ago, or as a time with its zone."""

import time
from datetime import UTC, datetime

from commonhold.kernel.errors import Code, UsageError
from commonhold.tasks.plans import duration


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
