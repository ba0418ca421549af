"""The names that a file of Rust offers and uses.

The definitions of an `impl` are offered as members of the type, whichever block they stand in: `impl Display for Point`
has `Point.fmt`. A struct or a variant offers as its signature how it is made; each field must be given.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from tree_sitter import Node

from commonhold.code.analysis.chains import INSTANCE, UNKNOWN, Chain
from commonhold.code.analysis.interface import CallShape, qualified
from commonhold.code.analysis.module_definitions import Sort
from commonhold.code.analysis.references import Use
from commonhold.code.analysis.repository.rust.expressions import (
    LINKS,
    SELF_TYPE,
    made_of,
    parameters,
    signature,
    type_chain,
    type_of_scope,
)
from commonhold.code.analysis.repository.rust.imports import declared_module, other_crate, use_declaration
from commonhold.code.analysis.repository.rust.macros import read_tokens, tokens_of
from commonhold.code.analysis.repository.summary import ABSTRACT, MADE_NAMES, PRIVATE, ClassShape, Summary
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
from commonhold.code.regions.languages.systems import RUST
from commonhold.code.regions.node_names import first_of

_LEAD: Final = frozenset({"line_comment", "block_comment", "attribute_item", "inner_attribute_item"})


def _function(walk: Walk, node: Node, scope: Scope) -> None:
    inner = scope.inner()
    _bind_types(walk, node, inner)
    draft = walk.offer(walk.field(node, "name"), Sort.FUNCTION, node, scope)
    if draft is not None:
        draft.signatures.append(signature(walk, node))
        draft.gives = draft.gives or type_chain(walk, node.child_by_field_name("return_type"), inner)
        draft.scope = inner
        draft.qualify(_modifiers(node))
    for each in parameters(node):
        _bind(walk, each.child_by_field_name("pattern"), inner, 0, each.child_by_field_name("type"))
    kinds = [each.child_by_field_name("type") for each in parameters(node)]
    where = first_of(node, "where_clause")
    rest = [node.child_by_field_name("return_type"), where, node.child_by_field_name("body")]
    walk.push([node.child_by_field_name("type_parameters"), *kinds, *rest], inner)


def _modifiers(node: Node) -> tuple[str, ...]:
    """Return the modifiers of an item: private without `pub`, abstract if a trait leaves it to its types."""
    block = node.parent.parent if node.parent is not None else None
    if block is not None and block.type == "trait_item":
        return (ABSTRACT,) if node.type == "function_signature_item" else ()
    is_of_trait = block is not None and block.type == "impl_item" and block.child_by_field_name("trait") is not None
    is_seen = is_of_trait or any(child.type == "visibility_modifier" for child in node.children)
    return () if is_seen else (PRIVATE,)


def _qualified(draft: Draft | None, node: Node) -> Draft | None:
    if draft is not None:
        draft.qualify(_modifiers(node))
    return draft


def _bind_types(walk: Walk, node: Node, inner: Scope) -> None:
    """Bind the type parameters: the types that they stand for are unknown."""
    given = node.child_by_field_name("type_parameters")
    for each in given.named_children if given is not None else ():
        if each.type in ("type_parameter", "const_parameter"):
            inner.bind(walk.field(each, "name"))


def _struct(walk: Walk, node: Node, scope: Scope) -> None:
    draft = _qualified(walk.offer(walk.field(node, "name"), Sort.CLASS, node, scope, shape=ClassShape()), node)
    inner = scope.of_class(draft.qualname if draft is not None else "")
    _bind_types(walk, node, inner)
    if draft is not None:
        draft.signatures += filter(None, [made_of(walk, node)])
        draft.scope = inner
    body = node.child_by_field_name("body")
    _fields(walk, body, inner)
    walk.push([node.child_by_field_name("type_parameters"), first_of(node, "where_clause"), body], inner)


def _fields(walk: Walk, body: Node | None, inner: Scope) -> None:
    for each in body.named_children if body is not None else ():
        if each.type == "field_declaration":
            kind = type_chain(walk, each.child_by_field_name("type"), inner)
            _qualified(walk.offer(walk.field(each, "name"), Sort.VALUE, each, inner, kind), each)


def _enum(walk: Walk, node: Node, scope: Scope) -> None:
    draft = _qualified(walk.offer(walk.field(node, "name"), Sort.CLASS, node, scope, shape=ClassShape()), node)
    inner = scope.of_class(draft.qualname if draft is not None else "")
    _bind_types(walk, node, inner)
    body = node.child_by_field_name("body")
    for each in body.named_children if body is not None else ():
        if each.type == "enum_variant":
            _variant(walk, each, inner)
    walk.push([node.child_by_field_name("type_parameters"), body], inner)


def _variant(walk: Walk, node: Node, inner: Scope) -> None:
    made = made_of(walk, node)
    gives: Chain = (*inner.prefix.split("."), INSTANCE) if inner.defines and inner.prefix else ()
    sort = Sort.VALUE if made is None else Sort.FUNCTION
    draft = walk.offer(walk.field(node, "name"), sort, node, inner, gives)
    if draft is not None and made is not None:
        draft.signatures.append(made)


def _variant_inside(walk: Walk, node: Node, scope: Scope) -> None:
    walk.push([node.child_by_field_name("body"), node.child_by_field_name("value")], scope)


def _trait(walk: Walk, node: Node, scope: Scope) -> None:
    inner = scope.inner()
    bounds = node.child_by_field_name("bounds")
    parts = [each for each in bounds.named_children if each.type != "lifetime"] if bounds is not None else []
    chains = [(walk.chain(each, scope), walk.tidied(each) or "") for each in parts]
    known = [(chain, text) for chain, text in chains if chain not in (UNKNOWN, OUTSIDE)]
    shape = ClassShape(tuple(chain for chain, _ in known), tuple(text for _, text in known))
    draft = walk.offer(walk.field(node, "name"), Sort.CLASS, node, scope, shape=shape)
    if draft is not None:
        draft.qualify((*_modifiers(node), ABSTRACT))
    for chain, _ in known:
        walk.use_of(chain, Use.BASE, node, scope)
    inner = scope.of_class(draft.qualname if draft is not None else "")
    _bind_types(walk, node, inner)
    body = node.child_by_field_name("body")
    walk.push([node.child_by_field_name("type_parameters"), first_of(node, "where_clause")], inner)
    walk.push(body.named_children if body is not None else (), inner)


def _impl(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit a block of members of a type; for a trait, the type inherits from it."""
    kind, trait, body = (node.child_by_field_name(name) for name in ("type", "trait", "body"))
    types = scope.inner()
    _bind_types(walk, node, types)
    chain = walk.chain(kind, types)
    name = _plain(chain, types)
    qualname = qualified(scope.prefix, name) if name and scope.defines else ""
    inner = types.of_class(qualname)
    inner.defines = bool(qualname)
    if trait is not None:
        of_trait = walk.chain(trait, types)
        if of_trait not in (UNKNOWN, OUTSIDE):
            walk.use_of(of_trait, Use.BASE, trait, types)
            walk.inherits(qualname, of_trait, walk.tidied(trait) or "")
        walk.push([first_of(trait, "type_arguments")], types)
    walk.push([kind, node.child_by_field_name("type_parameters"), first_of(node, "where_clause")], types)
    walk.push(body.named_children if body is not None else (), inner)


