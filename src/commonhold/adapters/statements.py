"""Named statements in an SQL script: `-- name: NAME`, a comment that says what it does, and the statement."""

import re
from typing import Final

_NAME: Final = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_READ: Final = re.compile(r"\b(?:FROM|JOIN)\s+(\w+)")
_WRITTEN: Final = re.compile(r"(?:INSERT(?: OR \w+)? INTO|UPDATE(?: OR \w+)?|DELETE FROM)\s+(\w+)")


def by_name(script: str) -> dict[str, str]:
    """Every statement of a script, on one line, by its name."""
    parts = _NAME.split(script)
    return {name: _on_one_line(text) for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def _on_one_line(text: str) -> str:
    lines = (line.strip() for line in text.splitlines() if line and not line.startswith("--"))
    return " ".join(lines).removesuffix(";")


def tables_read(query: str) -> frozenset[str]:
    """The tables that a query looks at."""
    return frozenset(_READ.findall(query))


def table_written(statement: str) -> str | None:
    """The table that a statement changes; None for one that only looks."""
    match = _WRITTEN.match(statement)
    return match[1] if match else None
