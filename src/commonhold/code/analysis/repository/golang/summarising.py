"""The names that a file of Go offers and uses.

A struct is made by a literal: keyed, in which every field may be left out, or by position, in which none may. It offers
both as its signatures. Embedded types count as its bases.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tree_sitter import Node

from commonhold.code.analysis.chains import INSTANCE, UNKNOWN, Chain
from commonhold.code.analysis.interface import CallableInterface, CallShape, Parameter, ParamKind
from commonhold.code.analysis.module_definitions import Sort
from commonhold.code.analysis.references import Use
from commonhold.code.analysis.repository.golang.expressions import (
    BUILT_IN,
    LINKS,
    declared,
    receiver_of,
    result_chain,
    signature,
    type_chain,
)
from commonhold.code.analysis.repository.summary import ABSTRACT, STAR, ClassShape, Summary
from commonhold.code.analysis.repository.syntax import (
    OUTSIDE,
    Draft,
    Grammar,
    Scope,
    Visit,
    Walk,
    nothing,
    shape_of,
    summarised,
)
from commonhold.code.regions.languages.systems import GO
from commonhold.code.regions.node_names import first_of, unquoted

_BLANK: Final = "_"
_DOT_IMPORT: Final = "dot import"
_ZERO: Final = "zero"
_REFLECTIVE: Final = frozenset({"MethodByName", "FieldByName"})
_LISTS: Final = {
    "slice_type": "element",
    "array_type": "element",
    "map_type": "value",
    "implicit_length_array_type": "element",
}


def _import(walk: Walk, node: Node, _scope: Scope) -> None:
    module = unquoted(walk.field(node, "path"))
    name = node.child_by_field_name("name")
    if name is None:
        walk.take(node, _package_name(module), module, "")
    elif name.type == "dot":
        walk.take(node, "", module, STAR)
        walk.mark(_DOT_IMPORT, node)
    elif name.type != "blank_identifier":
        walk.take(node, walk.text(name), module, "")


def _package_name(module: str) -> str:
    """Return the last part of an import path, without the version."""
    *_, before, last = ("", *module.split("/"))
    is_version = last[:1] == "v" and last[1:].isdigit() and bool(before)
    return (before if is_version else last).partition(".")[0]


def _function(walk: Walk, node: Node, scope: Scope) -> None:
    draft = walk.offer(walk.field(node, "name"), Sort.FUNCTION, node, scope)
    inner = scope.inner()
    _sign(walk, draft, node, inner)
    _enter(walk, node, inner)


def _method(walk: Walk, node: Node, scope: Scope) -> None:
    """Offer a method under the name of its type, in whichever file of the package the type stands."""
    owner, receiver = receiver_of(walk, node)
    inner = scope.inner()
    if owner:
        draft = walk.offer_as(f"{owner}.{walk.field(node, 'name')}", Sort.FUNCTION, node, scope)
        _sign(walk, draft, node, inner)
    if receiver is not None:
        inner.bind(walk.text(receiver), 0, (owner, INSTANCE) if owner else ())
    walk.push([node.child_by_field_name("receiver")], scope.inner())
    _enter(walk, node, inner)


def _sign(walk: Walk, draft: Draft | None, node: Node, inner: Scope) -> None:
    _bind_types(walk, node, inner)
    if draft is not None:
        draft.signatures.append(signature(walk, node))
        draft.gives, draft.scope = result_chain(walk, node, inner), inner


def _bind_types(walk: Walk, node: Node, inner: Scope) -> None:
    given = node.child_by_field_name("type_parameters")
    for each in given.named_children if given is not None else ():
        for name in each.children_by_field_name("name"):
            inner.bind(walk.text(name))


def _enter(walk: Walk, node: Node, inner: Scope) -> None:
    """Visit the inside of a function."""
    for part in ("parameters", "result"):
        listed = node.child_by_field_name(part)
        for each, names in declared(listed):
            for name in names:
                inner.bind(walk.text(name), 0, type_chain(walk, each.child_by_field_name("type"), inner))
        walk.push(_types_of(listed), inner)
    walk.push([node.child_by_field_name("body"), node.child_by_field_name("type_parameters")], inner)


def _types_of(listed: Node | None) -> list[Node | None]:
    if listed is None or listed.type != "parameter_list":
        return [listed]
    return [each.child_by_field_name("type") for each, _ in declared(listed)]


def _literal_function(walk: Walk, node: Node, scope: Scope) -> None:
    _enter(walk, node, scope.inner())


def _parameters(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit parameters of a type: only their types are uses."""
    walk.push(_types_of(node), scope)


