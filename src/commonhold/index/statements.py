"""The named statements of `queries.sql`."""

from functools import cache
from pathlib import Path

from commonhold.stores.statements import by_name


@cache
def statements() -> dict[str, str]:
    """Every statement by its name."""
    return by_name(Path(__file__).with_name("queries.sql").read_text(encoding="utf-8"))


@cache
def schema() -> str:
    """The script that makes the tables."""
    return Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")
