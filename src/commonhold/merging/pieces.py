"""What a merge is put together from: bytes that are settled, and clashes that are not."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from commonhold.merging.verdict import Reason


@dataclass(frozen=True, slots=True)
class Clash:
    """Bytes that both sides changed; `at` is where they begin in base, ours and theirs.

    `joined` are texts in which the structure puts both together, although nothing shows that this is right.
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
    """What is not settled, in file order."""
    return (piece for piece in pieces if isinstance(piece, Clash))


def settled(pieces: Iterable[Piece]) -> bytes | None:
    """The text; None where there is a clash."""
    parts = []
    for piece in pieces:
        if isinstance(piece, Clash):
            return None
        parts.append(piece)
    return b"".join(parts)


def uncontested(base: T, ours: T, theirs: T) -> T | None:
    """What there is to take where one side alone changed something, or both alike; None where they differ."""
    if ours in (base, theirs):
        return theirs
    return ours if theirs == base else None


def exchanged(pieces: Iterable[Piece]) -> list[Piece]:
    """The same with the sides exchanged."""
    return [
        replace(piece, ours=piece.theirs, theirs=piece.ours) if isinstance(piece, Clash) else piece for piece in pieces
    ]
