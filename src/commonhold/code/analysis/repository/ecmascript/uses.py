"""The uses in a file of JavaScript or TypeScript: calls, names, attributes, types, elements of JSX."""

from collections.abc import Mapping
from typing import Final

from tree_sitter import Node

from commonhold.code.analysis.interface import CallShape
from commonhold.code.analysis.references import Use
from commonhold.code.analysis.repository.ecmascript.expressions import required
from commonhold.code.analysis.repository.syntax import Scope, Visit, Walk, nothing, shape, shape_of

_EVALUATORS: Final = frozenset({"eval", "Function"})
_LOADERS: Final = frozenset({"require", "import"})


def _name(walk: Walk, node: Node, scope: Scope) -> None:
    walk.use(node, Use.NAME, scope)


def _type_name(walk: Walk, node: Node, scope: Scope) -> None:
    walk.use(node, Use.ANNOTATION, scope)


def _qualified_type(walk: Walk, node: Node, scope: Scope) -> None:
    """Record `ns.T` as a type."""
    chain = walk.chain(node, scope)
    walk.use_of(chain, Use.ANNOTATION, node, scope)


def _attribute(walk: Walk, node: Node, scope: Scope) -> None:
    _used_attribute(walk, node, scope, Use.ATTRIBUTE)


def _used_attribute(walk: Walk, node: Node, scope: Scope, use: Use, given: CallShape | None = None) -> None:
    target, name = node.child_by_field_name("object"), node.child_by_field_name("property")
    if target is None or name is None:
        walk.push(node.named_children, scope)
        return
    walk.use(name, use, scope, walk.chain(target, scope), given)
    if target.type == "identifier":
        walk.use(target, Use.QUALIFIER, scope)
    else:
        walk.push([target], scope)


def _call(walk: Walk, node: Node, scope: Scope) -> None:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is not None:
        is_tag = arguments is not None and arguments.type == "template_string"
        _called(walk, function, scope, shape(1, has_star=True) if is_tag else shape_of(arguments))
        _mark_call(walk, node, function)
    walk.push([node.child_by_field_name("type_arguments"), arguments], scope)


def _new(walk: Walk, node: Node, scope: Scope) -> None:
    made, arguments = node.child_by_field_name("constructor"), node.child_by_field_name("arguments")
    if made is not None:
        _called(walk, made, scope, shape_of(arguments))
        if made.type == "identifier" and walk.text(made) in _EVALUATORS:
            walk.mark(walk.text(made), made)
    walk.push([node.child_by_field_name("type_arguments"), arguments], scope)


def _called(walk: Walk, function: Node, scope: Scope, given: CallShape) -> None:
    if function.type == "identifier":
        walk.use(function, Use.CALL, scope, shape=given)
    elif function.type == "member_expression":
        _used_attribute(walk, function, scope, Use.CALL, given)
    elif function.type == "super":
        _called_base(walk, function, scope, given)
    elif function.type != "import":
        walk.push([function], scope)


def _called_base(walk: Walk, node: Node, scope: Scope, given: CallShape) -> None:
    """Record `super(…)`, which calls the base as `new` would."""
    draft = walk.drafts.get(scope.owner)
    if draft is not None and draft.shape is not None and draft.shape.bases:
        walk.use_of(draft.shape.bases[0], Use.CALL, node, scope, given)


def _mark_call(walk: Walk, node: Node, function: Node) -> None:
    if function.type not in ("identifier", "import"):
        return
    name = walk.text(function)
    if name in _EVALUATORS or (name in _LOADERS and not required(walk, node)):
        walk.mark(name, function)


def _decorator(walk: Walk, node: Node, scope: Scope) -> None:
    for child in node.named_children:
        if child.type == "identifier":
            walk.use(child, Use.DECORATOR, scope)
        else:
            walk.push([child], scope)


def _element(walk: Walk, node: Node, scope: Scope) -> None:
    """Record an element of JSX; a name in small letters is no component of ours."""
    name = node.child_by_field_name("name")
    if name is not None and name.type == "identifier":
        if not walk.text(name)[:1].islower():
            walk.use(name, Use.NAME, scope)
    elif name is not None:
        walk.push([name], scope)
    walk.push(node.children_by_field_name("attribute"), scope)
    walk.push([node.child_by_field_name("type_arguments")], scope)


VISITS: Final[Mapping[str, Visit]] = {
    "identifier": _name,
    "shorthand_property_identifier": _name,
    "type_identifier": _type_name,
    "nested_type_identifier": _qualified_type,
    "member_expression": _attribute,
    "call_expression": _call,
    "new_expression": _new,
    "decorator": _decorator,
    "jsx_opening_element": _element,
    "jsx_self_closing_element": _element,
    **dict.fromkeys(
        ("comment", "string", "number", "regex", "jsx_closing_element", "jsx_text", "predefined_type", "super"),
        nothing,
    ),
}