def _type(walk: Walk, node: Node, scope: Scope) -> None:
    kind, name = node.child_by_field_name("type"), walk.field(node, "name")
    inner = scope.inner()
    _bind_types(walk, node, inner)
    if kind is not None and kind.type == "struct_type":
        fields = [*_fields(kind)]
        draft = walk.offer(
            name, Sort.CLASS, node, scope, shape=_shape(walk, (each for each, names in fields if not names), inner)
        )
        _struct(walk, draft, fields, inner)
    elif kind is not None and kind.type == "interface_type":
        embedded = (
            each for elem in kind.named_children if elem.type == "type_elem" for each in elem.named_children[:1]
        )
        draft = walk.offer(name, Sort.CLASS, node, scope, shape=_shape(walk, embedded, inner))
        _interface(walk, draft, kind, inner)
    else:
        alias = [kind] if kind is not None and node.type == "type_alias" else []
        draft = walk.offer(name, Sort.CLASS, node, scope, shape=_shape(walk, alias, inner))
        walk.push([kind], inner)
    if draft is not None:
        draft.scope = inner
    walk.push([node.child_by_field_name("type_parameters")], inner)


def _fields(kind: Node) -> Iterator[tuple[Node, list[Node]]]:
    listed = first_of(kind, "field_declaration_list")
    for each in listed.named_children if listed is not None else ():
        if each.type == "field_declaration":
            yield each, each.children_by_field_name("name")


def _shape(walk: Walk, embedded: Iterator[Node] | Sequence[Node], scope: Scope) -> ClassShape:
    kinds = [each.child_by_field_name("type") or each for each in embedded]
    chains = [(walk.chain(each, scope), walk.text(each)) for each in kinds]
    known = [(chain, text) for chain, text in chains if chain not in (UNKNOWN, OUTSIDE)]
    return ClassShape(tuple(chain for chain, _ in known), tuple(text for _, text in known))


def _struct(walk: Walk, draft: Draft | None, fields: list[tuple[Node, list[Node]]], inner: Scope) -> None:
    params: list[Parameter] = []
    for each, names in fields:
        kind = each.child_by_field_name("type")
        if not names:
            _embedded(walk, kind, inner)
        for name in map(walk.text, names) if names else [_package_name(walk.text(kind).lstrip("*").replace(".", "/"))]:
            params.append(Parameter(name, ParamKind.KEYWORD_ONLY, _ZERO, walk.tidied(kind)))
            if draft is not None and names and name != _BLANK:
                walk.offer_as(f"{draft.qualname}.{name}", Sort.VALUE, each, inner, type_chain(walk, kind, inner))
        walk.push([kind], inner)
    if draft is not None:
        placed = tuple(Parameter(each.name, ParamKind.POSITIONAL_ONLY, None, each.annotation) for each in params)
        draft.signatures += [CallableInterface(tuple(params)), CallableInterface(placed)]


def _embedded(walk: Walk, kind: Node | None, scope: Scope) -> None:
    chain = walk.chain(kind, scope)
    if kind is not None and chain not in (UNKNOWN, OUTSIDE):
        walk.use_of(chain, Use.BASE, kind, scope)


def _interface(walk: Walk, draft: Draft | None, kind: Node, inner: Scope) -> None:
    for each in kind.named_children:
        if each.type == "method_elem" and draft is not None:
            method = walk.offer_as(f"{draft.qualname}.{walk.field(each, 'name')}", Sort.FUNCTION, each, inner)
            method.signatures.append(signature(walk, each))
            method.gives = result_chain(walk, each, inner)
            method.qualify([ABSTRACT])
        elif each.type == "type_elem":
            for part in each.named_children:
                _embedded(walk, part, inner)
    walk.push([each for each in kind.named_children if each.type in ("method_elem", "type_elem")], inner)


