"""Find the rows that differ between two versions of a file, and the syntax nodes on these rows."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from tree_sitter import Node

from commonhold.merging.prose import lines_of, without_shared_ends

WORD: Final = re.compile(rb"\w+")
_IN_WORDS: Final = frozenset(bytes([each]) for each in range(256) if WORD.fullmatch(bytes([each])))


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one version, counted from 0 and sorted."""

    rows: Sequence[int]

    def meet(self, node: Node) -> bool:
        """Whether one of the rows lies in a node."""
        at = bisect_left(self.rows, node.start_point.row)
        return at < len(self.rows) and self.rows[at] <= node.end_point.row

    def nodes(self, root: Node) -> Iterator[Node]:
        """Yield the named nodes on these rows, outer ones before inner ones."""
        stack = [root] if self.rows else []
        while stack:
            node = stack.pop()
            if self.meet(node):
                yield node
                stack += reversed(node.named_children)


def places_of(source: bytes, words: Iterable[bytes]) -> list[int]:
    """Return the offsets at which any of some words stands, sorted. A text that is no single word stands nowhere."""
    found = []
    for word in words:
        if not WORD.fullmatch(word):
            continue
        at = source.find(word)
        while at >= 0:
            end = at + len(word)
            if source[at - 1 : at] not in _IN_WORDS and source[end : end + 1] not in _IN_WORDS:
                found.append(at)
            at = source.find(word, end)
    return sorted(found)


def rows_with(source: bytes, words: Iterable[bytes]) -> Rows:
    """Return the rows on which any of some words stands."""
    rows: list[int] = []
    row = start = 0
    for at in places_of(source, words):
        row, start = row + source.count(b"\n", start, at), at
        if not rows or rows[-1] != row:
            rows.append(row)
    return Rows(rows)


@lru_cache(maxsize=8)
def changed_lines(before: bytes, after: bytes) -> tuple[Counter[bytes], Counter[bytes]]:
    """Return the lines that either version has more often than the other, in their order, with how much more often.

    Each merge looks at the same two changes for many reasons, so those of the last merges are remembered.
    """
    old, new = (Counter(lines_of(text)) for text in without_shared_ends(before, after))
    return old - new, new - old


@lru_cache(maxsize=8)
def changed_rows(before: bytes, after: bytes) -> tuple[Rows, Rows]:
    """Return the rows of either version whose lines stand there more often than in the other."""
    gone, come = changed_lines(before, after)
    return _rows_of(before, gone), _rows_of(after, come)


def _rows_of(source: bytes, lines: Counter[bytes]) -> Rows:
    return Rows(tuple(row for row, line in enumerate(lines_of(source)) if line in lines) if lines else ())
