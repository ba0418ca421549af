"""YAML's aliases that one side newly writes, of values that the other side changed."""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from commonhold.merging.changed_rows import changed_rows
from commonhold.merging.layout import FileElement
from commonhold.merging.prose import lines_of
from commonhold.merging.syntax import text_of
from commonhold.merging.verdict import Reason, Spot

_ALIAS: Final = re.compile(rb"(?:^|[\s\[{,:])\*([^\s,\[\]{}]+)")


def alias_of_changed_value(language: str, base: FileElement, ours: FileElement, theirs: FileElement) -> Iterator[Spot]:
    """Yield a spot for each side that newly repeats a value by its anchor which the other side changed."""
    if language != "yaml" or b"&" not in base.source:
        return
    for at, (changing, repeating) in enumerate(((ours, theirs), (theirs, ours))):
        lines = lines_of(repeating.source)
        rows = changed_rows(base.source, repeating.source)[1].rows
        written = {name: row for row in rows for name in _ALIAS.findall(lines[row])}
        name = min(written.keys() & _changed(base, changing), default=None) if written else None
        if name is not None:
            shown, row = name.decode(errors="replace"), written[name]
            why = f"one side changed the value of the anchor {shown!r}, and the other newly repeats it"
            yield Spot(Reason.INTERFERES, why, **{"ours" if at else "theirs": (row, row + 1)})


def _changed(base: FileElement, side: FileElement) -> set[bytes]:
    """Return the anchors of the base whose values a side changed."""
    gone, come = changed_rows(base.source, side.source)
    return {name for name, node in _anchored(base) if gone.meet(node)} | {
        name for name, node in _anchored(side) if come.meet(node)
    }


def _anchored(element: FileElement) -> Iterator[tuple[bytes, Node]]:
    stack = [element.tree.root_node]
    while stack:
        node = stack.pop()
        stack += node.named_children
        if node.type == "anchor" and node.parent is not None:
            yield text_of(node).lstrip(b"&"), node.parent
