"""Parse a text that differs in one place from a parsed one: only that place is read again."""

import re
from dataclasses import dataclass
from typing import Final

import tree_sitter

from commonhold.code.regions.language import Language, parse

_SPACE: Final = re.compile(rb"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Change:
    """The whole lines that differ: the bytes from `start` to `old_end` are now those from `start` to `new_end`."""

    start: int
    old_end: int
    new_end: int

    @classmethod
    def between(cls, before: bytes, after: bytes) -> "Change":
        """Return the change from `before` to `after`."""
        start = before.rfind(b"\n", 0, common_prefix(before, after)) + 1
        tail = common_prefix(before[: start - 1 if start else None : -1], after[: start - 1 if start else None : -1])
        return cls(start, len(before) - tail, len(after) - tail)

    def moved(self, position: int) -> int:
        """Return the new place of a position before or behind the change."""
        return position if position < self.old_end else position + self.new_end - self.old_end


def reparse(tree: tree_sitter.Tree, before: bytes, after: bytes, language: Language) -> tree_sitter.Tree:
    """Return the syntax tree of `after`, reusing that of `before`; equal to a freshly parsed tree.

    Error recovery may differ in a reused tree; equality matters more than speed, so a broken text is parsed from
    scratch.
    """
    found = parse(after, language, edited(tree, before, after, Change.between(before, after)))
    return parse(after, language) if found.root_node.has_error else found


def edited(tree: tree_sitter.Tree, before: bytes, after: bytes, change: Change) -> tree_sitter.Tree:
    """Return a copy of the tree with the change marked: from the last character before it to the next word.

    In Python, empty tokens that end a line and a block stand before white space. If a parser meets a changed one, it
    continues behind whichever node begins in the same place, even if that is all the rest of the file. So the following
    text must begin elsewhere: the text up to there is removed first, and the inserted text belongs to the code before
    it, whose last token counts as changed.
    """
    start = max(len(before[: change.start].rstrip()) - 1, 0)
    old_end = space_end(before, change.old_end)
    new_end = old_end + change.new_end - change.old_end
    copy, point = tree.copy(), _point(before, start)
    copy.edit(start, old_end, start, point, _point(before, old_end), point)
    copy.edit(start, start, new_end, point, point, _point(after, new_end))
    return copy


def space_end(source: bytes, position: int) -> int:
    """Return the end of the white space at a position."""
    found = _SPACE.match(source, position)
    return found.end() if found else position


def common_prefix(left: bytes, right: bytes) -> int:
    """Return how many first bytes are the same."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _point(source: bytes, position: int) -> tuple[int, int]:
    return source.count(b"\n", 0, position), position - source.rfind(b"\n", 0, position) - 1
