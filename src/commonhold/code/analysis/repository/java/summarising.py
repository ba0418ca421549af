"""The names that a file of Java offers and uses.

A class offers as its signatures how it is constructed: by its constructors, or by the header of a record. Annotations
change no signature, so they are uses and no decorators.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from tree_sitter import Node

from commonhold.code.analysis.chains import UNKNOWN, Chain
from commonhold.code.analysis.interface import CallableInterface
from commonhold.code.analysis.module_definitions import Sort
from commonhold.code.analysis.references import Use
from commonhold.code.analysis.repository.java.expressions import INFERRED, LINKS, parameters, signature, type_chain
from commonhold.code.analysis.repository.summary import ABSTRACT, PRIVATE, STAR, STATIC, ClassShape, Summary
from commonhold.code.analysis.repository.syntax import OUTSIDE, Draft, Grammar, Scope, Visit, Walk, shape_of, summarised
from commonhold.code.regions.languages.jvm import JAVA
from commonhold.code.regions.node_names import first_of

_HERITAGE: Final = frozenset({"superclass", "super_interfaces", "extends_interfaces"})
_CONSTRUCTORS: Final = frozenset({"constructor_declaration", "compact_constructor_declaration"})


def _import(walk: Walk, node: Node, _scope: Scope) -> None:
    """Visit `import a.b.C;`, `import a.b.*;`, `import static a.b.C.m;`."""
    path = first_of(node, "scoped_identifier", "identifier")
    parts = walk.text(path).replace(" ", "").split(".")
    package, inside = _split(parts)
    if first_of(node, "asterisk") is None:
        walk.take(node, parts[-1], ".".join(package), ".".join(inside))
    elif inside:
        walk.take(node, "", ".".join(parts), STAR)
    else:
        walk.take(node, "", ".".join(package), STAR)


def _split(parts: list[str]) -> tuple[list[str], list[str]]:
    """Split into a package and the name inside of it: packages are in small letters."""
    count = next((index for index, part in enumerate(parts) if part[:1].isupper()), len(parts) - 1)
    return (parts[:count], parts[count:]) if any(part[:1].isupper() for part in parts) else (parts, [])


def _type(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit a class, interface, enum, record or annotation."""
    name = walk.field(node, "name")
    bases = [(walk.chain(each, scope), walk.tidied(each) or "") for each in _heritage(node)]
    known = [(chain, text) for chain, text in bases if chain not in (UNKNOWN, OUTSIDE)]
    shape = ClassShape(tuple(chain for chain, _ in known), tuple(text for _, text in known))
    draft = walk.offer(name, Sort.CLASS, node, scope, shape=shape)
    inner = scope.of_class(draft.qualname if draft is not None else "")
    _bind_types(walk, node, inner)
    if draft is not None:
        draft.scope = inner
        draft.qualify({*_modifiers(node), *([ABSTRACT] if node.type == "interface_declaration" else [])})
        _make(walk, draft, node)
    for each in _heritage(node):
        _base(walk, each, inner)
    if node.type == "record_declaration":
        _components(walk, draft, node, inner)
    body = node.child_by_field_name("body")
    modifiers, permits = first_of(node, "modifiers"), node.child_by_field_name("permits")
    walk.push([modifiers, permits, node.child_by_field_name("type_parameters")], inner)
    walk.push(body.named_children if body is not None else (), inner)


def _modifiers(node: Node) -> frozenset[str]:
    """Return the modifiers of a declaration; a method of an interface without a body is abstract."""
    found = first_of(node, "modifiers")
    words = {child.type for child in found.children if not child.is_named} if found is not None else set()
    is_listed = node.parent is not None and node.parent.type == "interface_body"
    if is_listed and node.type == "method_declaration" and node.child_by_field_name("body") is None:
        words.add(ABSTRACT)
    return frozenset(words & {ABSTRACT, PRIVATE, STATIC})


def _make(walk: Walk, draft: Draft, node: Node) -> None:
    """Set how a class is constructed if it has no constructor, or if its header states it."""
    if node.type == "record_declaration":
        draft.signatures.append(signature(walk, node))
    elif node.type == "class_declaration":
        body = node.child_by_field_name("body")
        if not any(each.type in _CONSTRUCTORS for each in (body.named_children if body is not None else ())):
            draft.signatures.append(CallableInterface(()))


