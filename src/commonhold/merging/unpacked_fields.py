"""Objects that code takes apart into a name for each field, of which one side changed the number."""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from commonhold.merging.changed_rows import changed_rows
from commonhold.merging.layout import FileElement
from commonhold.merging.prose import lines_of
from commonhold.merging.syntax import field_text
from commonhold.merging.verdict import Reason, Spot

_UNPACKED: Final = re.compile(
    rb"\bauto\s*(?:const\s*)?&{0,2}\s*\[([^\]=]+)\]|(?:\A|\bfor\b)\s*(\w+(?:\s*,\s*\w+)+)\s*(?:=(?!=)|\bin\b)"
)
_TUPLES: Final = re.compile(rb"\b(?:NamedTuple|namedtuple)\b")
_MADE: Final = re.compile(rb"\b(?:namedtuple|NamedTuple)\(")
_ENTRY: Final = re.compile(rb"[\"'](\w+)[\"']")
_BODIES: Final = frozenset({"block", "field_declaration_list"})


def unpacks_otherwise(base: FileElement, ours: FileElement, theirs: FileElement) -> Iterator[Spot]:
    """Yield a spot for each side that newly unpacks as many values as a type had fields before the other's change."""
    for at, (changing, unpacking) in enumerate(((ours, theirs), (theirs, ours))):
        lines = lines_of(unpacking.source)
        rows = changed_rows(base.source, unpacking.source)[1].rows
        unpacked = {row: _names(match) for row in rows if (match := _UNPACKED.search(lines[row].strip()))}
        if not unpacked:
            continue
        was, now = _sizes(base), _sizes(changing)
        changed = {size for name, size in was.items() if name in now and now[name] != size}
        row = next((each for each in sorted(unpacked) if unpacked[each] in changed), None)
        if row is not None:
            why = f"one side changed how many fields a type has, and the other newly takes {unpacked[row]} apart"
            yield Spot(Reason.INTERFERES, why, **{"ours" if at else "theirs": (row, row + 1)})


def _names(match: re.Match[bytes]) -> int:
    return (match[1] or match[2]).count(b",") + 1


def _sizes(element: FileElement) -> dict[bytes, int]:
    """Return the number of fields of each type that may be unpacked."""
    found: dict[bytes, int] = {}
    stack = [element.tree.root_node]
    while stack:
        node = stack.pop()
        stack += node.named_children
        if node.type == "struct_specifier" or (
            node.type == "class_definition" and _TUPLES.search(field_text(node, "superclasses"))
        ):
            found[field_text(node, "name")] = sum(map(_is_field, _members(node)))
        elif node.type == "assignment" and _MADE.match(field_text(node, "right")):
            found[field_text(node, "left")] = _listed(field_text(node, "right"))
    return found


def _members(type_: Node) -> Iterator[Node]:
    for body in type_.named_children:
        yield from body.named_children if body.type in _BODIES else ()


def _is_field(member: Node) -> bool:
    held = member.named_children[0] if member.type == "expression_statement" and member.named_children else member
    if held.type == "assignment":
        return held.child_by_field_name("type") is not None
    return member.type == "field_declaration" and b"(" not in (member.text or b"")


def _listed(call: bytes) -> int:
    given = call.partition(b",")[2]
    return len(_ENTRY.findall(given)) if given.lstrip().startswith((b"[", b"(")) else len(re.findall(rb"\w+", given))
