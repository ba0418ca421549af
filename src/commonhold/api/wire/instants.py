"""Instants in JSON. A leaf module, since showing leases needs little else."""

from datetime import UTC, datetime


def instant(wall: float) -> str:
    """ISO 8601 in UTC with milliseconds, from Unix time."""
    return datetime.fromtimestamp(wall, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
