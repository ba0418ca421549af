"""Read expressions, types and parameters of Java."""

from collections.abc import Iterator, Mapping
from typing import Final

from tree_sitter import Node

from commonhold.code.analysis.chains import CALLED, INSTANCE, UNKNOWN, Chain
from commonhold.code.analysis.interface import CallableInterface, Parameter, ParamKind
from commonhold.code.analysis.repository.syntax import Link, Scope, Walk, inside_link, outside_link
from commonhold.code.regions.node_names import first_of

INFERRED: Final = "var"
_SPREAD: Final = "spread_parameter"


def type_chain(walk: Walk, node: Node | None, scope: Scope) -> Chain:
    """Return the chain for an instance of a named type; empty for no type, and for `var`."""
    if node is None or (node.type == "type_identifier" and walk.text(node) == INFERRED):
        return ()
    return (*walk.chain(node, scope), INSTANCE)


def _name(walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    return None, (walk.text(node),)


def _this(_walk: Walk, _node: Node, scope: Scope) -> tuple[Node | None, Chain]:
    return None, ((f"self {scope.owner}",) if scope.owner else UNKNOWN)


def _super(_walk: Walk, _node: Node, scope: Scope) -> tuple[Node | None, Chain]:
    return None, ((f"super {scope.owner}",) if scope.owner else UNKNOWN)


def _field(walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    target, name = node.child_by_field_name("object"), node.child_by_field_name("field")
    return (target, (INSTANCE,)) if name is not None and name.type == "this" else (target, (walk.text(name),))


def _invocation(walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    return node.child_by_field_name("object"), (walk.field(node, "name"), CALLED)


def _creation(_walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    return node.child_by_field_name("type"), (CALLED,)


def _cast(_walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    return node.child_by_field_name("type"), (INSTANCE,)


def _qualified(walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    inner = node.named_children
    return (inner[0], (walk.text(inner[-1]),)) if len(inner) > 1 else (None, UNKNOWN)


LINKS: Final[Mapping[str, Link]] = {
    "identifier": _name,
    "type_identifier": _name,
    "this": _this,
    "super": _super,
    "field_access": _field,
    "method_invocation": _invocation,
    "object_creation_expression": _creation,
    "cast_expression": _cast,
    "parenthesized_expression": inside_link,
    "generic_type": inside_link,
    "annotated_type": inside_link,
    "scoped_type_identifier": _qualified,
    **dict.fromkeys(
        (
            "array_creation_expression",
            "array_type",
            "boolean_type",
            "character_literal",
            "class_literal",
            "decimal_floating_point_literal",
            "decimal_integer_literal",
            "false",
            "floating_point_type",
            "hex_integer_literal",
            "integral_type",
            "null_literal",
            "string_literal",
            "true",
            "void_type",
        ),
        outside_link,
    ),
}


def parameters(node: Node) -> Iterator[tuple[Node, Node | None, Node | None]]:
    """Yield the parameters of a method or lambda, each with the nodes of its name and type."""
    listed = node.child_by_field_name("parameters")
    if listed is not None and listed.type == "identifier":
        yield listed, listed, None
        return
    for each in listed.named_children if listed is not None else ():
        if each.type == "formal_parameter":
            yield each, each.child_by_field_name("name"), each.child_by_field_name("type")
        elif each.type == _SPREAD:
            declarator = first_of(each, "variable_declarator")
            kinds = [child for child in each.named_children if child.type not in ("modifiers", "variable_declarator")]
            yield each, declarator.child_by_field_name("name") if declarator else None, next(iter(kinds), None)
        elif each.type == "identifier":
            yield each, each, None


def signature(walk: Walk, node: Node) -> CallableInterface:
    """Return the interface of a method, a constructor, or of a record by its header."""
    params = (
        Parameter(
            walk.text(name),
            ParamKind.VAR_POSITIONAL if each.type == _SPREAD else ParamKind.POSITIONAL_ONLY,
            None,
            walk.tidied(kind),
        )
        for each, name, kind in parameters(node)
    )
    return CallableInterface(tuple(params), returns=walk.tidied(node.child_by_field_name("type")))