def _components(walk: Walk, draft: Draft | None, node: Node, inner: Scope) -> None:
    """Offer each component of a record as a field, and as a method that returns it."""
    for each, name, kind in parameters(node):
        if draft is not None and name is not None:
            gives = type_chain(walk, kind, inner)
            found = walk.offer_as(f"{draft.qualname}.{walk.text(name)}", Sort.FUNCTION, each, inner, gives)
            found.signatures.append(CallableInterface(()))
        walk.push([kind], inner)


def _heritage(node: Node) -> Iterator[Node]:
    for clause in node.named_children:
        if clause.type in _HERITAGE:
            for each in clause.named_children:
                yield from each.named_children if each.type == "type_list" else (each,)


def _base(walk: Walk, node: Node, scope: Scope) -> None:
    chain = walk.chain(node, scope)
    if chain not in (UNKNOWN, OUTSIDE):
        walk.use_of(chain, Use.BASE, node, scope)
    if node.type == "generic_type":
        walk.push([first_of(node, "type_arguments")], scope)


def _bind_types(walk: Walk, node: Node, inner: Scope) -> None:
    """Bind the type parameters: the types that they stand for are unknown."""
    given = node.child_by_field_name("type_parameters")
    for each in given.named_children if given is not None else ():
        inner.bind(walk.text(first_of(each, "type_identifier", "identifier")))


def _method(walk: Walk, node: Node, scope: Scope) -> None:
    inner = scope.inner()
    _bind_types(walk, node, inner)
    if scope.is_class:
        kind = Sort.FUNCTION
        draft = walk.offer(walk.field(node, "name"), kind, node, scope)
        if draft is not None:
            draft.signatures.append(signature(walk, node))
            draft.gives = draft.gives or type_chain(walk, node.child_by_field_name("type"), inner)
            draft.scope = inner
            draft.qualify(_modifiers(node))
    _enter(walk, node, inner)


