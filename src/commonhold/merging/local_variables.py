"""Whether a variable that a function mentions is its own, or one of the module, a class or a function around it."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from tree_sitter import Node

from commonhold.merging.effects import bound_in
from commonhold.merging.layout import Element
from commonhold.merging.node_effects import part
from commonhold.merging.profile import Profile
from commonhold.merging.reachable_variables import ASSIGNING, VALUES, is_shared, place_of

_PARAMETERS: Final = re.compile(r"parameter|\Abindings?\Z")
# Statements whose head may declare variables: these can be used inside the statement only.
_HEADS: Final = re.compile(
    r"\A(?:enhanced_)?(?:for|if|switch|try|while|with|using|match|expression_switch|type_switch)"
)
_HOISTED: Final = "variable_declaration"  # `var` of JavaScript, which is known in its whole function

_Span = tuple[int, int]


def is_own(name: bytes, function: Element) -> bool:
    """Whether a function declares a variable wherever it mentions it. A doubtful variable counts as not its own."""
    profile = function.profile
    if is_shared(name, profile):
        return False
    if profile.node_effects.assigning_declares:
        shared = rb"\b(?:global|nonlocal)\b[^\n]*" + re.escape(name) + rb"\b"
        return name in bound_in(function.definition, profile) and re.search(shared, function.text) is None
    mentions, declared = [], []
    for node in _named(name, function.definition, profile):
        span = _declared_for(node, function.definition, profile)
        if span is None:
            mentions.append(node.start_byte)
        else:
            declared.append(span)
    return bool(declared) and all(any(start <= at < end for start, end in declared) for at in mentions)


def _named(name: bytes, function: Node, profile: Profile) -> Iterator[Node]:
    """Yield the nodes in which a name stands for a variable, not for a member or the function itself."""
    found = re.compile(rb"(?<![\w$@])" + re.escape(name) + rb"(?!\w)")
    text, start = function.text or b"", function.start_byte
    for match in found.finditer(text):
        node = function.descendant_for_byte_range(start + match.start(), start + match.end())
        if node is None or node.type not in profile.identifiers or node.text != name or node.parent is None:
            continue
        if not _is_label(node, node.parent, profile) and node != function.child_by_field_name("name"):
            yield node


def _is_label(node: Node, around: Node, profile: Profile) -> bool:
    """Whether an identifier names a member of an object instead of a variable."""
    kind = around.type
    if kind in profile.members:
        return part(around, profile.members[kind][1]) == node
    is_method = kind in profile.method_calls and around.child_by_field_name("object") is not None
    return is_method and part(around, profile.method_calls[kind]) == node


def _declared_for(node: Node, function: Node, profile: Profile) -> _Span | None:
    """Return the bytes for which an identifier declares a variable; None if it only mentions one."""
    at = node
    while at != function and at.parent is not None:
        around, place = at.parent, place_of(at)
        if place in VALUES:
            return None
        if place == "parameter" or _PARAMETERS.search(around.type):
            return _span(_around(around, profile.functions | _closures(profile), function))
        binding = profile.bindings.get(around.type)
        if binding is not None and not ASSIGNING.search(around.type):
            if place not in binding.defines:
                return None
            return _scope(node, around, function, profile)
        at = around
    return None


def _scope(name: Node, declaring: Node, function: Node, profile: Profile) -> _Span | None:
    if declaring.type == "for_in_statement" and declaring.child_by_field_name("kind") is None:
        return None  # assigns a variable that is declared elsewhere
    outer = declaring.parent
    if outer is not None and outer.type == _HOISTED and outer.child(0) is not None and outer.children[0].type == "var":
        return _span(_around(outer, profile.functions | _closures(profile), function))
    start, at = name.start_byte, declaring
    while at != function and at.parent is not None and at.type not in profile.blocks and not _HEADS.match(at.type):
        at = at.parent
    return start, at.end_byte


def _around(node: Node, kinds: frozenset[str], outermost: Node) -> Node:
    while node != outermost and node.type not in kinds and node.parent is not None:
        node = node.parent
    return node


def _span(node: Node) -> _Span:
    return node.start_byte, node.end_byte


@cache
def _closures(profile: Profile) -> frozenset[str]:
    return frozenset(kind for kind, binding in profile.bindings.items() if binding.is_scope)
