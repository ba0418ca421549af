"""The answer of a merge: merged, with the reason to trust it, or refused, spot by spot."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

Lines = tuple[int, int]
"""The first line and the line after the last, counted from 0; equal for a place of insertion."""

NOWHERE: Final[Lines] = (0, 0)
"""Stands for the lack of a place."""


USUAL_MARKER_SIZE: Final = 7


class Verdict(StrEnum):
    """How sure a merge is."""

    PROVEN = "PROVEN"
    VERIFIED = "VERIFIED"
    REFUSED = "REFUSED"


class Reason(StrEnum):
    """Why a spot cannot be proved to merge."""

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
    """One place that cannot be proved to merge: the reason in words, and its lines in each version."""

    reason: Reason
    why: str
    base: Lines = NOWHERE
    ours: Lines = NOWHERE
    theirs: Lines = NOWHERE


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that both sides may mean, and in words how it was joined. It has passed the gate."""

    source: bytes
    how: str


@dataclass(frozen=True, slots=True)
class Proven:
    """A merge whose structure proves that both sides mean it. It has passed the gate.

    `notes` describe the joined changes at places that both sides had changed.
    """

    source: bytes
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unproven:
    """No merge can be proved right. Without a check that a candidate passes, this is a refusal.

    `marked` is the file with everything merged that can be and standard conflict markers at the `spots`; None if the
    file cannot hold markers (it is binary). `candidates()` gives texts to try against a check, the likeliest first;
    their number is bounded.
    """

    spots: tuple[Spot, ...]
    marked: bytes | None = None
    candidates: Callable[[], Iterator[Candidate]] = field(default=lambda: iter(()), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sides:
    """The names of the sides in conflict markers: a branch, or the author of a change and the intent.

    `marker_size` is the length of the markers: longer ones are needed if a file contains markers itself.
    """

    ours: str = "ours"
    theirs: str = "theirs"
    marker_size: int = USUAL_MARKER_SIZE
