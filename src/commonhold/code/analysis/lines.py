"""Find the region of a file's line, and its name for people."""

import ast
import re
from bisect import bisect_right

from commonhold.code.regions.region import RegionMap
from commonhold.kernel.keys import HEADER, Key


class Lines:
    """Finds the leaf that a line belongs to."""

    def __init__(self, regions: RegionMap) -> None:
        """Look lines up in `regions`."""
        self._length = len(regions.source)
        self._starts = [0, *(match.end() for match in re.finditer(rb"\r\n?|\n", regions.source))]
        pieces = sorted((start, leaf.key) for leaf in regions.leaves() for start, _ in leaf.spans)
        self._pieces = [start for start, _ in pieces]
        self._keys = [key for _, key in pieces]

    def key_at(self, line: int) -> Key:
        """Return the leaf of a line, counted from 1; for a line past the end, the last leaf."""
        start = self._starts[min(line, len(self._starts)) - 1]
        return self._keys[max(bisect_right(self._pieces, start) - 1, 0)]

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return the bytes from the beginning of a line to the end of another, both counted from 1."""
        return self._starts[first - 1], self._starts[last] if last < len(self._starts) else self._length

    def span_of(self, node: ast.stmt) -> tuple[int, int]:
        """Return the bytes of the lines of a statement, with its decorators."""
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        first = min((node.lineno, *(each.lineno for each in decorators)))
        return self.span(first, node.end_lineno or node.lineno)


def subject_of(key: Key) -> str:
    """Return the name of a region in a clause."""
    if not key.is_header:
        return f"`{key.qualname}`" if key.names else "the file"
    class_name = key.qualname.removesuffix(HEADER).removesuffix(".")
    return f"the header of `{class_name}`" if class_name else f"the header of the file (`{HEADER}`)"
