"""The named statements of `queries.sql`."""

from functools import cache
from pathlib import Path

from commonhold.adapters.statements import by_name


@cache
def load(file_name: str = "queries.sql") -> dict[str, str]:
    """Every statement by its name."""
    return by_name(Path(__file__).with_name(file_name).read_text(encoding="utf-8"))
