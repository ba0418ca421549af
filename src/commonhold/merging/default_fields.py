"""Fields of Python's generated classes of which one without a default would follow one with a default.

Python refuses such a class when it is made. Each side alone may be right: one gives defaults, or gives them to the
class above, and the other adds a field without.
"""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from commonhold.merging.construction import has_default
from commonhold.merging.layout import FileElement
from commonhold.merging.syntax import field_text
from commonhold.merging.verdict import Reason, Spot

_GENERATED: Final = re.compile(rb"@(?:\w+\.)*(?:dataclass|define|frozen|mutable|attrs|attr\.s|s)\b|\bNamedTuple\b")
_BY_NAME_ONLY: Final = re.compile(rb"\bkw_only\s*=\s*True\b")
_NOT_GIVEN: Final = re.compile(rb"\bClassVar\b|\binit\s*=\s*False|\bkw_only\s*=\s*True")
_WORD: Final = re.compile(rb"\w+")

Fields = dict[bytes, bool]
"""The fields of a class in their order, each with whether it has a default."""


def required_after_default(merged: FileElement, versions: tuple[FileElement, FileElement, FileElement]) -> Spot | None:
    """Return why a class of the merge could not be made: a field without a default would follow one with a default."""
    if not merged.profile.has_indented_blocks or b"class " not in merged.source or not _GENERATED.search(merged.source):
        return None
    found = set(_misplaced(merged))
    known = {each for version in versions for each in _misplaced(version)} if found else set()
    field = min((field for _, field in found - known), default=None)
    if field is None:
        return None
    shown = field.decode(errors="replace")
    return Spot(
        Reason.ORDER_MATTERS, f"put together {shown!r}, which has no default, would follow a field that has one"
    )


def _misplaced(element: FileElement) -> Iterator[tuple[bytes, bytes]]:
    classes: dict[bytes, Fields] = {}
    for class_, head in _classes(element.tree.root_node):
        fields: Fields = {}
        for base in _WORD.findall(field_text(class_, "superclasses")):
            fields.update(classes.get(base, {}))
        fields.update(_fields(class_))
        name = field_text(class_, "name")
        classes[name] = fields
        if _GENERATED.search(head) and not _BY_NAME_ONLY.search(head):
            has_any = False
            for field, has in fields.items():
                if has_any and not has:
                    yield name, field
                has_any = has_any or has


def _classes(root: Node) -> Iterator[tuple[Node, bytes]]:
    """Yield the classes outside of functions, each with its decorators and bases."""
    stack = list(reversed(root.named_children))
    while stack:
        node = stack.pop()
        if node.type == "class_definition":
            around = node.parent if node.parent is not None and node.parent.type == "decorated_definition" else node
            body = node.child_by_field_name("body")
            end = (body.start_byte if body is not None else node.end_byte) - around.start_byte
            head = (around.text or b"")[:end]
            yield node, head
        elif node.type == "function_definition":
            continue
        stack += reversed(node.named_children)


def _fields(class_: Node) -> Iterator[tuple[bytes, bool]]:
    body = class_.child_by_field_name("body")
    for statement in body.named_children if body is not None else ():
        held = statement.named_children[0] if statement.named_children else statement
        if held.type != "assignment" or held.child_by_field_name("type") is None or _NOT_GIVEN.search(held.text or b""):
            continue
        yield field_text(held, "left"), has_default(held.text or b"")
