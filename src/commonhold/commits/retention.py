"""Delete expired contents and answers."""

from typing import Final

from commonhold.kernel.clock import Now
from commonhold.kernel.ports import Writer

ANSWER_RETENTION_SECONDS: Final = 7 * 86400.0


def forget(writer: Writer, now: Now, retention_seconds: float) -> None:
    """Delete kept contents and answers whose retention is over."""
    writer.drop_before(now.wall - retention_seconds, now.wall - ANSWER_RETENTION_SECONDS)
