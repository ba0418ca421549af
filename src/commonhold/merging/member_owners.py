"""Whose member a changed statement of Python names: `self.x`, `cls.x`, `super().x`, and a method by its definition.

Members are compared by name alone, whatever object has them. Here both statements name the member through the class
around them, and the file shows that neither class has the other's members. A class whose bases the file does not show
may have any.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from tree_sitter import Node

from commonhold.merging.effects import Effects
from commonhold.merging.layout import Element
from commonhold.merging.syntax import field_text, root_of

_OWN: Final = frozenset({b"self", b"cls"})
_GIVEN_ANEW: Final = re.compile(rb"(?<![\w.])(?:self|cls)\s*(?:=(?!=)|:=|,\s*\w+\s*=(?!=))|\bfor (?:self|cls)\b")
_CONSTRUCTOR: Final = b"__init__"
_DEFINES: Final = "defines"
_SELF: Final = "self"
_SUPER: Final = "super"
_Bases = Mapping[bytes, frozenset[bytes]]
# Bases without members that a class of the file could share with another by accident.
_PLAIN_BASES: Final = frozenset(b"object Exception ABC abc.ABC Generic t.Generic typing.Generic".split())


class ChangedStatement(Protocol):
    """A statement after the change, and before it if it was there."""

    @property
    def element(self) -> Element:
        """The statement; before the change if it is gone."""

    @property
    def old(self) -> Element | None:
        """The statement before the change."""

    @property
    def before(self) -> Effects:
        """Its effects before the change."""

    @property
    def is_head(self) -> bool:
        """Whether only the part before the body counts."""


@dataclass(frozen=True, slots=True)
class _Mention:
    """How a statement names a member: by its definition, through the object, or through the bases; and in which class.

    `hides` says that the class had its own definition before, so that one in a base is reached by `super()` only.
    """

    how: str
    class_: bytes
    hides: bool = False


def are_of_other_classes(name: bytes, one: ChangedStatement, other: ChangedStatement) -> bool:
    """Return whether two changed statements name members of different classes; False if the file does not show it."""
    if not one.element.profile.has_indented_blocks or not name.startswith(b"."):
        return False
    sides = [[*_mentions(name[1:], statement)] for statement in (one, other)]
    if not all(sides) or any(each is None for side in sides for each in side):
        return False
    pairs = [(a, b) for a in sides[0] for b in sides[1] if a is not None and b is not None]
    roots = [root_of(statement.element.node) for statement in (one, other)]
    if any(_is_set_from_outside(name[1:], root.text or b"") for root in roots):
        return False
    bases = _bases(roots)
    return bases is not None and all(_are_apart(name[1:], a, b, bases) for a, b in pairs)


def _are_apart(name: bytes, one: _Mention, other: _Mention, bases: _Bases) -> bool:
    (first, is_shown), (second, are_shown) = (_ancestors(each.class_, bases) for each in (one, other))
    if not (is_shown and are_shown):
        return False
    ways = {one.how, other.how}
    if ways == {_DEFINES}:
        # Code elsewhere calls methods of both classes by one name, but a constructor by the name of its class.
        if name != _CONSTRUCTOR or one.class_ == other.class_:
            return False
        if other.class_ in first or one.class_ in second:
            return one.hides if other.class_ in first else other.hides
    elif ways == {_DEFINES, _SUPER}:
        defined, used, above = (one, other, first) if one.how == _DEFINES else (other, one, second)
        if used.class_ == defined.class_ or used.class_ in above:
            return True  # `super()` never means the class itself or one of its heirs
    elif _SUPER in ways:
        return False
    return not _share_an_heir(one.class_, other.class_, bases)


def _share_an_heir(one: bytes, other: bytes, bases: _Bases) -> bool:
    """Return whether some class of the file has the members of both: an heir of both, or one of them."""
    return any({one, other} <= {each} | _ancestors(each, bases)[0] for each in bases)


def _mentions(name: bytes, statement: ChangedStatement) -> Iterator[_Mention | None]:
    """Yield how a changed statement names a member; None for a way that does not tell the class."""
    element = statement.element
    definition = element.definition
    if element.name == name and definition.type == "function_definition":
        class_ = _class_around(definition)
        hides = statement.is_head and name in statement.before.defines
        yield _Mention(_DEFINES, class_, hides) if class_ else None
    nodes = [element.node] if statement.old is None else [element.node, statement.old.node]
    for node in nodes:
        yield from _named_in(name, node, is_head=statement.is_head)


def _named_in(name: bytes, root: Node, *, is_head: bool) -> Iterator[_Mention | None]:
    stack = [root]
    while stack:
        node = stack.pop()
        stack += (each for each in node.children if not (is_head and each.type == "block"))
        if node.type == "attribute" and field_text(node, "attribute") == name:
            yield _through(node.child_by_field_name("object"))
        elif node.type == "function_definition" and field_text(node, "name") == name and not _is_or_wraps(root, node):
            yield None


def _is_or_wraps(element: Node, definition: Node) -> bool:
    return definition.id == element.id or (definition.parent is not None and definition.parent.id == element.id)


def _through(holder: Node | None) -> _Mention | None:
    class_ = _class_around(holder) if holder is not None else b""
    if holder is None or not class_:
        return None
    if holder.type == "identifier" and holder.text in _OWN:
        return _Mention(_SELF, class_) if _is_given_by_method(holder) else None
    return _Mention(_SUPER, class_) if holder.type == "call" and holder.text == b"super()" else None


def _is_given_by_method(holder: Node) -> bool:
    """Whether `self` is the first parameter of the method, and the method does not assign it."""
    function = _function_around(holder)
    parameters = function.child_by_field_name("parameters") if function is not None else None
    first = parameters.named_children[:1] if parameters is not None else []
    text = (function.text or b"") if function is not None else b""
    return bool(first) and first[0].text == holder.text and not _GIVEN_ANEW.search(text)


def _function_around(node: Node) -> Node | None:
    while node.parent is not None:
        node = node.parent
        if node.type in {"function_definition", "lambda", "class_definition"}:
            return node if node.type == "function_definition" else None
    return None


def _class_around(node: Node) -> bytes:
    """Return the name of the class of the module in whose method or body a node stands; empty if there is none."""
    inner = node
    at: Node | None = node.parent
    functions = 0
    while at is not None and at.type != "class_definition":
        functions += at.type in {"function_definition", "lambda"}
        inner, at = at, at.parent
    if at is None or functions > 1 or inner.type != "block":
        return b""
    wrapper = at.parent
    if wrapper is not None and wrapper.type == "decorated_definition":
        wrapper = wrapper.parent
    return field_text(at, "name") if wrapper is not None and wrapper.type == "module" else b""


def _is_set_from_outside(name: bytes, source: bytes) -> bool:
    """Return whether some code may give a class a member of another, so that the definitions do not show all."""
    form = rb"\bsetattr\(|(?<!\bself)(?<!\bcls)\.%s\s*=(?!=)|\b[A-Z]\w*\.%s\b(?!\s*\()"
    return re.search(form % (re.escape(name), re.escape(name)), source) is not None


def _bases(roots: Iterable[Node]) -> dict[bytes, frozenset[bytes]] | None:
    """Return the bases of each class of the module in any version; None if two classes have one name."""
    found: dict[bytes, frozenset[bytes]] = {}
    for root in roots:
        seen: set[bytes] = set()
        for node in _classes(root):
            name = field_text(node, "name")
            if name in seen:
                return None
            seen.add(name)
            found[name] = found.get(name, frozenset()) | _bases_of(node)
    return found


def _classes(root: Node) -> Iterator[Node]:
    stack = [*root.children]
    while stack:
        node = stack.pop()
        if node.type == "class_definition":
            yield node
        if node.type != "function_definition":
            stack += node.children


def _bases_of(node: Node) -> frozenset[bytes]:
    """Return the bases of a class as they are written; a generic one without its arguments."""
    given = node.child_by_field_name("superclasses")
    return frozenset((each.text or b"").partition(b"[")[0] for each in (given.named_children if given else ()))


def _ancestors(class_: bytes, bases: _Bases) -> tuple[frozenset[bytes], bool]:
    """Return the bases of a class, direct and indirect, and whether the file shows all of them."""
    found: set[bytes] = set()
    are_shown = True
    stack = [class_]
    while stack:
        at = stack.pop()
        are_shown &= at in bases or at in _PLAIN_BASES
        above = bases.get(at, frozenset())
        stack += above - found
        found |= above
    return frozenset(found) - {class_}, are_shown
