"""Read expressions, types and parameters of Go."""

from collections.abc import Iterator, Mapping
from typing import Final

from tree_sitter import Node

from commonhold.code.analysis.chains import CALLED, INSTANCE, Chain
from commonhold.code.analysis.interface import CallableInterface, Parameter, ParamKind
from commonhold.code.analysis.repository.syntax import OUTSIDE, Link, Scope, Walk, distinct, inside_link, outside_link

BUILT_IN: Final = frozenset(
    {"any", "bool", "byte", "comparable", "error", "rune", "string", "uintptr"}
    | {f"{kind}{size}" for kind in ("int", "uint") for size in ("", 8, 16, 32, 64)}
    | {"complex64", "complex128", "float32", "float64"}
)
_NEW: Final = "new"
_VARIADIC: Final = "variadic_parameter_declaration"


def type_chain(walk: Walk, node: Node | None, scope: Scope) -> Chain:
    """Return the chain for an instance of a named type; empty for no type."""
    return () if node is None else (*walk.chain(node, scope), INSTANCE)


def _name(walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    return None, (walk.text(node),)


def _type_name(walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    text = walk.text(node)
    return None, (OUTSIDE if text in BUILT_IN else (text,))


def _selector(walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    return node.child_by_field_name("operand"), (walk.field(node, "field"),)


def _qualified(walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    return node.child_by_field_name("package"), (walk.field(node, "name"),)


def _call(walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is not None and arguments is not None and walk.text(function) == _NEW and arguments.named_children:
        return arguments.named_children[0], (INSTANCE,)
    return function, (CALLED,)


def _literal(_walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    return node.child_by_field_name("type"), (CALLED,)


def _asserted(_walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    return node.child_by_field_name("type"), (INSTANCE,)


def _typed(_walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    return node.child_by_field_name("type"), ()


def _operand(_walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    """Read a pointer as its target, which has the same fields."""
    is_pointing = node.children and node.children[0].type in ("&", "*")
    return (node.child_by_field_name("operand"), ()) if is_pointing else (None, OUTSIDE)


LINKS: Final[Mapping[str, Link]] = {
    "identifier": _name,
    "package_identifier": _name,
    "type_identifier": _type_name,
    "selector_expression": _selector,
    "qualified_type": _qualified,
    "call_expression": _call,
    "composite_literal": _literal,
    "type_assertion_expression": _asserted,
    "type_conversion_expression": _asserted,
    "generic_type": _typed,
    "unary_expression": _operand,
    "parenthesized_expression": inside_link,
    "parenthesized_type": inside_link,
    "pointer_type": inside_link,
    **dict.fromkeys(
        (
            "array_type",
            "channel_type",
            "false",
            "float_literal",
            "func_literal",
            "function_type",
            "int_literal",
            "interpreted_string_literal",
            "map_type",
            "nil",
            "raw_string_literal",
            "rune_literal",
            "slice_type",
            "true",
        ),
        outside_link,
    ),
}


def declared(node: Node | None) -> Iterator[tuple[Node, list[Node]]]:
    """Yield the declarations of a list of parameters, each with its names."""
    for each in node.named_children if node is not None else ():
        if each.type in ("parameter_declaration", _VARIADIC):
            yield each, each.children_by_field_name("name")


def params(walk: Walk, node: Node | None) -> Iterator[Parameter]:
    """Yield the parameters of a list; one without a name is numbered."""
    count = 0
    for each, names in declared(node):
        kind = ParamKind.VAR_POSITIONAL if each.type == _VARIADIC else ParamKind.POSITIONAL_ONLY
        note = walk.tidied(each.child_by_field_name("type"))
        for name in map(walk.text, names) if names else (f"_{count}",):
            yield Parameter(name, kind, None, note)
            count += 1


def signature(walk: Walk, node: Node) -> CallableInterface:
    """Return the interface of a function, or of any node in the form of one."""
    return CallableInterface(
        tuple(distinct(params(walk, node.child_by_field_name("parameters")))),
        returns=walk.tidied(node.child_by_field_name("result")),
    )


def result_chain(walk: Walk, node: Node, scope: Scope) -> Chain:
    """Return the chain of a function's result; of several results the first."""
    result = node.child_by_field_name("result")
    if result is not None and result.type == "parameter_list":
        first = next(declared(result), None)
        result = first[0].child_by_field_name("type") if first is not None else None
    return type_chain(walk, result, scope)


def receiver_of(walk: Walk, node: Node) -> tuple[str, Node | None]:
    """Return the type that a method belongs to, and the node of its receiver's name."""
    given = next(declared(node.child_by_field_name("receiver")), None)
    if given is None:
        return "", None
    chain = walk.chain(given[0].child_by_field_name("type"), walk.top)
    return (chain[-1] if chain[-1].isidentifier() else ""), next(iter(given[1]), None)
