"""The definitions in a file of JavaScript or TypeScript: functions, classes and their members, variables, types."""

from collections.abc import Mapping
from typing import Final

from tree_sitter import Node

from commonhold.code.analysis.chains import CALLED, UNKNOWN, Chain
from commonhold.code.analysis.interface import CallableInterface
from commonhold.code.analysis.module_definitions import Sort
from commonhold.code.analysis.references import Use
from commonhold.code.analysis.repository.ecmascript.expressions import (
    FUNCTIONS,
    bound_names,
    default_values,
    parameters,
    pattern_of,
    required,
    signature,
    type_chain,
)
from commonhold.code.analysis.repository.ecmascript.modules import (
    assigned,
    exported,
    import_statement,
    take_required,
)
from commonhold.code.analysis.repository.summary import ABSTRACT, PLAIN, PRIVATE, STATIC, ClassShape
from commonhold.code.analysis.repository.syntax import OUTSIDE, Draft, Scope, Visit, Walk
from commonhold.code.regions.node_names import first_of, unquoted

_CONSTRUCTOR: Final = "constructor"
_MADE: Final = frozenset({"abstract_class_declaration", "class", "class_declaration"})
_ACCESSORS: Final = frozenset({"get", "set"})
_WITHOUT_OBJECTS: Final = frozenset({"abstract_class_declaration", "interface_declaration"})
_DESCRIPTIONS: Final = frozenset({"interface_body", "object_type"})
_LITERALS: Final = frozenset({"array", "false", "number", "object", "string", "template_string", "true"})
_MODIFIERS: Final = frozenset({"accessibility_modifier", "abstract", "static", "?"})


