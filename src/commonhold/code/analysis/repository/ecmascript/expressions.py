"""Read expressions and types of JavaScript and TypeScript: as chains, as patterns, as parameters."""

from collections.abc import Iterator, Mapping
from typing import Final

from tree_sitter import Node

from commonhold.code.analysis.chains import CALLED, INSTANCE, UNKNOWN, Chain
from commonhold.code.analysis.interface import CallableInterface, Parameter, ParamKind
from commonhold.code.analysis.repository.syntax import Link, Scope, Walk, distinct, inside_link, outside_link
from commonhold.code.regions.node_names import first_of, unquoted

FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "generator_function"})
_NAMES: Final = frozenset({"identifier", "shorthand_property_identifier_pattern"})
_NOTHING: Final = frozenset({"null", "undefined"})
_AWAITED: Final = "Promise"


def module_text(walk: Walk, node: Node | None) -> str:
    """Return the text of a string that names a module; empty if it is no plain string."""
    return unquoted(walk.text(node)) if node is not None and node.type == "string" else ""


def required(walk: Walk, node: Node) -> str:
    """Return the module that `require("…")` or `import("…")` names; empty for any other call."""
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None or arguments.type != "arguments" or not arguments.named_children:
        return ""
    is_import = function.type == "import" or (function.type == "identifier" and walk.text(function) == "require")
    return module_text(walk, arguments.named_children[0]) if is_import else ""


def type_chain(walk: Walk, node: Node | None, scope: Scope) -> Chain:
    """Return the chain for an instance of a named type; empty for no type."""
    return () if node is None else (*walk.chain(node, scope), INSTANCE)


