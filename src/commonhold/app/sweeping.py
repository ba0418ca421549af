"""Clearing up along the way: ending leases that have run out, forgetting what nobody needs."""

from typing import Final

from commonhold.app.ports import Writer
from commonhold.domain.clock import Now
from commonhold.domain.lease_table import expire

CONTENT_RETENTION_SECONDS: Final = 30 * 86400.0
ANSWER_RETENTION_SECONDS: Final = 7 * 86400.0


def sweep(writer: Writer, now: Now) -> None:
    """Record the leases that have run out as expired. There is no daemon that would, so every command does."""
    if expired := writer.expired(now):
        writer.record(expire(expired, now), now.wall)


def forget(writer: Writer, now: Now, retention_seconds: float) -> None:
    """Drop kept contents and answers whose time is over."""
    writer.drop_before(now.wall - retention_seconds, now.wall - ANSWER_RETENTION_SECONDS)
