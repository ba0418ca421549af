"""Cases of a switch that run into the next one, because one side took away what left them.

The other side changed the next case, or put a new one between.
"""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from tree_sitter import Node

from commonhold.merging.changed_rows import changed_rows
from commonhold.merging.layout import FileElement
from commonhold.merging.syntax import field_text
from commonhold.merging.verdict import Reason, Spot

_CASES: Final = frozenset({"case_statement", "switch_block_statement_group", "switch_case", "switch_default"})
_LEFT: Final = re.compile(rb"(?:break|continue|return|throw|goto|yield)\b")


def falls_into(base: FileElement, ours: FileElement, theirs: FileElement) -> Iterator[Spot]:
    """Yield a spot for each case that one side lets run into code of the other."""
    if b"case" not in base.source:
        return
    for at, (opening, writing) in enumerate(((ours, theirs), (theirs, ours))):
        gone, come = changed_rows(base.source, opening.source)
        changed = chain(gone.nodes(base.tree.root_node), come.nodes(opening.tree.root_node))
        if not any(map(_is_case, changed)):
            continue
        was, now = _leaving(base), _leaving(opening)
        opened = {key for key, leaves in was.items() if leaves and now.get(key) is False}
        row = next(_reached(base, writing, opened), None) if opened else None
        if row is not None:
            why = "one side lets a case run into the next one, which the other side changed"
            yield Spot(Reason.INTERFERES, why, **{"ours" if at else "theirs": (row, row + 1)})


def _leaving(element: FileElement) -> dict[bytes, bool]:
    """Return, for each case, whether its last statement leaves it; the key is its label."""
    return {_label(each): _is_left(each) for each in _cases(element)}


def _cases(element: FileElement) -> Iterator[Node]:
    stack = [element.tree.root_node]
    while stack:
        node = stack.pop()
        stack += reversed(node.named_children)
        if _is_case(node):
            yield node


def _is_case(node: Node) -> bool:
    return node.type in _CASES and node.named_child_count > 1


def _label(case: Node) -> bytes:
    value = case.child_by_field_name("value")
    return field_text(case, "value") if value is not None else (case.text or b"").partition(b":")[0]


def _is_left(case: Node) -> bool:
    last = case.named_children[-1]
    while last.type.endswith(("block", "compound_statement")) and last.named_children:
        last = last.named_children[-1]
    return _LEFT.match(last.text or b"") is not None


def _reached(base: FileElement, writing: FileElement, opened: set[bytes]) -> Iterator[int]:
    rows = changed_rows(base.source, writing.source)[1]
    for case in _cases(writing):
        following = case.next_named_sibling
        if _label(case) in opened and following is not None and following.type in _CASES and rows.meet(following):
            yield following.start_point.row
