"""The named statements of `queries.sql`."""

import os
from functools import cache

from commonhold.stores.statements import by_name


@cache
def load(file_name: str = "queries.sql") -> dict[str, str]:
    """Every statement by its name."""
    with open(os.path.join(os.path.dirname(__file__), file_name), encoding="utf-8") as script:
        return by_name(script.read())
