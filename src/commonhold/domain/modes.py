"""Lease modes and the one compatibility table."""

from enum import StrEnum
from typing import Final


class Mode(StrEnum):
    """How a lease is held. A commit always writes, so it needs what EXCLUSIVE needs."""

    SHARED = "shared"
    EXCLUSIVE = "exclusive"


COMPATIBLE: Final = frozenset({(Mode.SHARED, Mode.SHARED)})


def are_compatible(held: Mode, wanted: Mode) -> bool:
    """Whether two holders may hold overlapping keys in these modes at once."""
    return (held, wanted) in COMPATIBLE
