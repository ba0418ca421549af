"""Fields that one side makes read-only by the head of their class, and that the other newly sets.

The text of the fields stays the same: the class becomes frozen, or a named tuple.
"""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from commonhold.merging.changed_rows import changed_rows
from commonhold.merging.layout import FileElement
from commonhold.merging.prose import lines_of
from commonhold.merging.syntax import field_text
from commonhold.merging.verdict import Reason, Spot

_FROZEN: Final = re.compile(
    rb"\bfrozen\s*=\s*True|@(?:attrs?\.)?frozen\b|\bNamedTuple\b|@Value\b|\breadonly\s+(?:class|struct)\b"
)
_SET: Final = re.compile(rb"\.(\w+)\s*(?:(?:[-+*/%&|^]|<<|>>|//|\*\*)?=(?![=>])|\+\+|--)")
_FIELDS: Final = frozenset({"assignment", "field_declaration", "property_declaration"})
_WORD: Final = re.compile(rb"\w+")


def writes_read_only(base: FileElement, ours: FileElement, theirs: FileElement) -> Iterator[Spot]:
    """Yield a spot for each side that newly sets a field of a class that the other side has made read-only."""
    for at, (closing, setting) in enumerate(((ours, theirs), (theirs, ours))):
        if not any(map(_FROZEN.search, _new_lines(base, closing).values())):
            continue
        written = {name: row for row, line in _new_lines(base, setting).items() for name in _SET.findall(line)}
        fields = _frozen(closing) - _frozen(base) if written else set()
        name = next((each for each in sorted(written) if each in fields), None)
        if name is not None:
            shown = name.decode(errors="replace")
            why = f"one side made the objects with the field {shown!r} read-only, and the other's new code sets it"
            row = written[name]
            yield Spot(Reason.INTERFERES, why, **{"ours" if at else "theirs": (row, row + 1)})


def _new_lines(base: FileElement, side: FileElement) -> dict[int, bytes]:
    lines = lines_of(side.source)
    return {row: lines[row] for row in changed_rows(base.source, side.source)[1].rows}


def _frozen(element: FileElement) -> set[bytes]:
    """Return the fields of the classes whose objects cannot be changed."""
    found: set[bytes] = set()
    stack = [element.tree.root_node]
    while stack:
        node = stack.pop()
        stack += node.named_children
        if node.type in element.profile.classes and _FROZEN.search(_head(node)):
            body = node.child_by_field_name("body")
            found |= {name for each in (body.named_children if body is not None else ()) for name in _names(each)}
    return found


def _head(class_: Node) -> bytes:
    around = class_.parent if class_.parent is not None and class_.parent.type == "decorated_definition" else class_
    body = class_.child_by_field_name("body")
    return (around.text or b"")[: (body.start_byte if body is not None else class_.end_byte) - around.start_byte]


def _names(member: Node) -> Iterator[bytes]:
    held = member.named_children[0] if member.type == "expression_statement" and member.named_children else member
    if held.type not in _FIELDS:
        return
    left = field_text(held, "left")
    declared = left or b"".join(field_text(each, "name") for each in held.named_children)
    yield from _WORD.findall(declared)[:1]
