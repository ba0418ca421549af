"""Which variables of a body can be reached by code elsewhere: a call may read and change only those."""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from commonhold.merging.effects import bound_in
from commonhold.merging.layout import Element
from commonhold.merging.profile import Profile
from commonhold.merging.syntax import root_of

# Kinds of nodes that give a value to a variable that is declared elsewhere begin like this.
ASSIGNING: Final = re.compile(r"assign|augmented|compound|inc_|dec_|update|unary|postfix|prefix|infix|delete|unset")
_PARAMETERS: Final = re.compile(r"parameter|\A(?:bindings?|self_parameter)\Z")
VALUES: Final = frozenset({"value", "default_value", "right", "type", "initializer"})
_BY_REFERENCE: Final = re.compile(rb"(?:&\s*(?:mut\s+)?|\b(?:ref|out)\s+)\Z")
_LOCAL: Final = re.compile(rb"(?:local|declare)\s")  # in a shell


def reached(name: bytes, holder: Element) -> bool:
    """Whether code outside the body around `holder` may read or change a variable."""
    profile = holder.profile
    if is_shared(name, profile):
        return True
    places = list(_mentions(name, holder.source))
    if not places:
        return False  # a name that is new in this file
    root = root_of(holder.node)
    around = function_around(holder.node, profile)
    while around is not None:
        inside = [place for place in places if around.start_byte <= place < around.end_byte]
        if _is_declared(name, inside, around, profile):
            return any(_escapes(place, name, root, around, holder) for place in inside)
        around = function_around(around, profile)
    if function_around(holder.node, profile) is not None or _class_around(holder.node, profile):
        return True  # a variable of the module, or a field
    return any(function_around(_node_at(root, place), profile) is not None for place in places)


def may_change(name: bytes, holder: Element) -> bool:
    """Whether code elsewhere may change a variable that is read in the body around `holder`."""
    if is_shared(name, holder.profile) or is_local(name, holder):
        return reached(name, holder)
    if name[:1].isupper():
        return False  # a type or a constant
    if holder.profile.node_effects.has_outer_variables:
        return True
    assigned = re.compile(
        rb"(?<![\w.$@])"
        + re.escape(name)
        + rb"\s*(?::[^=\n]*)?(?:[-+*/%|&^]|\|\||\?\?)?=(?!=)|\b(?:global|nonlocal)\b[^\n]*\b"
        + re.escape(name)
        + rb"\b"
    )
    return sum(1 for _ in assigned.finditer(holder.source)) > 1


def is_shared(name: bytes, profile: Profile) -> bool:
    """Whether the first letter marks a field or a global variable, as in Ruby."""
    return name[:1] == b"@" or (name[:1] == b"$" and profile.node_effects.bare_names_call)


def is_local(name: bytes, holder: Element) -> bool:
    """Whether a function around `holder` declares a variable."""
    root = holder.node
    around = function_around(root, holder.profile)
    while around is not None:
        inside = [each for each in _mentions(name, holder.source) if around.start_byte <= each < around.end_byte]
        if _is_declared(name, inside, around, holder.profile):
            return True
        around = function_around(around, holder.profile)
    return False


def _mentions(name: bytes, source: bytes) -> Iterator[int]:
    found = re.compile(rb"(?<![\w$@])" + re.escape(name) + rb"(?!\w)")
    return (match.start() for match in found.finditer(source))


def _node_at(root: Node, place: int) -> Node:
    return root.descendant_for_byte_range(place, place + 1) or root


def function_around(node: Node, profile: Profile) -> Node | None:
    """Return the innermost function or closure around a node."""
    around = node.parent
    while around is not None and not _is_function(around.type, profile):
        around = around.parent
    return around


def _is_function(kind: str, profile: Profile) -> bool:
    """Whether nodes of a kind have local variables; definitions of a single variable do not."""
    binding = profile.bindings.get(kind)
    is_scope = binding is not None and binding.is_scope
    return kind not in profile.classes and (is_scope or kind in profile.functions - profile.node_effects.plain)


def _class_around(node: Node, profile: Profile) -> bool:
    around: Node | None = node
    while around is not None and around.type not in profile.classes:
        around = around.parent
    return around is not None


def _is_declared(name: bytes, places: list[int], function: Node, profile: Profile) -> bool:
    if not places:
        return False
    if profile.node_effects.assigning_declares:
        shared = rb"\b(?:global|nonlocal|static)\b[^\n]*" + re.escape(name) + rb"\b"
        return name in bound_in(function, profile) and re.search(shared, function.text or b"") is None
    node = function.descendant_for_byte_range(places[0], places[0] + 1)
    while node is not None and node.parent is not None and node != function:
        node, place = node.parent, place_of(node)
        if place in VALUES:
            return False
        if _PARAMETERS.search(node.type) or _LOCAL.match(node.text or b""):
            return True
        binding = profile.bindings.get(node.type)
        if binding is not None and not ASSIGNING.search(node.type):
            return not binding.is_scope and (place in binding.defines or (place == "" and "" in binding.defines))
    return False


def place_of(node: Node) -> str:
    """Return the field that a node is in."""
    around = node.parent
    if around is None:
        return ""
    index = next(index for index, child in enumerate(around.children) if child == node)
    return around.field_name_for_child(index) or ""


def _escapes(place: int, name: bytes, root: Node, function: Node, holder: Element) -> bool:
    """Whether a mention makes a variable reachable for code elsewhere: inside another function, or by its address."""
    if _BY_REFERENCE.search(holder.source[max(place - 12, 0) : place]):
        return True
    inner = function_around(_node_at(root, place), holder.profile)
    while inner is not None and inner != function:
        if name not in bound_in(inner, holder.profile):
            return True
        inner = function_around(inner, holder.profile)
    return False
