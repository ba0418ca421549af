"""Named statements in an SQL script: `-- name: NAME`, a comment that describes it, and the statement."""

from typing import Final

_NAME: Final = "\n-- name: "
_READ: Final = r"\b(?:FROM|JOIN)\s+(\w+)"
_WRITTEN: Final = r"(?:INSERT(?: OR \w+)? INTO|UPDATE(?: OR \w+)?|DELETE FROM)\s+(\w+)"


def by_name(script: str) -> dict[str, str]:
    """Every statement of a script, on one line, by its name."""
    parts = (part.partition("\n") for part in f"\n{script}".split(_NAME)[1:])
    return {name: _on_one_line(text) for name, _, text in parts}


def _on_one_line(text: str) -> str:
    lines = (line.strip() for line in text.splitlines() if line and not line.startswith("--"))
    return " ".join(lines).removesuffix(";")


def tables_read(query: str) -> frozenset[str]:
    """Return the tables that a query reads."""
    import re  # noqa: PLC0415 - loaded here, as below: callers that only read need neither

    return frozenset(re.findall(_READ, query))


def table_written(statement: str) -> str | None:
    """Return the table that a statement changes; None for one that only reads."""
    import re  # noqa: PLC0415

    match = re.match(_WRITTEN, statement)
    return match[1] if match else None
