"""TOML from untrusted authors: no text takes long to read, or exhausts the stack."""

import tomllib
from typing import Any, Final

MOST_STEPS: Final = 4_000_000
"""The limit on visits to parts of dotted keys while reading: about half a second's work."""


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables in a text.

    Raises ValueError (`tomllib.TOMLDecodeError` is one) if the text is no TOML, is nested too deeply or would take too
    long.
    """
    if _steps(text) > MOST_STEPS:
        raise ValueError("its dotted keys are so long that reading them would take too long")
    try:
        return tomllib.loads(text)
    except RecursionError as fault:
        raise ValueError("it is nested too deeply") from fault


def _steps(text: str) -> int:
    """Return an upper limit on tomllib's visits to parts of keys.

    It walks a dotted key anew for each of its parts, and the name of a table for each line in the table. A dot
    elsewhere counts as one of a key.
    """
    lines = text.split("\n")
    dots = [line.count(".") for line in lines]
    deepest = max((many for many, line in zip(dots, lines, strict=True) if line.lstrip().startswith("[")), default=0)
    return sum(many * many for many in dots) + deepest * len(lines)