def _constructor(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit a constructor; its signature is that of calls of the class."""
    made = walk.drafts.get(scope.prefix) if scope.is_class and scope.defines else None
    if made is not None and node.type == "constructor_declaration":
        made.signatures.append(signature(walk, node))
    _method(walk, node, scope)


def _enter(walk: Walk, node: Node, inner: Scope) -> None:
    """Visit the inside of a method or lambda."""
    for each, name, kind in parameters(node):
        if name is not None:
            inner.bind(walk.text(name), 0, type_chain(walk, kind, inner))
        walk.push([kind, first_of(each, "modifiers")], inner)
    rest = [node.child_by_field_name("type"), first_of(node, "throws"), node.child_by_field_name("body")]
    walk.push([first_of(node, "modifiers"), node.child_by_field_name("type_parameters"), *rest], inner)


def _lambda(walk: Walk, node: Node, scope: Scope) -> None:
    _enter(walk, node, scope.inner())


def _field(walk: Walk, node: Node, scope: Scope) -> None:
    kind = node.child_by_field_name("type")
    for each in node.children_by_field_name("declarator"):
        draft = walk.offer(walk.field(each, "name"), Sort.VALUE, node, scope, _declared(walk, each, kind, scope))
        if draft is not None:
            draft.qualify(_modifiers(node))
    _inside_of(walk, node, kind, scope.inner())


def _variable(walk: Walk, node: Node, scope: Scope) -> None:
    kind = node.child_by_field_name("type")
    for each in node.children_by_field_name("declarator"):
        scope.bind(walk.field(each, "name"), each.start_byte, _declared(walk, each, kind, scope))
    _inside_of(walk, node, kind, scope)


def _declared(walk: Walk, declarator: Node, kind: Node | None, scope: Scope) -> Chain:
    """Return the chain of a variable: by its type, else by its value."""
    if declarator.child_by_field_name("dimensions") is not None:
        return ()
    value = declarator.child_by_field_name("value")
    return type_chain(walk, kind, scope) or (walk.chain(value, scope) if value is not None else ())


def _inside_of(walk: Walk, node: Node, kind: Node | None, scope: Scope) -> None:
    values = [each.child_by_field_name("value") for each in node.children_by_field_name("declarator")]
    walk.push([first_of(node, "modifiers"), kind, *values], scope)


def _constant(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit a constant of an enum, which is constructed like an object."""
    gives: Chain = (*scope.prefix.split("."), "@") if scope.prefix else ()
    walk.offer(walk.field(node, "name"), Sort.VALUE, node, scope, gives)
    arguments, body = node.child_by_field_name("arguments"), node.child_by_field_name("body")
    name = node.child_by_field_name("name")
    if name is not None and scope.defines and scope.prefix:
        walk.use_of(tuple(scope.prefix.split(".")), Use.CALL, name, scope, shape_of(arguments))
    walk.push([arguments], scope.inner())
    walk.push(body.named_children if body is not None else (), scope.inner().of_class(""))


def _bound(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit a variable without a declaration statement: of a loop, a resource, a caught exception."""
    kind = node.child_by_field_name("type") or first_of(node, "catch_type")
    only = kind.named_children if kind is not None and kind.type == "catch_type" else [kind]
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is not None:
        held = type_chain(walk, only[0], scope) if len(only) == 1 else ()
        is_resource = node.type == "resource" and value is not None
        scope.bind(walk.text(name), 0, held or (walk.chain(value, scope) if is_resource else ()))
    walk.push([*only, value, node.child_by_field_name("body")], scope)


def _loop(walk: Walk, node: Node, scope: Scope) -> None:
    _bound(walk, node, scope.block())


def _instanceof(walk: Walk, node: Node, scope: Scope) -> None:
    name, kind = node.child_by_field_name("name"), node.child_by_field_name("right")
    if name is not None:
        scope.bind(walk.text(name), node.end_byte, type_chain(walk, kind, scope))
    walk.push([node.child_by_field_name("left"), kind, node.child_by_field_name("pattern")], scope)


def _pattern(walk: Walk, node: Node, scope: Scope) -> None:
    kinds = node.named_children[:1]
    for name in node.named_children[1:]:
        if name.type == "identifier":
            scope.bind(walk.text(name), node.start_byte, type_chain(walk, kinds[0], scope))
    walk.push(kinds, scope)


def _block(walk: Walk, node: Node, scope: Scope) -> None:
    walk.push(node.named_children, scope.block())


def _name(walk: Walk, node: Node, scope: Scope) -> None:
    walk.use(node, Use.NAME, scope)


def _type_name(walk: Walk, node: Node, scope: Scope) -> None:
    if walk.text(node) != INFERRED:
        walk.use(node, Use.NAME, scope)


def _qualified_type(walk: Walk, node: Node, scope: Scope) -> None:
    walk.use_of(walk.chain(node, scope), Use.NAME, node, scope)


def _access(walk: Walk, node: Node, scope: Scope) -> None:
    target, name = node.child_by_field_name("object"), node.child_by_field_name("field")
    if target is None or name is None:
        return
    if name.type == "identifier":
        walk.use(name, Use.ATTRIBUTE, scope, walk.chain(target, scope))
    _qualifier(walk, target, scope)


def _qualifier(walk: Walk, node: Node, scope: Scope) -> None:
    if node.type == "identifier":
        walk.use(node, Use.QUALIFIER, scope)
    else:
        walk.push([node], scope)


def _invocation(walk: Walk, node: Node, scope: Scope) -> None:
    target, name = node.child_by_field_name("object"), node.child_by_field_name("name")
    arguments = node.child_by_field_name("arguments")
    if name is not None:
        chain = walk.chain(target, scope) if target is not None else None
        walk.use(name, Use.CALL, scope, chain, shape_of(arguments))
    if target is not None:
        _qualifier(walk, target, scope)
    walk.push([node.child_by_field_name("type_arguments"), arguments], scope)


def _creation(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit `new T(…)`, perhaps with a body, whose members no other code sees."""
    kind, arguments = node.child_by_field_name("type"), node.child_by_field_name("arguments")
    body = first_of(node, "class_body")
    if kind is not None:
        chain = walk.chain(kind, scope)
        if chain not in (UNKNOWN, OUTSIDE):
            use = Use.CALL if body is None else Use.BASE
            walk.use_of(chain, use, kind, scope, shape_of(arguments) if body is None else None)
        if kind.type == "generic_type":
            walk.push([first_of(kind, "type_arguments")], scope)
    walk.push(body.named_children if body is not None else (), scope.inner().of_class(""))
    others = [each for each in node.named_children if each not in (kind, arguments, body)]
    walk.push([*others, arguments], scope)


def _explicit(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit `super(…)` and `this(…)`: they construct as `new` would."""
    which, arguments = node.child_by_field_name("constructor"), node.child_by_field_name("arguments")
    draft = walk.drafts.get(scope.owner)
    if which is not None and draft is not None:
        if which.type == "this":
            walk.use_of(tuple(draft.qualname.split(".")), Use.CALL, which, scope, shape_of(arguments))
        elif draft.shape is not None and draft.shape.bases:
            walk.use_of(draft.shape.bases[0], Use.CALL, which, scope, shape_of(arguments))
    walk.push([arguments], scope)


def _reference(walk: Walk, node: Node, scope: Scope) -> None:
    """Visit `T::m`, `x::m`, `T::new`."""
    parts = [each for each in node.named_children if each.type != "type_arguments"]
    if len(parts) > 1 and parts[-1].type == "identifier":
        walk.use(parts[-1], Use.ATTRIBUTE, scope, walk.chain(parts[0], scope))
    for target in parts[:1]:
        _qualifier(walk, target, scope)


def _annotation(walk: Walk, node: Node, scope: Scope) -> None:
    name = node.child_by_field_name("name")
    if name is not None and name.type == "identifier":
        walk.use(name, Use.NAME, scope)
    arguments = node.child_by_field_name("arguments")
    for each in arguments.named_children if arguments is not None else ():
        walk.push([each.child_by_field_name("value") if each.type == "element_value_pair" else each], scope)


def _labelled(walk: Walk, node: Node, scope: Scope) -> None:
    walk.push(node.named_children[1:], scope)


def _nothing(_walk: Walk, _node: Node, _scope: Scope) -> None:
    return


_TYPES: Final = (
    "class_declaration",
    "interface_declaration",
    "enum_declaration",
    "record_declaration",
    "annotation_type_declaration",
)
_BLOCKS: Final = (
    "block",
    "catch_clause",
    "constructor_body",
    "for_statement",
    "static_initializer",
    "switch_block_statement_group",
    "switch_rule",
    "try_with_resources_statement",
)
_VISITS: Final[Mapping[str, Visit]] = {
    "import_declaration": _import,
    **dict.fromkeys(_TYPES, _type),
    "method_declaration": _method,
    "annotation_type_element_declaration": _method,
    "constructor_declaration": _constructor,
    "compact_constructor_declaration": _constructor,
    "field_declaration": _field,
    "constant_declaration": _field,
    "local_variable_declaration": _variable,
    "enum_constant": _constant,
    "lambda_expression": _lambda,
    "enhanced_for_statement": _loop,
    "resource": _bound,
    "catch_formal_parameter": _bound,
    "instanceof_expression": _instanceof,
    "type_pattern": _pattern,
    **dict.fromkeys(_BLOCKS, _block),
    "identifier": _name,
    "type_identifier": _type_name,
    "scoped_type_identifier": _qualified_type,
    "field_access": _access,
    "method_invocation": _invocation,
    "object_creation_expression": _creation,
    "explicit_constructor_invocation": _explicit,
    "method_reference": _reference,
    "annotation": _annotation,
    "marker_annotation": _annotation,
    "labeled_statement": _labelled,
    **dict.fromkeys(
        (
            "block_comment",
            "break_statement",
            "continue_statement",
            "line_comment",
            "package_declaration",
            "string_literal",
        ),
        _nothing,
    ),
}

_GRAMMAR: Final = Grammar(JAVA, _VISITS, LINKS, sees_members=True, merging=frozenset({Sort.FUNCTION}))


def summarise(source: bytes) -> Summary:
    """Return the summary of a file of Java."""
    return summarised(source, _GRAMMAR)
