"""Read expressions, types, paths and parameters of Rust."""

from collections.abc import Iterator, Mapping
from typing import Final

from tree_sitter import Node

from commonhold.code.analysis.chains import CALLED, INSTANCE, UNKNOWN, Chain
from commonhold.code.analysis.interface import CallableInterface, Parameter, ParamKind
from commonhold.code.analysis.repository.syntax import OUTSIDE, Link, Scope, Walk, inside_link, outside_link

SELF_TYPE: Final = "Self"
PATH_ROOTS: Final = frozenset({"crate", "self", "super"})
_STANDARD: Final = frozenset({"alloc", "core", "std"})
# Types that wrap their content: a field or method of them is taken for one of the inner type.
_WRAPPERS: Final = frozenset({"Arc", "Box", "Cow", "Option", "Pin", "Rc", "Ref", "RefMut", "Result"})
_SAME: Final = frozenset(
    {"as_mut", "as_ref", "borrow", "borrow_mut", "clone", "expect", "to_owned", "unwrap", "unwrap_or_default"}
)


def type_chain(walk: Walk, node: Node | None, scope: Scope) -> Chain:
    """Return the chain for an instance of a named type; empty for no type."""
    return () if node is None else (*walk.chain(node, scope), INSTANCE)


def type_of_scope(scope: Scope) -> Chain:
    """Return the type that `Self` stands for."""
    return tuple(scope.owner.split(".")) if scope.owner else UNKNOWN


def _name(walk: Walk, node: Node, scope: Scope) -> tuple[Node | None, Chain]:
    text = walk.text(node)
    if text == SELF_TYPE:
        return None, type_of_scope(scope)
    return None, (OUTSIDE if text in _STANDARD else (text,))


def _self(_walk: Walk, _node: Node, scope: Scope) -> tuple[Node | None, Chain]:
    return None, ((*type_of_scope(scope), INSTANCE) if scope.owner else UNKNOWN)


def _scoped(walk: Walk, node: Node, scope: Scope) -> tuple[Node | None, Chain]:
    path = node.child_by_field_name("path")
    name = walk.field(node, "name")
    if path is None:
        return None, UNKNOWN
    if path.type in PATH_ROOTS:
        return None, (*_from_module(path.type, scope), name)
    return path, (name,)


def _from_module(root: str, scope: Scope) -> Chain:
    """Return the target of `crate`, `self` or `super`: modules inside of this file are names of it."""
    inside = module_of(scope)
    if root == "crate" or (root == "super" and not inside):
        return (f"import {root}",)
    return tuple(inside) if root == "self" else tuple(inside[:-1])


def module_of(scope: Scope) -> list[str]:
    """Return the modules inside of the file that a scope lies in."""
    around: Scope | None = scope
    while around is not None and (around.is_class or not around.defines):
        around = around.parent
    return around.prefix.split(".") if around is not None and around.prefix else []


def _field(walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    return node.child_by_field_name("value"), (walk.field(node, "field"),)


def _call(walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    function = node.child_by_field_name("function")
    if function is not None and function.type == "field_expression" and walk.field(function, "field") in _SAME:
        return function.child_by_field_name("value"), ()
    return function, (CALLED,)


def _literal(_walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    return node.child_by_field_name("name"), (CALLED,)


def _generic(walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    kind, arguments = node.child_by_field_name("type"), node.child_by_field_name("type_arguments")
    inner = [each for each in arguments.named_children if each.type != "lifetime"] if arguments is not None else []
    name = walk.text(kind).rpartition("::")[2]
    return (inner[0], ()) if inner and name in _WRAPPERS else (kind, ())


def _cast(_walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    return node.child_by_field_name("type"), (INSTANCE,)


def _by(name: str) -> Link:
    return lambda _walk, node, _scope: (node.child_by_field_name(name), ())


LINKS: Final[Mapping[str, Link]] = {
    "identifier": _name,
    "type_identifier": _name,
    "self": _self,
    "scoped_identifier": _scoped,
    "scoped_type_identifier": _scoped,
    "field_expression": _field,
    "call_expression": _call,
    "struct_expression": _literal,
    "generic_type": _generic,
    "generic_function": _by("function"),
    "generic_type_with_turbofish": _by("type"),
    "type_cast_expression": _cast,
    "reference_expression": _by("value"),
    "reference_type": _by("type"),
    "pointer_type": _by("type"),
    "dynamic_type": _by("trait"),
    "abstract_type": _by("trait"),
    "qualified_type": _by("type"),
    **dict.fromkeys(
        ("await_expression", "bracketed_type", "parenthesized_expression", "try_expression", "unary_expression"),
        inside_link,
    ),
    **dict.fromkeys(
        (
            "array_expression",
            "array_type",
            "boolean_literal",
            "char_literal",
            "closure_expression",
            "float_literal",
            "function_type",
            "integer_literal",
            "primitive_type",
            "raw_string_literal",
            "string_literal",
            "tuple_expression",
            "tuple_type",
            "unit_expression",
            "unit_type",
        ),
        outside_link,
    ),
}


def parameters(node: Node) -> list[Node]:
    """Return the parameters of a function or closure."""
    listed = node.child_by_field_name("parameters")
    kinds = ("attribute_item", "line_comment", "block_comment")
    return [] if listed is None else [each for each in listed.named_children if each.type not in kinds]


def signature(walk: Walk, node: Node) -> CallableInterface:
    """Return the interface of a function, including `self` if it has one."""
    return CallableInterface(
        tuple(_params(walk, parameters(node))),
        is_async="async"
        in walk.text(next((each for each in node.children if each.type == "function_modifiers"), None)),
        returns=walk.tidied(node.child_by_field_name("return_type")),
    )


def _params(walk: Walk, nodes: list[Node]) -> Iterator[Parameter]:
    for index, node in enumerate(nodes):
        pattern = node.child_by_field_name("pattern")
        if node.type == "self_parameter" or (pattern is not None and pattern.type == "self"):
            yield Parameter("self", ParamKind.POSITIONAL_ONLY)
        elif node.type == "variadic_parameter":
            yield Parameter("rest", ParamKind.VAR_POSITIONAL)
        else:
            name = walk.text(pattern) if pattern is not None and pattern.type == "identifier" else f"_{index}"
            yield Parameter(name, ParamKind.POSITIONAL_ONLY, None, walk.tidied(node.child_by_field_name("type")))


def made_of(walk: Walk, node: Node) -> CallableInterface | None:
    """Return how a struct or a variant is made: by position, or by naming every field; None if it is only a name."""
    body = node.child_by_field_name("body")
    if body is None or body.type == "enum_variant_list":
        return None
    if body.type == "ordered_field_declaration_list":
        kinds = body.children_by_field_name("type")
        places = ParamKind.POSITIONAL_ONLY
        return CallableInterface(
            tuple(Parameter(f"_{index}", places, None, walk.tidied(kind)) for index, kind in enumerate(kinds))
        )
    fields = [each for each in body.named_children if each.type == "field_declaration"]
    return CallableInterface(
        tuple(
            Parameter(
                walk.field(each, "name"), ParamKind.KEYWORD_ONLY, None, walk.tidied(each.child_by_field_name("type"))
            )
            for each in fields
        )
    )
