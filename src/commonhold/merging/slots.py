"""Classes of Python whose objects have the listed attributes only: by `__slots__`, or by a decorator's `slots=True`.

One side closes such a class, or takes a name off its list, and the other assigns another attribute.
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

_QUOTED: Final = re.compile(rb"[\"'](\w+)[\"']")
_SLOTS: Final = re.compile(rb"\bslots\s*=\s*True\b")
_LISTED: Final = re.compile(rb"\A__slots__\s*(?::[^=]+)?=")
_MARK: Final = b"slots"


def assigned_without_slot(base: FileElement, ours: FileElement, theirs: FileElement) -> Iterator[Spot]:
    """Yield a spot for each new assignment of an attribute for which a class of the other side has no slot."""
    if not base.profile.has_indented_blocks or not any(_changes_slots(base, side) for side in (ours, theirs)):
        return
    known, *sides = (_slots(each.node) for each in (base, ours, theirs))
    for at, (closing, own, using) in enumerate(((sides[0], sides[1], theirs), (sides[1], sides[0], ours))):
        for class_, names in closing.items():
            was = known.get(class_)
            if names is None or names == was:
                continue
            added = (own.get(class_) or frozenset()) - (was or frozenset())
            for name, node in _assigned_anew(base, using, class_):
                if name in names | added:
                    continue
                row = node.start_point.row
                shown = [each.decode(errors="replace") for each in (class_, name)]
                why = f"one side left no slot for {shown[1]!r} in {shown[0]!r}, and the other's new code assigns it"
                yield Spot(Reason.INTERFERES, why, **{"ours" if at else "theirs": (row, row + 1)})
                break


def _changes_slots(base: FileElement, side: FileElement) -> bool:
    if _MARK not in base.source and _MARK not in side.source:
        return False
    versions = zip((base, side), changed_rows(base.source, side.source), strict=True)
    return any(_MARK in b"".join(map(lines_of(each.source).__getitem__, rows.rows)) for each, rows in versions)


def _slots(root: Node) -> dict[bytes, frozenset[bytes] | None]:
    """Return the classes of a file, each with the names that its objects may be given; None for any."""
    found: dict[bytes, frozenset[bytes] | None] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type != "class_definition":
            stack += (each for each in node.named_children if each.type != "function_definition")
            continue
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            found[name.text or b""] = _listed(node, body)
            stack += body.named_children
    return found


def _listed(class_: Node, body: Node) -> frozenset[bytes] | None:
    decorated = class_.parent if class_.parent is not None and class_.parent.type == "decorated_definition" else None
    marks = [each.text or b"" for each in decorated.named_children if each.type == "decorator"] if decorated else []
    is_closed = any(map(_SLOTS.search, marks))
    names: set[bytes] = set()
    for statement in body.named_children:
        defined = statement.child_by_field_name("definition") or statement
        held = statement.named_children[0] if statement.named_children else statement
        if defined.type == "function_definition":
            names.add(field_text(defined, "name"))  # a property may have a setter
        elif held.type == "assignment":
            names.add(field_text(held, "left"))
            if _LISTED.match(held.text or b""):
                is_closed = True
                names.update(_QUOTED.findall(field_text(held, "right")))
    return frozenset(names) if is_closed and b"__dict__" not in names else None


def _assigned_anew(base: FileElement, side: FileElement, class_: bytes) -> Iterator[tuple[bytes, Node]]:
    """Yield the attributes that new code assigns, except those of the own object in another class."""
    for node in changed_rows(base.source, side.source)[1].nodes(side.node):
        if node.type != "attribute" or not _is_target(node):
            continue
        holder = field_text(node, "object")
        if holder not in (b"self", b"cls") or _class_around(node) == class_:
            yield field_text(node, "attribute"), node


def _is_target(node: Node) -> bool:
    inner, around = node, node.parent
    while around is not None and around.type in {"pattern_list", "tuple_pattern", "list_pattern"}:
        inner, around = around, around.parent
    return around is not None and around.child_by_field_name("left") == inner


def _class_around(node: Node) -> bytes:
    around = node.parent
    while around is not None and around.type != "class_definition":
        around = around.parent
    return field_text(around, "name") if around is not None else b""
