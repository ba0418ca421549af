"""Find the rows that differ between two versions of a file, and the syntax nodes on these rows."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from commonhold.merging.prose import lines_of

WORD: Final = re.compile(rb"\w+")


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


def rows_with(source: bytes, words: Container[bytes]) -> Rows:
    """Return the rows on which any of some words stands."""
    lines = enumerate(lines_of(source))
    return Rows([row for row, line in lines if any(word in words for word in WORD.findall(line))])


def changed_rows(before: bytes, after: bytes) -> tuple[Rows, Rows]:
    """Return the rows of either version whose lines stand there more often than in the other."""
    old, new = lines_of(before), lines_of(after)
    counts = Counter(old), Counter(new)
    gone, come = counts[0] - counts[1], counts[1] - counts[0]
    return (
        Rows([row for row, line in enumerate(old) if line in gone]),
        Rows([row for row, line in enumerate(new) if line in come]),
    )
