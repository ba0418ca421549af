"""Lists of derived traits in Rust: sets, in which each side may add and remove entries freely."""

import re
from typing import Final

from commonhold.merging.pieces import uncontested

_DERIVE: Final = re.compile(rb"(?<=#\[derive\()[^()\[\]]*(?=\)\])")


def merged_derives(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Return the merged text before a type whose versions differ only in derived lists; None if they differ in more."""
    texts = (base, ours, theirs)
    if len({_DERIVE.sub(b"", text) for text in texts}) > 1:
        return None
    lists = [[_names(found) for found in _DERIVE.findall(text)] for text in texts]
    if not lists[0] or len({len(each) for each in lists}) > 1:
        return None
    merged = iter([_merged(*each) for each in zip(*lists, strict=True)])
    return _DERIVE.sub(lambda _: next(merged), base)


def _names(found: bytes) -> tuple[bytes, ...]:
    return tuple(each.strip() for each in found.split(b",") if each.strip())


def _merged(base: tuple[bytes, ...], ours: tuple[bytes, ...], theirs: tuple[bytes, ...]) -> bytes:
    alone = uncontested(base, ours, theirs)
    if alone is not None:
        return b", ".join(alone)
    kept = [each for each in base if each in ours and each in theirs]
    added = dict.fromkeys(each for each in (*ours, *theirs) if each not in base)
    return b", ".join((*kept, *added))
