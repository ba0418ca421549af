"""The named statements of `queries.sql`, about the tables of one schema."""

import re
from functools import cache
from pathlib import Path
from typing import Final

DEFAULT_SCHEMA: Final = "commonhold"
_NAME: Final = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_SCHEMA: Final = re.compile(rf"\b{DEFAULT_SCHEMA}\b")


@cache
def load(schema: str) -> dict[str, str]:
    """Every statement by its name."""
    parts = _NAME.split(read("queries.sql", schema))
    return {name: _on_one_line(text) for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def read(file_name: str, schema: str) -> str:
    """SQL that names its tables with their schema: a search path would not get through a pooler."""
    return _SCHEMA.sub(f'"{schema}"', Path(__file__).with_name(file_name).read_text(encoding="utf-8"))


def _on_one_line(text: str) -> str:
    lines = (line.strip() for line in text.splitlines() if line and not line.startswith("--"))
    return " ".join(lines).removesuffix(";")
