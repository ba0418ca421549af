"""The parts of a merge: settled bytes, and clashes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from commonhold.merging.verdict import Reason


@dataclass(frozen=True, slots=True)
class Clash:
    """Bytes that both sides changed; `at` is where they begin in base, ours and theirs.

    `joined` are texts in which the structure joins both changes, although nothing proves that this is right.
    """

    base: bytes
    ours: bytes
    theirs: bytes
    reason: Reason
    why: str
    at: tuple[int, int, int] = (0, 0, 0)
    joined: tuple[bytes, ...] = ()


T = TypeVar("T")
Piece = bytes | Clash


def clashes_in(pieces: Iterable[Piece]) -> Iterator[Clash]:
    """Yield the clashes, in file order."""
    return (piece for piece in pieces if isinstance(piece, Clash))


def settled(pieces: Iterable[Piece]) -> bytes | None:
    """Return the text; None if there is a clash."""
    parts = []
    for piece in pieces:
        if isinstance(piece, Clash):
            return None
        parts.append(piece)
    return b"".join(parts)


def uncontested(base: T, ours: T, theirs: T) -> T | None:
    """Return the uncontested version: only one side changed something, or both alike; None if they differ."""
    if ours in (base, theirs):
        return theirs
    return ours if theirs == base else None


def exchanged(pieces: Iterable[Piece]) -> list[Piece]:
    """Return the same with the sides exchanged."""
    return [
        replace(piece, ours=piece.theirs, theirs=piece.ours) if isinstance(piece, Clash) else piece for piece in pieces
    ]