def _method_elem(walk: Walk, node: Node, scope: Scope) -> None:
    for part in ("result", "parameters"):
        walk.push(_types_of(node.child_by_field_name(part)), scope)


def _spec(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit one line of `const` or `var`."""
    names, kind = node.children_by_field_name("name"), node.child_by_field_name("type")
    value = node.child_by_field_name("value")
    values = _expressions(value)
    for name, held in zip(names, _held(walk, names, values, scope), strict=True):
        text, gives = walk.text(name), type_chain(walk, kind, scope) or held
        if text == _BLANK:
            continue
        if not scope.defines:
            scope.bind(text, node.end_byte, gives)
        elif len(names) == 1 and values and values[0].type == "func_literal":
            _sign(walk, walk.offer(text, Sort.FUNCTION, node, scope), values[0], scope.inner())
        else:
            walk.offer(text, Sort.VALUE, node, scope, gives)
    walk.push([kind, value], scope)


def _expressions(node: Node | None) -> list[Node]:
    return [] if node is None else node.named_children if node.type == "expression_list" else [node]


def _held(walk: Walk, names: list[Node], values: list[Node], scope: Scope) -> list[Chain]:
    """Return the chain of each name's value; of the results of one call only the first is known."""
    if len(names) == len(values):
        return [_known(walk, value, scope) for value in values]
    first = [_known(walk, values[0], scope)] if len(values) == 1 and names else []
    return first + [()] * (len(names) - len(first))


def _known(walk: Walk, value: Node, scope: Scope) -> Chain:
    chain = walk.chain(value, scope)
    return () if chain == UNKNOWN else chain


def _short(walk: Walk, node: Node, scope: Scope) -> None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    names = _expressions(left)
    if any(child.type == ":=" for child in node.children):
        for name, held in zip(names, _held(walk, names, _expressions(right), scope), strict=True):
            if name.type == "identifier":
                scope.bind(walk.text(name), node.end_byte, held if node.type == "short_var_declaration" else ())
        walk.push([right], scope)
    else:
        walk.push([left, right], scope)


def _type_switch(walk: Walk, node: Node, scope: Scope) -> None:
    inner = scope.block()
    names = _expressions(node.child_by_field_name("alias"))
    for case in reversed([child for child in node.named_children if child.type in ("type_case", "default_case")]):
        of_case = inner.block()
        kinds = case.children_by_field_name("type")
        for name in names:
            of_case.bind(walk.text(name), 0, type_chain(walk, kinds[0], inner) if len(kinds) == 1 else ())
        walk.push(case.named_children, of_case)
    walk.push([node.child_by_field_name("initializer"), node.child_by_field_name("value")], inner)


def _block(walk: Walk, node: Node, scope: Scope) -> None:
    walk.push(node.named_children, scope.block())


def _name(walk: Walk, node: Node, scope: Scope) -> None:
    walk.use(node, Use.NAME, scope)


def _type_name(walk: Walk, node: Node, scope: Scope) -> None:
    if walk.text(node) not in BUILT_IN:
        walk.use(node, Use.ANNOTATION, scope)


def _qualified_type(walk: Walk, node: Node, scope: Scope) -> None:
    walk.use_of(walk.chain(node, scope), Use.ANNOTATION, node, scope)


def _selector(walk: Walk, node: Node, scope: Scope) -> None:
    _selected(walk, node, scope, Use.ATTRIBUTE, None)


def _selected(walk: Walk, node: Node, scope: Scope, use: Use, given: CallShape | None) -> None:
    operand, name = node.child_by_field_name("operand"), node.child_by_field_name("field")
    if operand is None or name is None:
        return
    walk.use(name, use, scope, walk.chain(operand, scope), given)
    if walk.text(name) in _REFLECTIVE:
        walk.mark(walk.text(name), name)
    if operand.type == "identifier":
        walk.use(operand, Use.QUALIFIER, scope)
    else:
        walk.push([operand], scope)


def _call(walk: Walk, node: Node, scope: Scope) -> None:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    given = _call_shape(arguments)
    if function is not None and function.type == "identifier":
        walk.use(function, Use.CALL, scope, shape=given)
    elif function is not None and function.type == "selector_expression":
        _selected(walk, function, scope, Use.CALL, given)
    else:
        walk.push([function], scope)
    walk.push([node.child_by_field_name("type_arguments"), arguments], scope)


def _call_shape(arguments: Node | None) -> CallShape:
    """Return the shape of a call; the one argument `f()` of `g(f())` may stand for several."""
    found = shape_of(arguments, "variadic_argument")
    only = (
        arguments.named_children[0] if arguments is not None and found.positional == 1 and not found.has_star else None
    )
    return CallShape(0, (), has_star=True) if only is not None and only.type == "call_expression" else found


def _conversion(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit `T(x)`, or the call of a generic function that looks like it: `f[int](x)`."""
    kind = node.child_by_field_name("type")
    if kind is not None and kind.type == "generic_type":
        walk.use_of(walk.chain(kind, scope), Use.CALL, kind, scope, CallShape(1))
        walk.push([kind.child_by_field_name("type_arguments")], scope)
    else:
        walk.push([kind], scope)
    walk.push([node.child_by_field_name("operand")], scope)


def _composite(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit `T{…}`, and the `{…}` in `[]T{{…}}`."""
    kind, body = node.child_by_field_name("type"), node.child_by_field_name("body")
    if kind is None or body is None:
        walk.push(node.named_children, scope)
        return
    element = kind.child_by_field_name(_LISTS[kind.type]) if kind.type in _LISTS else None
    if kind.type in _LISTS:
        walk.push([kind], scope)
        for each in body.named_children:
            _listed(walk, each, element, scope)
    else:
        _made(walk, kind, body, scope)
        if kind.type == "generic_type":
            walk.push([kind.child_by_field_name("type_arguments")], scope)


def _listed(walk: Walk, entry: Node, element: Node | None, scope: Scope) -> None:
    """Visit an entry of a list or map of structs, which may omit the name of their type."""
    key, value = entry.child_by_field_name("key"), entry.child_by_field_name("value") or entry
    inner = first_of(value, "literal_value")
    if inner is not None and element is not None and element.type not in _LISTS:
        _made(walk, element, inner, scope)
        walk.push([key], scope)
    else:
        walk.push([entry], scope)


def _made(walk: Walk, kind: Node, body: Node, scope: Scope) -> None:
    """Record that a struct is made, with which of its fields."""
    chain = walk.chain(kind, scope)
    entries = [each for each in body.named_children if not each.is_extra]
    keys = [each.child_by_field_name("key") for each in entries if each.type == "keyed_element"]
    names = [walk.text(key) for key in keys if key is not None]
    if chain not in (UNKNOWN, OUTSIDE):
        walk.use_of(chain, Use.CALL, kind, scope, CallShape(len(entries) - len(keys), tuple(names)))
    for key in keys:
        if key is not None and chain != OUTSIDE:
            walk.use(key, Use.ATTRIBUTE, scope, (*chain, INSTANCE) if chain != UNKNOWN else UNKNOWN)
    walk.push([each.child_by_field_name("value") or each for each in entries], scope)


_VISITS: Final[Mapping[str, Visit]] = {
    "import_spec": _import,
    "function_declaration": _function,
    "method_declaration": _method,
    "func_literal": _literal_function,
    "parameter_list": _parameters,
    "type_spec": _type,
    "type_alias": _type,
    "method_elem": _method_elem,
    "const_spec": _spec,
    "var_spec": _spec,
    "short_var_declaration": _short,
    "range_clause": _short,
    "receive_statement": _short,
    "type_switch_statement": _type_switch,
    **dict.fromkeys(
        (
            "block",
            "communication_case",
            "default_case",
            "expression_case",
            "expression_switch_statement",
            "for_statement",
            "if_statement",
        ),
        _block,
    ),
    "identifier": _name,
    "type_identifier": _type_name,
    "qualified_type": _qualified_type,
    "selector_expression": _selector,
    "call_expression": _call,
    "type_conversion_expression": _conversion,
    "composite_literal": _composite,
    **dict.fromkeys(("comment", "package_clause", "interpreted_string_literal", "raw_string_literal"), nothing),
}

_GRAMMAR: Final = Grammar(GO, _VISITS, LINKS)


def summarise(source: bytes) -> Summary:
    """Return the summary of a file of Go."""
    return summarised(source, _GRAMMAR)