def _plain(chain: Chain, types: Scope) -> str:
    """Return the name of the type of an `impl`; empty if it is a type parameter, or no plain type."""
    is_bound = chain[0] in types.locals
    return "" if chain in (UNKNOWN, OUTSIDE) or is_bound or not chain[-1].isidentifier() else chain[-1]


def _module(walk: Walk, node: Node, scope: Scope) -> None:
    if declared_module(walk, node, scope):
        return
    name = walk.field(node, "name")
    draft = walk.offer(name, Sort.CLASS, node, scope, shape=ClassShape())
    body = node.child_by_field_name("body")
    walk.push(
        body.named_children if body is not None else (), scope.named(name) if draft is not None else scope.inner()
    )


def _value(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit `const` and `static`."""
    kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
    _qualified(walk.offer(walk.field(node, "name"), Sort.VALUE, node, scope, type_chain(walk, kind, scope)), node)
    walk.push([kind, value], scope.inner())


def _alias(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit `type A = B;`, which is followed like a base."""
    kind = node.child_by_field_name("type")
    inner = scope.inner()
    _bind_types(walk, node, inner)
    chain = walk.chain(kind, inner)
    known = chain not in (UNKNOWN, OUTSIDE)
    shape = ClassShape((chain,), (walk.tidied(kind) or "",)) if known else ClassShape()
    draft = walk.offer(walk.field(node, "name"), Sort.CLASS, node, scope, shape=shape)
    if draft is not None:
        draft.scope = inner
    walk.push([kind], inner)


def _macro_definition(walk: Walk, node: Node, scope: Scope) -> None:
    """Offer a macro by its name; its parameters are unknown."""
    walk.offer(walk.field(node, "name"), Sort.VALUE, node, scope)


def _macro(walk: Walk, node: Node, scope: Scope) -> None:
    name = node.child_by_field_name("macro")
    if name is not None:
        chain = walk.chain(name, scope)
        if name.type == "identifier":
            walk.use(name, Use.NAME, scope)
        elif chain not in (UNKNOWN, OUTSIDE):
            walk.use_of(chain, Use.NAME, name, scope)
        if scope.defines:
            walk.mark(MADE_NAMES, name)
    for group in tokens_of(node):
        read_tokens(walk, group, scope)


def _group(walk: Walk, node: Node, scope: Scope) -> None:
    read_tokens(walk, node, scope)


# Statements and patterns.


def _let(walk: Walk, node: Node, scope: Scope) -> None:
    kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
    _bind(walk, node.child_by_field_name("pattern"), scope, node.end_byte, kind, value)
    walk.push([kind, value, node.child_by_field_name("alternative")], scope)


def _condition(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit `if let`."""
    _bind(walk, node.child_by_field_name("pattern"), scope, node.end_byte)
    walk.push([node.child_by_field_name("value")], scope)


def _arm(walk: Walk, node: Node, scope: Scope) -> None:
    inner = scope.block()
    pattern = node.child_by_field_name("pattern")
    guard = pattern.child_by_field_name("condition") if pattern is not None else None
    for each in pattern.named_children if pattern is not None else ():
        if each != guard:
            _bind(walk, each, inner, 0)
    walk.push([guard, node.child_by_field_name("value")], inner)


def _for(walk: Walk, node: Node, scope: Scope) -> None:
    inner = scope.block()
    _bind(walk, node.child_by_field_name("pattern"), inner, 0)
    walk.push([node.child_by_field_name("value")], scope)
    walk.push([node.child_by_field_name("body")], inner)


def _closure(walk: Walk, node: Node, scope: Scope) -> None:
    inner = scope.inner()
    for each in parameters(node):
        _bind(walk, each.child_by_field_name("pattern") or each, inner, 0, each.child_by_field_name("type"))
    kinds = [each.child_by_field_name("type") for each in parameters(node)]
    walk.push([*kinds, node.child_by_field_name("return_type"), node.child_by_field_name("body")], inner)


def _bind(
    walk: Walk, pattern: Node | None, scope: Scope, start: int, kind: Node | None = None, value: Node | None = None
) -> None:
    """Bind the names of a pattern, and record the types that it takes apart."""
    if pattern is None:
        return
    if pattern.type == "identifier" and not _is_constant(walk, pattern):
        held = type_chain(walk, kind, scope) or (walk.chain(value, scope) if value is not None else ())
        scope.bind(walk.text(pattern), start, () if held == UNKNOWN else held)
        return
    for name in _names(walk, pattern, scope):
        scope.bind(walk.text(name), start)


def _is_constant(walk: Walk, node: Node) -> bool:
    """Whether a name in a pattern is compared and not bound: names with a capital are constants."""
    return walk.text(node)[:1].isupper()


def _names(walk: Walk, pattern: Node, scope: Scope) -> Iterator[Node]:
    pending = [pattern]
    while pending:
        node = pending.pop()
        kind = node.type
        if kind == "shorthand_field_identifier" or (kind == "identifier" and not _is_constant(walk, node)):
            yield node
        elif kind in ("identifier", "scoped_identifier", "scoped_type_identifier", "type_identifier"):
            _used_path(walk, node, scope, Use.NAME, None)
        elif kind == "field_pattern":
            pending += [
                each for each in node.named_children if each.type not in ("field_identifier", "mutable_specifier")
            ]
        elif kind not in ("macro_invocation", "self"):
            pending += reversed(node.named_children)


def _block(walk: Walk, node: Node, scope: Scope) -> None:
    walk.push(node.named_children, scope.block())


# Uses.


def _name(walk: Walk, node: Node, scope: Scope) -> None:
    if walk.text(node) != SELF_TYPE:
        walk.use(node, Use.NAME, scope)


def _path(walk: Walk, node: Node, scope: Scope) -> None:
    _used_path(walk, node, scope, Use.NAME, None)


def _used_path(walk: Walk, node: Node, scope: Scope, use: Use, given: CallShape | None) -> None:
    """Record the use of a name, or of the last part of a path like `a::b::C`."""
    name = node.child_by_field_name("name")
    if name is None:
        if walk.text(node) == SELF_TYPE:
            walk.use_of(type_of_scope(scope), use, node, scope, given)
        else:
            walk.use(node, use, scope, shape=given)
        return
    chain = walk.chain(node, scope)
    if chain[:1] != UNKNOWN and len(chain) > 1:
        walk.use(name, use if given is not None else Use.ATTRIBUTE, scope, chain[:-1], given)
    elif len(chain) == 1 and chain != UNKNOWN:
        walk.use(name, use, scope, shape=given)
    else:
        walk.use(name, use if given is not None else Use.ATTRIBUTE, scope, UNKNOWN, given)
    _root_of(walk, node, scope)


def _root_of(walk: Walk, node: Node, scope: Scope) -> None:
    """Record the parts before the last: a type is used, and so are the types in its brackets."""
    path = node.child_by_field_name("path")
    if path is None:
        return
    if path.type == "identifier" and walk.text(path) != SELF_TYPE:
        walk.use(path, Use.QUALIFIER, scope)
    elif path.type not in ("identifier", "self", "super", "crate", "metavariable"):
        walk.push([path], scope)


def _field_access(walk: Walk, node: Node, scope: Scope) -> None:
    _accessed(walk, node, scope, Use.ATTRIBUTE, None)


def _accessed(walk: Walk, node: Node, scope: Scope, use: Use, given: CallShape | None) -> None:
    value, name = node.child_by_field_name("value"), node.child_by_field_name("field")
    if value is None or name is None:
        return
    if name.type == "field_identifier":
        walk.use(name, use, scope, walk.chain(value, scope), given)
    walk.push([value], scope)


def _call(walk: Walk, node: Node, scope: Scope) -> None:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    given = shape_of(arguments)
    if function is not None and function.type == "generic_function":
        walk.push([function.child_by_field_name("type_arguments")], scope)
        function = function.child_by_field_name("function")
    if function is not None and function.type in ("identifier", "scoped_identifier"):
        _used_path(walk, function, scope, Use.CALL, given)
    elif function is not None and function.type == "field_expression":
        _accessed(walk, function, scope, Use.CALL, given)
    else:
        walk.push([function], scope)
    walk.push([arguments], scope)


def _made(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit `T { a: 1, ..rest }`."""
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    entries = body.named_children if body is not None else []
    has_rest = any(each.type == "base_field_initializer" for each in entries)
    fields = [_given_field(walk, each) for each in entries if each.type not in _LEAD]
    given = CallShape(0, tuple(field for field in fields if field), has_double_star=has_rest)
    if name is not None and name.type.startswith("generic"):
        walk.push([name.child_by_field_name("type_arguments")], scope)
        name = name.child_by_field_name("type")
    if name is not None:
        _used_path(walk, name, scope, Use.CALL, given)
    for each in reversed(entries):
        if each.type == "field_initializer":
            walk.push([each.child_by_field_name("value")], scope)
        else:
            walk.push(each.named_children, scope)


def _given_field(walk: Walk, node: Node) -> str:
    if node.type == "shorthand_field_initializer":
        return walk.text(first_of(node, "identifier"))
    return walk.field(node, "field")


_VISITS: Final[Mapping[str, Visit]] = {
    "use_declaration": use_declaration,
    "extern_crate_declaration": other_crate,
    "mod_item": _module,
    "function_item": _function,
    "function_signature_item": _function,
    "struct_item": _struct,
    "union_item": _struct,
    "enum_item": _enum,
    "enum_variant": _variant_inside,
    "trait_item": _trait,
    "impl_item": _impl,
    "const_item": _value,
    "static_item": _value,
    "type_item": _alias,
    "associated_type": _alias,
    "macro_definition": _macro_definition,
    "macro_invocation": _macro,
    "token_tree": _group,
    "let_declaration": _let,
    "let_condition": _condition,
    "match_arm": _arm,
    "for_expression": _for,
    "closure_expression": _closure,
    **dict.fromkeys(("block", "if_expression", "while_expression"), _block),
    "identifier": _name,
    "type_identifier": _name,
    "scoped_identifier": _path,
    "scoped_type_identifier": _path,
    "field_expression": _field_access,
    "call_expression": _call,
    "struct_expression": _made,
    **dict.fromkeys(
        (*_LEAD, "label", "lifetime", "string_literal", "visibility_modifier", "primitive_type", "type_parameter"),
        nothing,
    ),
}


def _finish(walk: Walk) -> None:
    """Give each type of the file the traits that are implemented for it."""
    for qualname, chain, text in walk.inherited:
        draft = walk.drafts.get(qualname)
        if draft is not None and draft.shape is not None:
            shape = draft.shape
            draft.shape = replace(shape, bases=(*shape.bases, chain), texts=(*shape.texts, text))


_GRAMMAR: Final = Grammar(RUST, _VISITS, LINKS, finish=_finish)


def summarise(source: bytes) -> Summary:
    """Return the summary of a file of Rust."""
    return summarised(source, _GRAMMAR)
