"""The effects of running a node of a syntax tree, by its kind: the form of a language's table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node

_LONGEST_SIGN: Final = 8


@dataclass(frozen=True, slots=True, eq=False)
class NodeEffects:
    """The kinds of nodes whose effect is known; a node of any other kind may do anything.

    `plain` nodes evaluate their parts and do nothing else. `inert` nodes run none of their content: types, literals,
    closures and definitions. Operators, accessors and conversions are assumed to read their operands and to change
    nothing, as those of the standard types do.

    Some kinds stand for several things, distinguished by their operator: `operators` says which operators of a kind
    make a kind of their own, called by both with a blank between (`unary_expression delete`); the table then lists
    that.

    `pure` calls read their arguments and change nothing; `iterating` calls go through the items, and use up an
    iterator; `importing` calls load a module; `leaving` calls may not return. All are recognised by the text of the
    called expression. `creations` are nodes that run a constructor, with the field of its name. `classes` are nodes
    that run one if their field `type` names a class.

    If `imports_run`, an import runs the code of a module. If `assigning_declares`, a variable that a function assigns
    is local. If a language `has_outer_variables`, a name that no function declares may be a field of `this`, or a
    variable that other files change. If `bare_names_call`, such a name is the call of a method. If the last statement
    of a body gives the value of the body, `without_value` are the statements that have none. If names are
    `declared_first`, code above their declaration cannot use them; if they `must_be_used`, a variable or an import
    that nothing uses is an error. `running` are definitions of classes whose body is run where it stands, and `moving`
    the nodes, with a field, that take a variable's value away from it.
    """

    plain: frozenset[str] = frozenset()
    inert: frozenset[str] = frozenset()
    operators: Mapping[str, frozenset[str]] = field(default_factory=dict)
    pure: frozenset[str] = frozenset()
    iterating: frozenset[str] = frozenset()
    importing: frozenset[str] = frozenset()
    leaving: frozenset[str] = frozenset()
    creations: Mapping[str, str] = field(default_factory=dict)
    classes: frozenset[str] = frozenset()
    imports_run: bool = False
    assigning_declares: bool = False
    has_outer_variables: bool = False
    bare_names_call: bool = False
    without_value: frozenset[str] | None = None
    declared_first: bool = False
    must_be_used: bool = False
    running: frozenset[str] = frozenset()
    moving: Mapping[str, str] = field(default_factory=dict)


def words(*lines: str) -> frozenset[str]:
    """Return the words of some lines."""
    return frozenset(word for line in lines for word in line.split())


def part(node: Node, place: str) -> Node | None:
    """Return the child of a node in a field, or by its number among the named ones: `0` is the first, `-1` the last."""
    if not place.lstrip("-").isdigit():
        return node.child_by_field_name(place)
    children = node.named_children
    return children[int(place)] if children else None


def kind_of(node: Node, effects: NodeEffects) -> str:
    """Return the kind of a node, with its operator if that makes a difference."""
    kind = node.type
    telling = effects.operators.get(kind)
    if telling is None:
        return kind
    return next((f"{kind} {each}" for each in map(_sign, node.children) if each in telling), kind)


def _sign(node: Node) -> str:
    """Return the text of an operator; an index in brackets begins with its bracket."""
    if not node.is_named:
        return node.type
    text = (node.text or b"")[:_LONGEST_SIGN].decode(errors="replace")
    return text[:1] if text[:1] == "[" else text
