"""The chain of hashes over a log: each event's hash covers the event and the hash of the event before it.

So no event can be changed, removed or inserted without a change of all later hashes. The newest hash is not kept
elsewhere: who can write the store can also write a whole new chain.
"""

import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

START: Final = bytes(32)
"""Takes the place of the hash before the first one."""
_NUMBERS: Final = struct.Struct(">qd")


@dataclass(frozen=True, slots=True)
class ChainLink:
    """An event as it is stored, with its hash; None for one that a version without hashes has recorded."""

    sequence: int
    at: float
    kind: str
    body: str
    hash: bytes | None


ReadPage = Callable[[int], Sequence[ChainLink]]
"""Returns the next events of a log after one of that number; none at its end."""


def links_after(page_after: ReadPage, after: int) -> Iterator[ChainLink]:
    """Yield the events of a log after that number, page by page."""
    while page := page_after(after):
        yield from page
        after = page[-1].sequence


def next_hash(before: bytes, sequence: int, at: float, kind: str, body: bytes) -> bytes:
    """Return the hash of an event: SHA-256 of the hash before, its number and time, its kind, a zero and its JSON."""
    numbers = _NUMBERS.pack(sequence, at)
    return hashlib.sha256(b"".join((before, numbers, kind.encode(), b"\0", body))).digest()


def broken_at(links: Iterable[ChainLink], before: bytes | None = None) -> int | None:
    """Return the number of the first event whose hash does not fit, None if there is none.

    `links` are successive events up to the end of the log. `before` is the hash of the event before the first of them;
    without one they begin the log. Events before the first hash are not covered.
    """
    for link in links:
        if link.hash is None:
            if before is not None:
                return link.sequence
            continue
        if link.hash != next_hash(before or START, link.sequence, link.at, link.kind, link.body.encode()):
            return link.sequence
        before = link.hash
    return None
