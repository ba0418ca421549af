"""Version numbers that both sides raised: most likely the higher one is meant."""

import re
from typing import Final

_VERSION: Final = re.compile(
    rb"[^\w\s]?v?(\d+(?:\.\d+)+)[-._]?((?:a|alpha|b|beta|c|rc|pre|dev)?)[-._]?(\d*)[^\w\s]?", re.IGNORECASE
)
_STAGES: Final = (b"dev", b"a", b"alpha", b"b", b"beta", b"c", b"pre", b"rc", b"")

Rank = tuple[tuple[int, ...], int, int]


def higher_version(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Return the text of the higher of two version numbers; None if a text is no version number, or they are equal."""
    ranks = [_rank(text) for text in (base, ours, theirs)]
    if None in ranks or ranks[1] == ranks[2]:
        return None
    return max((ours, theirs), key=lambda text: _rank(text) or ((), 0, 0))


def _rank(text: bytes) -> Rank | None:
    match = _VERSION.fullmatch(text)
    if match is None:
        return None
    release = [int(number) for number in match[1].split(b".")]
    while release and not release[-1]:
        release.pop()
    return tuple(release), _STAGES.index(match[2].lower()), int(match[3] or 0)
