"""Parse TOML from untrusted authors, in bounded time and without exhausting the stack."""

import tomllib
from typing import Any, Final

MOST_STEPS: Final = 4_000_000
"""The limit on visits to parts of dotted keys during a parse: about half a second of work."""


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a TOML document and return its tables.

    Raises ValueError (or its subclass `tomllib.TOMLDecodeError`) if the text is not valid TOML, is nested too deeply,
    or would take too long to parse.
    """
    if _steps(text) > MOST_STEPS:
        raise ValueError("its dotted keys are so long that reading them would take too long")
    try:
        return tomllib.loads(text)
    except RecursionError as fault:
        raise ValueError("it is nested too deeply") from fault


def _steps(text: str) -> int:
    """Return an upper bound on the number of key parts that tomllib visits.

    tomllib walks a dotted key once for each of its parts, and the name of a table once for each line in the table. Dots
    outside keys are counted too.
    """
    lines = text.split("\n")
    dots = [line.count(".") for line in lines]
    deepest = max((many for many, line in zip(dots, lines, strict=True) if line.lstrip().startswith("[")), default=0)
    return sum(many * many for many in dots) + deepest * len(lines)