def _name(walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    return None, (walk.text(node),)


def _this(_walk: Walk, _node: Node, scope: Scope) -> tuple[Node | None, Chain]:
    return None, ((f"self {scope.owner}",) if scope.owner else UNKNOWN)


def _this_type(_walk: Walk, _node: Node, scope: Scope) -> tuple[Node | None, Chain]:
    return None, (tuple(scope.owner.split(".")) if scope.owner else UNKNOWN)


def _super(_walk: Walk, _node: Node, scope: Scope) -> tuple[Node | None, Chain]:
    return None, ((f"super {scope.owner}",) if scope.owner else UNKNOWN)


def _member(walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    return node.child_by_field_name("object"), (walk.field(node, "property"),)


def _call(walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    module = required(walk, node)
    return (None, (f"import {module}",)) if module else (node.child_by_field_name("function"), (CALLED,))


def _new(_walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    return node.child_by_field_name("constructor"), (CALLED,)


def _asserted(_walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    """Read `x as T`; `x as const` keeps the type of `x`."""
    inner = node.named_children
    return (inner[-1], (INSTANCE,)) if len(inner) > 1 else (inner[0] if inner else None, ())


def _cast(_walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    kind = first_of(node, "type_arguments")
    return (next(iter(kind.named_children), None) if kind is not None else None), (INSTANCE,)


def _qualified(walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    return node.child_by_field_name("module"), (walk.field(node, "name"),)


def _generic(walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    """Read a generic type without its arguments; for a promise, its result, since calls are awaited."""
    name, arguments = node.child_by_field_name("name"), node.child_by_field_name("type_arguments")
    if arguments is not None and arguments.named_children and walk.text(name) == _AWAITED:
        return arguments.named_children[0], ()
    return name, ()


def _union(walk: Walk, node: Node, _scope: Scope) -> tuple[Node | None, Chain]:
    """Read a union with `null` or `undefined` as the only other type."""
    sides = [side for side in node.named_children if walk.text(side) not in _NOTHING]
    return (sides[0], ()) if len(sides) == 1 else (None, UNKNOWN)


LINKS: Final[Mapping[str, Link]] = {
    "identifier": _name,
    "type_identifier": _name,
    "this": _this,
    "this_type": _this_type,
    "super": _super,
    "member_expression": _member,
    "call_expression": _call,
    "new_expression": _new,
    "as_expression": _asserted,
    "type_assertion": _cast,
    "nested_identifier": _member,
    "nested_type_identifier": _qualified,
    "generic_type": _generic,
    "union_type": _union,
    **dict.fromkeys(
        (
            "parenthesized_expression",
            "await_expression",
            "non_null_expression",
            "satisfies_expression",
            "type_annotation",
            "readonly_type",
            "parenthesized_type",
            "instantiation_expression",
        ),
        inside_link,
    ),
    **dict.fromkeys(
        (
            "string",
            "template_string",
            "number",
            "regex",
            "array",
            "object",
            "true",
            "false",
            "array_type",
            "tuple_type",
            "function_type",
            "predefined_type",
            *FUNCTIONS,
        ),
        outside_link,
    ),
}


def bound_names(pattern: Node | None) -> Iterator[Node]:
    """Yield the names that a pattern binds, as nodes; defaults in it are not examined."""
    pending = [] if pattern is None else [pattern]
    while pending:
        node = pending.pop()
        if node.type in _NAMES:
            yield node
        elif node.type == "pair_pattern":
            pending += [value for value in [node.child_by_field_name("value")] if value is not None]
        elif node.type in ("assignment_pattern", "object_assignment_pattern"):
            pending += node.named_children[:1]
        else:
            pending += reversed(node.named_children)


def default_values(pattern: Node | None) -> Iterator[Node]:
    """Yield the expressions in a pattern: defaults and computed keys."""
    pending = [] if pattern is None else [pattern]
    while pending:
        node = pending.pop()
        if node.type in ("assignment_pattern", "object_assignment_pattern"):
            pending += node.named_children[:1]
            yield from node.named_children[1:]
        elif node.type == "computed_property_name":
            yield node
        elif node.type not in _NAMES:
            pending += reversed(node.named_children)


def signature(walk: Walk, node: Node) -> CallableInterface:
    """Return the interface of a function or method, or of a bare signature."""
    words = {child.type for child in node.children if not child.is_named}
    decorators = (walk.text(child)[1:] for child in node.children if child.type == "decorator")
    kind = node.child_by_field_name("return_type")
    return CallableInterface(
        tuple(distinct(_params(walk, parameters(node)))),
        is_async="async" in words,
        is_generator="*" in words,
        decorators=tuple(" ".join(text.split()) for text in decorators),
        returns=_annotation(walk, kind),
    )


def parameters(node: Node) -> list[Node]:
    """Return the nodes of the parameters, each with its pattern, type and default."""
    single = node.child_by_field_name("parameter")
    if single is not None:
        return [single]
    listed = node.child_by_field_name("parameters")
    return [] if listed is None else [each for each in listed.named_children if not each.is_extra]


def pattern_of(parameter: Node) -> Node:
    """Return the pattern that a parameter binds."""
    return parameter.child_by_field_name("pattern") or parameter


def _params(walk: Walk, nodes: list[Node]) -> Iterator[Parameter]:
    for index, node in enumerate(nodes):
        pattern = pattern_of(node)
        if pattern.type == "this":
            continue
        plain = pattern.named_children[0] if pattern.type == "assignment_pattern" else pattern
        rest = plain.type == "rest_pattern"
        inner = plain.named_children[0] if rest and plain.named_children else plain
        yield Parameter(
            walk.text(inner) if inner.type == "identifier" else f"_{index}",
            ParamKind.VAR_POSITIONAL if rest else ParamKind.POSITIONAL_ONLY,
            None if rest else _default(walk, node, pattern),
            _annotation(walk, node.child_by_field_name("type")),
        )


def _default(walk: Walk, node: Node, pattern: Node) -> str | None:
    if pattern.type == "assignment_pattern":
        return walk.tidied(pattern.child_by_field_name("right"))
    value = walk.tidied(node.child_by_field_name("value"))
    return "?" if value is None and node.type == "optional_parameter" else value


def _annotation(walk: Walk, node: Node | None) -> str | None:
    text = walk.tidied(node)
    return None if text is None else text.removeprefix(":").strip()
