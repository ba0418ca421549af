"""The named statements of `queries.sql`, about the tables of one schema."""

import re
from functools import cache
from pathlib import Path
from typing import Final

from commonhold.stores.statements import by_name

DEFAULT_SCHEMA: Final = "commonhold"
_SCHEMA: Final = re.compile(rf"\b{DEFAULT_SCHEMA}\b")


@cache
def load(schema: str) -> dict[str, str]:
    """Every statement by its name."""
    return by_name(read("queries.sql", schema))


def read(file_name: str, schema: str) -> str:
    """SQL that names its tables with their schema: a search path would not get through a pooler."""
    return _SCHEMA.sub(f'"{schema}"', Path(__file__).with_name(file_name).read_text(encoding="utf-8"))
