"""Delete expired contents and answers."""

from commonhold.kernel.clock import Now
from commonhold.kernel.options import ANSWER_RETENTION_SECONDS
from commonhold.kernel.ports import Writer


def forget(writer: Writer, now: Now, retention_seconds: float) -> None:
    """Delete kept contents and answers whose retention is over."""
    writer.drop_before(now.wall - retention_seconds, now.wall - ANSWER_RETENTION_SECONDS)
