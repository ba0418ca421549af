"""What a merge answers: merged and why that may be trusted, or refused, spot by spot."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

Lines = tuple[int, int]
"""The first line and the line after the last, counted from 0; equal where something would be inserted."""

NOWHERE: Final[Lines] = (0, 0)
"""Stands where there is no place to speak of."""


USUAL_MARKER_SIZE: Final = 7


class Verdict(StrEnum):
    """How sure a merge is."""

    PROVEN = "PROVEN"
    VERIFIED = "VERIFIED"
    REFUSED = "REFUSED"


class Reason(StrEnum):
    """Why a spot cannot be shown to merge."""

    BOTH_CHANGED = "BOTH_CHANGED"
    CHANGED_AND_DELETED = "CHANGED_AND_DELETED"
    SAME_NAME = "SAME_NAME"
    ORDER_MATTERS = "ORDER_MATTERS"
    INTERFERES = "INTERFERES"
    DANGLING = "DANGLING"
    NOT_SOUND = "NOT_SOUND"
    GATE = "GATE"
    BINARY = "BINARY"
    ENCODING = "ENCODING"
    TOO_LARGE = "TOO_LARGE"


@dataclass(frozen=True, slots=True)
class Spot:
    """One place that cannot be shown to merge: why, in words for a person, and where it lies in each version."""

    reason: Reason
    why: str
    base: Lines = NOWHERE
    ours: Lines = NOWHERE
    theirs: Lines = NOWHERE


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may be what both sides mean, and in words how it was put together. It has passed the gate."""

    source: bytes
    how: str


@dataclass(frozen=True, slots=True)
class Proven:
    """A merge whose structure shows that it is what both sides mean. It has passed the gate.

    `notes` say in words what was joined where both sides had changed the same place.
    """

    source: bytes
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unproven:
    """No merge can be shown to be right. Without a check that a candidate passes, this is a refusal.

    `marked` is the file with everything merged that can be and standard conflict markers at the `spots`; None where the
    file cannot hold markers (it is binary). `candidates()` gives texts to try against a check, the likeliest first; it
    is bounded in number.
    """

    spots: tuple[Spot, ...]
    marked: bytes | None = None
    candidates: Callable[[], Iterator[Candidate]] = field(default=lambda: iter(()), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sides:
    """What the sides are called in conflict markers: a branch, or who changed it and with what intent.

    `marker_size` is how long the markers are: longer ones are asked for where a file holds some itself.
    """

    ours: str = "ours"
    theirs: str = "theirs"
    marker_size: int = USUAL_MARKER_SIZE