def _function(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit a declared function with a name."""
    name = walk.field(node, "name") or "default"
    _offer_function(walk, name, node, node, scope)
    _body(walk, node, scope)


def _offer_function(walk: Walk, name: str, node: Node, extent: Node, scope: Scope) -> None:
    """Offer a function; the implementation below its overloads adds no signature."""
    draft = walk.offer(name, Sort.FUNCTION, extent, scope)
    if draft is not None:
        _sign(walk, draft, node, scope)
        draft.qualify(_modifiers(walk, extent))


def _modifiers(walk: Walk, node: Node) -> frozenset[str]:
    """Return the modifiers of a member; one that an interface demands is abstract."""
    words = {walk.text(child) for child in node.children if child.type in _MODIFIERS}
    is_described = node.parent is not None and node.parent.type in _DESCRIPTIONS
    if is_described and "?" not in words:
        words.add(ABSTRACT)
    value, kind = node.child_by_field_name("value"), node.child_by_field_name("type")
    is_simple = kind is not None and any(each.type == "predefined_type" for each in kind.named_children)
    if (
        is_simple
        or (value is not None and value.type in _LITERALS)
        or any(each.type in _ACCESSORS for each in node.children)
    ):
        words.add(PLAIN)
    return frozenset(words & {ABSTRACT, PLAIN, PRIVATE, STATIC})


def _sign(walk: Walk, draft: Draft, node: Node, scope: Scope) -> None:
    has_body = node.child_by_field_name("body") is not None
    if draft.signatures and has_body and walk.grammar.merging:
        return
    draft.signatures.append(signature(walk, node))
    inner = scope.inner()
    _bind_types(walk, node, inner)
    draft.scope = inner
    draft.gives = draft.gives or type_chain(walk, node.child_by_field_name("return_type"), inner)


def _body(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit the body of a function: its parameters are local names."""
    inner = scope.inner() if node.type == "arrow_function" else scope.without_owner()
    _enter(walk, node, inner)


def _method_body(walk: Walk, node: Node, scope: Scope) -> None:
    _enter(walk, node, scope.inner())


def _enter(walk: Walk, node: Node, inner: Scope) -> None:
    _bind_types(walk, node, inner)
    rest: list[Node | None] = []
    for each in parameters(node):
        pattern = pattern_of(each)
        kind = each.child_by_field_name("type")
        value = type_chain(walk, kind, inner) if pattern.type == "identifier" else ()
        for name in bound_names(pattern):
            inner.bind(walk.text(name), 0, value)
        rest += [*default_values(pattern), kind, each.child_by_field_name("value")]
        rest += [child for child in each.named_children if child.type == "decorator"]
    rest += [node.child_by_field_name("return_type"), node.child_by_field_name("body")]
    walk.push(rest, inner)


def _bind_types(walk: Walk, node: Node, inner: Scope) -> None:
    """Bind the type parameters: the types that they stand for are unknown."""
    given = node.child_by_field_name("type_parameters")
    for each in given.named_children if given is not None else ():
        inner.bind(walk.field(each, "name"))


def _class(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit a class that is declared, or is the value of `export default`."""
    _offer_class(walk, walk.field(node, "name") or "default", node, node, scope)


def _class_expression(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit a class inside of an expression: no other code sees it."""
    inner = scope.inner().of_class("")
    _class_inside(walk, node, inner, scope)


def _offer_class(walk: Walk, name: str, node: Node, extent: Node, scope: Scope) -> None:
    bases = _bases(walk, node, scope)
    decorators = [child for child in node.named_children if child.type == "decorator"]
    texts = (" ".join(walk.text(each)[1:].split()) for each in decorators)
    shape = ClassShape(tuple(base for base, _ in bases), tuple(text for _, text in bases), decorators=tuple(texts))
    draft = walk.offer(name, Sort.CLASS, extent, scope, shape=shape)
    if draft is not None and node.type in _MADE and not bases and not _has_constructor(walk, node):
        draft.signatures.append(CallableInterface(()))
    if draft is not None:
        draft.qualify([ABSTRACT] if node.type in _WITHOUT_OBJECTS else ())
    inner = scope.of_class(draft.qualname if draft is not None else "")
    _class_inside(walk, node, inner, scope)


def _has_constructor(walk: Walk, node: Node) -> bool:
    body = node.child_by_field_name("body")
    members = body.named_children if body is not None else ()
    return any(each.type == "method_definition" and walk.field(each, "name") == _CONSTRUCTOR for each in members)


def _class_inside(walk: Walk, node: Node, inner: Scope, outer: Scope) -> None:
    _bind_types(walk, node, inner)
    walk.push([child for child in node.named_children if child.type == "decorator"], outer)
    for heritage in _heritage(node):
        _base(walk, heritage, inner, outer)
    body = node.child_by_field_name("body")
    walk.push(body.named_children if body is not None else (), inner)


def _base(walk: Walk, node: Node, inner: Scope, outer: Scope) -> None:
    """Record a base; the arguments in its brackets are visited."""
    chain = walk.chain(node, outer)
    if chain != UNKNOWN and CALLED not in chain:
        walk.use_of(chain, Use.BASE, node, outer)
        walk.push([node.child_by_field_name("type_arguments")], inner)
    else:
        walk.push([node], outer)


def _heritage(node: Node) -> list[Node]:
    """Return the nodes of the types that a class or interface extends and implements."""
    found: list[Node] = []
    for clause in node.named_children:
        if clause.type in ("extends_type_clause", "implements_clause", "extends_clause"):
            found += clause.named_children
        elif clause.type == "class_heritage":
            inner = clause.named_children
            clauses = [each for each in inner if each.type in ("extends_clause", "implements_clause")]
            found += [part for each in clauses for part in each.named_children] if clauses else inner
    return [each for each in found if each.type != "type_arguments" and not each.is_extra]


def _bases(walk: Walk, node: Node, scope: Scope) -> list[tuple[Chain, str]]:
    return [(walk.chain(each, scope), walk.tidied(each) or "") for each in _heritage(node)]


def _method(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit a method of a class, or of an object whose members are not tracked."""
    if not scope.is_class:
        _method_body(walk, node, scope)
        return
    name = unquoted(walk.field(node, "name"))
    if any(child.type in _ACCESSORS for child in node.children):
        _accessor(walk, name, node, scope)
    else:
        _offer_function(walk, name, node, node, scope)
        if name == _CONSTRUCTOR:
            _constructor(walk, node, scope)
    walk.push([child for child in node.named_children if child.type == "decorator"], scope)
    _method_body(walk, node, scope)


def _accessor(walk: Walk, name: str, node: Node, scope: Scope) -> None:
    """Offer a property with a getter or a setter; both together are one value."""
    known = walk.drafts.get(f"{scope.prefix}.{name}")
    if known is not None:
        known.end_line = max(known.end_line, node.end_point[0] + 1)
    else:
        _offer_value(walk, name, node, scope, type_chain(walk, node.child_by_field_name("return_type"), scope))


def _offer_value(walk: Walk, name: str, node: Node, scope: Scope, gives: Chain) -> None:
    draft = walk.offer(name, Sort.VALUE, node, scope, gives)
    if draft is not None:
        draft.qualify(_modifiers(walk, node))


def _constructor(walk: Walk, node: Node, scope: Scope) -> None:
    """Offer the constructor's signature for calls of the class, and the properties that its parameters declare."""
    made = walk.drafts.get(scope.prefix)
    if made is not None and scope.defines:
        _sign(walk, made, node, scope)
        made.gives = ()
    for each in parameters(node):
        if first_of(each, "accessibility_modifier", "readonly") is not None:
            kind = type_chain(walk, each.child_by_field_name("type"), scope)
            _offer_value(walk, walk.text(pattern_of(each)), each, scope, kind)


def _field(walk: Walk, node: Node, scope: Scope) -> None:
    """Offer a field of a class, or a property of an interface."""
    name = node.child_by_field_name("name") or node.child_by_field_name("property")
    value, kind = node.child_by_field_name("value"), node.child_by_field_name("type")
    if scope.is_class and name is not None:
        text = unquoted(walk.text(name))
        if value is not None and value.type in FUNCTIONS:
            _offer_function(walk, text, value, node, scope)
        else:
            _offer_value(walk, text, node, scope, type_chain(walk, kind, scope) or _held(walk, value, scope))
    walk.push([child for child in node.named_children if child.type == "decorator"], scope)
    walk.push([kind, value], scope.inner())


def _held(walk: Walk, value: Node | None, scope: Scope) -> Chain:
    """Return the chain of a value, as far as it can be followed."""
    return () if value is None else walk.chain(value, scope)


def _made_by(walk: Walk, node: Node, scope: Scope) -> None:
    """Record a signature in an interface for calling the object itself, or for making one with `new`."""
    made = walk.drafts.get(scope.prefix) if scope.is_class and scope.defines else None
    if made is not None:
        made.signatures.append(signature(walk, node))
    _method_body(walk, node, scope)


def _alias(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit `type T = …`: an object type has members, a name is followed like a base."""
    value = node.child_by_field_name("value")
    parts = value.named_children if value is not None and value.type == "intersection_type" else [value]
    named = [each for each in parts if each is not None and each.type != "object_type"]
    found = [(walk.chain(each, scope), walk.tidied(each) or "") for each in named]
    bases = [(base, text) for base, text in found if base not in (UNKNOWN, OUTSIDE)]
    shape = ClassShape(tuple(base for base, _ in bases), tuple(text for _, text in bases), is_open=found != bases)
    draft = walk.offer(walk.field(node, "name"), Sort.CLASS, node, scope, shape=shape)
    inner = scope.of_class(draft.qualname if draft is not None else "")
    _bind_types(walk, node, inner)
    for each in reversed(parts):
        if each is not None and each.type == "object_type":
            walk.push(each.named_children, inner)
        else:
            walk.push([each], inner.inner())


def _object_type(walk: Walk, node: Node, scope: Scope) -> None:
    walk.push(node.named_children, scope.inner())


def _enum(walk: Walk, node: Node, scope: Scope) -> None:
    draft = walk.offer(walk.field(node, "name"), Sort.CLASS, node, scope, shape=ClassShape())
    body = node.child_by_field_name("body")
    inner = scope.of_class(draft.qualname if draft is not None else "")
    for each in body.named_children if body is not None else ():
        name = each.child_by_field_name("name") or each
        if not each.is_extra:
            gives = (*draft.qualname.split("."), "@") if draft is not None else ()
            walk.offer(unquoted(walk.text(name)), Sort.VALUE, each, inner, gives)
        walk.push([each.child_by_field_name("value")], scope.inner())


def _namespace(walk: Walk, node: Node, scope: Scope) -> None:
    name = ".".join(unquoted(walk.field(node, "name")).split())
    draft = walk.offer(name, Sort.CLASS, node, scope, shape=ClassShape()) if name else None
    if draft is not None:
        draft.is_sole = True
    body = node.child_by_field_name("body")
    walk.push(
        body.named_children if body is not None else (), scope.named(name) if draft is not None else scope.inner()
    )


def _declaration(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit `const`, `let` or `var`."""
    is_var = node.type == "variable_declaration"
    home = scope.function if is_var and not scope.defines else scope
    for each in node.named_children:
        if each.type == "variable_declarator":
            _declarator(walk, each, node, home)
    values = [each.child_by_field_name("value") for each in node.named_children]
    kinds = [each.child_by_field_name("type") for each in node.named_children]
    patterns = [each.child_by_field_name("name") for each in node.named_children]
    rest = [value for pattern in patterns for value in default_values(pattern)]
    walk.push(
        [*kinds, *rest, *(value for value in values if value is not None and value.type != "class")], scope.block()
    )


def _declarator(walk: Walk, node: Node, extent: Node, scope: Scope) -> None:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None:
        return
    module = required(walk, value) if value is not None and value.type == "call_expression" else ""
    if module and scope.defines:
        take_required(walk, name, module)
    elif name.type != "identifier":
        for each in bound_names(name):
            walk.offer(walk.text(each), Sort.VALUE, node, scope)
    else:
        _variable(walk, walk.text(name), node, extent, scope)


def _variable(walk: Walk, name: str, node: Node, extent: Node, scope: Scope) -> None:
    value = node.child_by_field_name("value")
    if value is not None and value.type in FUNCTIONS:
        _offer_function(walk, name, value, extent, scope)
    elif value is not None and value.type == "class":
        _offer_class(walk, name, value, extent, scope)
    else:
        kind = node.child_by_field_name("type")
        walk.offer(name, Sort.VALUE, node, scope, type_chain(walk, kind, scope) or _held(walk, value, scope))
        if value is not None and value.type == "assignment_expression" and scope is walk.top:
            _also_exported(walk, name, value)


def _also_exported(walk: Walk, name: str, node: Node) -> None:
    """Handle `const app = module.exports = {}`: the export as a whole is this name."""
    if "exports" in walk.field(node, "left"):
        walk.take(node, "default", "", name, is_public=True)


def _assignment(walk: Walk, node: Node, scope: Scope) -> None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        walk.push(node.named_children, scope)
        return
    if scope is walk.top:
        assigned(walk, left, right, scope)
    if left.type == "identifier":
        walk.assigned.append((scope, walk.text(left), left.start_byte))
        walk.push([right], scope)
    elif left.type == "member_expression" and _is_own(left) and scope.owner in walk.drafts:
        _own_property(walk, left, right, scope)
        walk.push([right], scope)
    elif right.type == "class" and scope is walk.top:
        _offer_class(walk, walk.text(left), right, node, scope)
    else:
        walk.push([left, right], scope)


def _is_own(left: Node) -> bool:
    target = left.child_by_field_name("object")
    return target is not None and target.type == "this"


def _own_property(walk: Walk, left: Node, right: Node, scope: Scope) -> None:
    """Handle `this.x = …` in a class: the first assignment determines the property."""
    qualname = f"{scope.owner}.{walk.field(left, 'property')}"
    if qualname not in walk.drafts:
        sort = Sort.FUNCTION if right.type in FUNCTIONS else Sort.VALUE
        draft = walk.offer_as(qualname, sort, left, scope, walk.chain(right, scope) if sort is Sort.VALUE else ())
        if sort is Sort.FUNCTION:
            draft.signatures.append(signature(walk, right))


def _augmented(walk: Walk, node: Node, scope: Scope) -> None:
    left = node.child_by_field_name("left")
    if left is not None and left.type == "identifier":
        walk.assigned.append((scope, walk.text(left), left.start_byte))
    walk.push(node.named_children, scope)


def _block(walk: Walk, node: Node, scope: Scope) -> None:
    walk.push(node.named_children, scope if scope.defines and not scope.is_class else scope.block())


def _loop(walk: Walk, node: Node, scope: Scope) -> None:
    inner = scope.block()
    left = node.child_by_field_name("left")
    if left is not None and node.child_by_field_name("kind") is not None:
        for name in bound_names(left):
            inner.bind(walk.text(name))
        walk.push([node.child_by_field_name("right"), node.child_by_field_name("body")], inner)
    else:
        walk.push(node.named_children, inner)


def _catch(walk: Walk, node: Node, scope: Scope) -> None:
    inner = scope.block()
    for name in bound_names(node.child_by_field_name("parameter")):
        inner.bind(walk.text(name))
    walk.push([node.child_by_field_name("body")], inner)


def _function_expression(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit a function in an expression; its own name, if it has one, is visible only inside of it."""
    inner = scope.inner() if node.type == "arrow_function" else scope.without_owner()
    name = walk.field(node, "name")
    if name:
        inner.bind(name)
    _enter(walk, node, inner)


def _export(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit any `export`; in a namespace, only the declaration in it matters."""
    rest = exported(walk, node) if scope is walk.top else node.named_children
    for each in rest:
        if each.type == "class":
            _offer_class(walk, walk.field(each, "name") or "default", each, each, scope)
    walk.push([each for each in rest if each.type not in ("class", "export_clause")], scope)


VISITS: Final[Mapping[str, Visit]] = {
    "function_declaration": _function,
    "generator_function_declaration": _function,
    "function_signature": _function,
    "class_declaration": _class,
    "abstract_class_declaration": _class,
    "interface_declaration": _class,
    "class": _class_expression,
    "method_definition": _method,
    "method_signature": _method,
    "abstract_method_signature": _method,
    "field_definition": _field,
    "public_field_definition": _field,
    "property_signature": _field,
    "call_signature": _made_by,
    "construct_signature": _made_by,
    "type_alias_declaration": _alias,
    "object_type": _object_type,
    "enum_declaration": _enum,
    "internal_module": _namespace,
    "module": _namespace,
    "lexical_declaration": _declaration,
    "variable_declaration": _declaration,
    "assignment_expression": _assignment,
    "augmented_assignment_expression": _augmented,
    "statement_block": _block,
    "for_statement": _loop,
    "for_in_statement": _loop,
    "catch_clause": _catch,
    "import_statement": import_statement,
    "export_statement": _export,
    **dict.fromkeys(FUNCTIONS, _function_expression),
    **dict.fromkeys(("function_type", "constructor_type"), _method_body),
}
