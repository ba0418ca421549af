"""Texts that both sides may mean although nothing proves it: to be tried against a check, never trusted alone."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Final

from commonhold.merging.align import common, stretches
from commonhold.merging.pieces import Clash, Piece, uncontested
from commonhold.merging.prose import lines_of

MAX_CANDIDATES: Final = 32
_MAX_ALTERNATIVES: Final = 8
_MAX_TOKENS: Final = 4000
_MAX_MIXED: Final = 24
_TOKEN: Final = re.compile(rb"\w+|\s+|[^\w\s]")

Texts = Sequence[bytes]


def combined(pieces: Sequence[Piece]) -> Iterator[tuple[bytes, str]]:
    """Yield the merged text with each clash settled in one of its possible ways, the likeliest choices first."""
    choices = [list(islice(_alternatives(each), _MAX_ALTERNATIVES)) for each in pieces if isinstance(each, Clash)]
    for ranks in _by_rank([len(each) for each in choices]):
        chosen = iter([options[rank] for options, rank in zip(choices, ranks, strict=True)])
        parts, words = [], []
        for piece in pieces:
            if isinstance(piece, Clash):
                text, how = next(chosen)
                parts.append(text)
                words.append(how)
            else:
                parts.append(piece)
        yield b"".join(parts), "; ".join(dict.fromkeys(words)) or "the edits of both, put together"


def _by_rank(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the same choice for all clashes first, then mixtures, those with likelier choices first."""
    uniform = [tuple(min(rank, size - 1) for size in sizes) for rank in range(max(sizes, default=1))]
    yield from dict.fromkeys(uniform)
    if len(sizes) > _MAX_MIXED:
        return
    seen = set(uniform)
    bounded = list(islice(product(*(range(size) for size in sizes)), 4096))
    yield from (each for each in sorted(bounded, key=lambda ranks: (sum(ranks), ranks)) if each not in seen)


def _alternatives(clash: Clash) -> Iterator[tuple[bytes, str]]:
    seen: set[bytes] = set()
    for text, how in _ways(clash):
        if text not in seen:
            seen.add(text)
            yield text, how


def _ways(clash: Clash) -> Iterator[tuple[bytes, str]]:
    base, ours, theirs = clash.base, clash.ours, clash.theirs
    yield from ((text, "both edits of one statement") for text in clash.joined)
    first, second = sorted((ours, theirs))
    if not base.strip():
        once = list(_once(first, second))
        yield from once if _all_of_one(first, second) else ()
        yield first + second, "what both added, one after the other"
        yield second + first, "what both added, the other way round"
        yield from once
    yield from _woven(base, first, second)
    if base.strip():
        yield first + second, "one after the other"
        yield second + first, "one after the other, the other way round"


def _all_of_one(first: bytes, second: bytes) -> bool:
    """Whether one side added every line that the other added."""
    small, large = ({line for line in lines_of(text) if line.strip()} for text in sorted((first, second), key=len))
    return small <= large


def _once(first: bytes, second: bytes) -> Iterator[tuple[bytes, str]]:
    """Yield both additions joined, with the lines that they share written once."""
    one, other = lines_of(first), lines_of(second)
    pairs = [pair for pair in common(one, other) if one[pair[0]].strip()]
    if not pairs:
        return
    for before, after in ((one, other), (other, one)):
        parts: list[bytes] = []
        position = place = 0
        ends = [(len(before), len(after))]
        for index, at in [*(pairs if before is one else [pair[::-1] for pair in pairs]), *ends]:
            parts += [*before[position:index], *after[place:at], *before[index : index + 1]]
            position, place = index + 1, at + 1
        yield b"".join(parts), "the additions of both, shared parts once"


def _woven(base: bytes, first: bytes, second: bytes) -> Iterator[tuple[bytes, str]]:
    for before, after in ((first, second), (second, first)):
        text = _indented_anew(*(lines_of(each) for each in (base, before, after)))
        if text is not None:
            yield text, "both edits, one side's under the other's indentation"
    for cut, what in ((_tokens, "token by token"), (lines_of, "line by line")):
        texts = [cut(each) for each in (base, first, second)]
        if max(map(len, texts)) > _MAX_TOKENS:
            continue
        yield union(*texts), f"both edits, {what}"
        yield union(texts[0], texts[2], texts[1]), f"both edits, {what}, the other way round"


def _tokens(text: bytes) -> list[bytes]:
    return _TOKEN.findall(text)


def union(base: Texts, first: Texts, second: Texts) -> bytes:
    """Return the elements of `base` that both kept, with the additions of both in place, `first` before `second`."""
    parts: list[bytes] = []
    for start, end in stretches(base, first, second):
        parts += _both(*(texts[low:high] for texts, low, high in zip((base, first, second), start, end, strict=True)))
        parts += base[end[0] : end[0] + 1]
    return b"".join(parts)


def _indented_anew(base: Texts, first: Texts, second: Texts) -> bytes | None:
    """Return the lines of both, aligned without their indentation; None if neither side moved a block in or out."""
    bare = [[line.lstrip() for line in each] for each in (base, first, second)]
    parts: list[bytes] = []
    shifts = (0, 0)
    is_moved = False
    for start, end in stretches(*bare):
        old, *sides = (texts[low:high] for texts, low, high in zip((base, first, second), start, end, strict=True))
        lines = [_shifted(side, shift) for side, shift in zip(sides, reversed(shifts), strict=True)]
        texts = [[line.strip() for line in each] for each in (old, *lines)]
        parts += lines[texts[1] == texts[0]] if texts[0] in texts[1:] else _both(old, *lines)
        if end[0] == len(base):
            break
        indents = [_indent(each[at]) for each, at in zip((base, first, second), end, strict=True)]
        anchor = base[end[0]]
        if anchor.strip():
            shifts = (indents[1] - indents[0], indents[2] - indents[0])
            is_moved |= any(shifts)
        parts += _shifted([anchor], sum(shifts))
    return b"".join(parts) if is_moved else None


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" \t"))


def _shifted(lines: Texts, by: int) -> list[bytes]:
    """Return lines moved to the right, or to the left if the number is negative; blank lines stay."""
    return [_moved(line, by) if line.strip() else line for line in lines]


def _moved(line: bytes, by: int) -> bytes:
    if by < 0:
        return line[min(-by, _indent(line)) :]
    return (b"\t" if line.startswith(b"\t") else b" ") * by + line


def _both(base: Texts, first: Texts, second: Texts) -> list[bytes]:
    alone = uncontested(list(base), list(first), list(second))
    if alone is not None:
        return alone
    small, large = sorted((first, second), key=len)
    left = iter(large)
    return list(large) if not base and all(each in left for each in small) else [*first, *second]
