"""The named statements of `queries.sql`."""

import re
from functools import cache
from pathlib import Path
from typing import Final

_NAME: Final = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


@cache
def load(file_name: str = "queries.sql") -> dict[str, str]:
    """Every statement by its name."""
    parts = _NAME.split(Path(__file__).with_name(file_name).read_text(encoding="utf-8"))
    return {name: _without_comments(text) for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def _without_comments(text: str) -> str:
    return " ".join(line.strip() for line in text.splitlines() if line and not line.startswith("--"))
