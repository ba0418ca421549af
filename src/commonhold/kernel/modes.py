"""Lease modes and the one compatibility table."""

from enum import StrEnum
from typing import Final


class Mode(StrEnum):
    """How a lease is held. A commit always writes, so it needs what EXCLUSIVE needs.

    UPGRADABLE is for a reader that may write later: others may read beside it, but only one may prepare to write, so
    two of them cannot wait for each other.
    """

    SHARED = "shared"
    UPGRADABLE = "upgradable"
    EXCLUSIVE = "exclusive"


COMPATIBLE: Final = frozenset(
    {(Mode.SHARED, Mode.SHARED), (Mode.SHARED, Mode.UPGRADABLE), (Mode.UPGRADABLE, Mode.SHARED)}
)


def are_compatible(held: Mode, wanted: Mode) -> bool:
    """Whether two holders may hold overlapping keys in these modes at once."""
    return (held, wanted) in COMPATIBLE
