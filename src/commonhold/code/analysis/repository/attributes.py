"""The attributes that a piece of a program uses of its own object: `self.x`, `this.x`; a language is data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node, Tree

# Methods that change their object, by the usual names of several languages.
_CHANGING: Final = frozenset(
    {"add", "append", "appendleft", "clear", "delete", "discard", "extend", "insert", "pop", "popleft", "push"}
    | {"put", "remove", "reverse", "set", "setdefault", "shift", "sort", "splice", "unshift", "update"}
)
_TARGETS: Final = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "expression_list", "tuple", "list"})
_UPDATES: Final = frozenset({"update_expression", "delete_statement"})


@dataclass(frozen=True, slots=True)
class Attribute:
    """One use of an attribute of the own object, on line `row`."""

    name: str
    row: int
    is_written: bool


@dataclass(frozen=True, slots=True)
class _Access:
    """How a language writes an access: the node, and its fields for the parts before and after the dot."""

    node: str
    before: str
    after: str
    itself: frozenset[str]


_THIS: Final = frozenset({"this"})
_BY_MEMBER: Final = _Access("member_expression", "object", "property", _THIS)
_ACCESSES: Final[Mapping[str, _Access]] = {
    "python": _Access("attribute", "object", "attribute", frozenset({"self", "cls"})),
    "javascript": _BY_MEMBER,
    "typescript": _BY_MEMBER,
    "tsx": _BY_MEMBER,
    "java": _Access("field_access", "object", "field", _THIS),
    "rust": _Access("field_expression", "value", "field", frozenset({"self"})),
}


def attributes(tree: Tree, language: str, start: int, end: int, row: int) -> tuple[Attribute, ...]:
    """Return all uses between two bytes, lines counted from `row`. Empty if the language has no word for `self`."""
    access = _ACCESSES.get(language)
    if access is None:
        return ()
    found = (_attribute(node, access, row) for node in _nodes(tree.root_node, start, end) if node.type == access.node)
    return tuple(each for each in found if each is not None)


def _nodes(root: Node, start: int, end: int) -> Iterator[Node]:
    pending = [root]
    while pending:
        node = pending.pop()
        if node.end_byte > start and node.start_byte < end:
            yield node
            pending.extend(reversed(node.children))


def _attribute(node: Node, access: _Access, row: int) -> Attribute | None:
    before, after = node.child_by_field_name(access.before), node.child_by_field_name(access.after)
    if before is None or after is None or _text(before) not in access.itself:
        return None
    return Attribute(_text(after), node.start_point.row - row, _is_written(node, access))


def _is_written(node: Node, access: _Access) -> bool:
    """Whether a statement sets the attribute, or a part of its value."""
    while (parent := node.parent) is not None:
        if parent.type in _UPDATES:
            return True
        if "assignment" in parent.type:
            return _is_same(parent.child_by_field_name("left"), node)
        if _is_changing(node, parent, access):
            return True
        if not _leads_on(node, parent, access):
            return False
        node = parent
    return False


def _is_changing(node: Node, parent: Node, access: _Access) -> bool:
    """Whether a method that changes the node is called on it."""
    if parent.type == "method_invocation":
        is_on, name = _is_same(parent.child_by_field_name("object"), node), parent.child_by_field_name("name")
    else:
        call = parent.parent
        is_called = call is not None and _is_same(call.child_by_field_name("function"), parent)
        is_on = is_called and _is_same(parent.child_by_field_name(access.before), node)
        name = parent.child_by_field_name(access.after)
    return is_on and name is not None and _text(name) in _CHANGING


def _leads_on(node: Node, parent: Node, access: _Access) -> bool:
    """Whether setting the parent sets the node, or a part of it: `self.x[0]`, `self.x.y`, one of several targets."""
    if parent.type == access.node:
        return _is_same(parent.child_by_field_name(access.before), node)
    if "subscript" in parent.type or "index" in parent.type:
        return _is_same(next(iter(parent.children), None), node)
    return parent.type in _TARGETS


def _is_same(left: Node | None, right: Node) -> bool:
    return left is not None and left.id == right.id


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
