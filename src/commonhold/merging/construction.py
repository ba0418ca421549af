"""How types of a file are constructed, by a written constructor or one generated from fields, and where.

If one side changes a type and the other newly constructs it, the new code relies on a constructor that has changed.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from commonhold.merging.changed_rows import changed_lines, changed_rows, places_of
from commonhold.merging.layout import Element
from commonhold.merging.profile import Profile
from commonhold.merging.prose import lines_of

_MADE: Final = re.compile(
    rb"\bnew\s+(?:[\w.:\\]*[.:\\])?(\w+)|\b(\w+)\s*(?:<[^<>(){}]*>)?\s*(?=[({])|\((?:struct\s+)?(\w+)\)\s*\{|\b(\w+)\.new\b|\b(\w+)\s+\w+[\[\]\s]*=\s*\{"
    rb"|\b(?:class|struct)\s+\w+.*?(?:\bextends|:\s*(?:public\b)?)\s*(\w+)"
)
_WORD: Final = re.compile(rb"\w+")
# Constructions by the own type, and the definitions around them.
_OWN: Final = re.compile(
    rb"\bSelf\s*[({]|\b(?:cls|self\.__class__|type\(self\)|static::class)\(|\bnew\s+(?:self|static|this\.constructor)\b"
)
_OWNERS: Final = frozenset({"class_declaration", "class_definition", "impl_item"})
# The fields of a constructing node that may hold the name of the type.
_MAKING: Final = {
    "call": ("function", "receiver"),
    "call_expression": ("function",),
    "declaration": ("type",),
    "composite_literal": ("type",),
    "compound_literal_expression": ("type",),
    "instance_expression": (),
    "new_expression": ("constructor", "type"),
    "object_creation_expression": ("type",),
    "struct_expression": ("name",),
    "struct_pattern": ("type",),
}
# Classes whose constructors call one of the base class, even without a word of it; where that class is named.
_HEIRS: Final = {
    "class_declaration": frozenset({"superclass", "base_list"}),
    "class_specifier": frozenset({"base_class_clause"}),
}
_CALLING_BASE: Final = frozenset(
    {"constructor_initializer", "explicit_constructor_invocation", "field_initializer_list"}
)
_CONSTRUCTORS: Final = frozenset({b"__construct", b"__init__", b"__new__", b"constructor", b"init", b"initialize"})
_CONSTRUCTING: Final = frozenset({"constructor_declaration", "init_declaration", "secondary_constructor"})
_PARAMETERS: Final = frozenset(
    {
        "class_parameters",
        "formal_parameters",
        "function_value_parameters",
        "method_parameters",
        "parameter_list",
        "parameters",
    }
)
_TYPES: Final = frozenset({"class_specifier", "struct_item", "struct_specifier", "type_spec"})
_FIELDS: Final = frozenset({"field_declaration", "property_declaration"})
# Classes with a constructor that is generated from their fields.
_GENERATED: Final = re.compile(
    rb"@(?:\w+\.)*(?:dataclass|define|frozen|mutable|attrs|attr\.s|s|\w*ArgsConstructor|Data|Value|Builder)\b"
    rb"|\b(?:NamedTuple|TypedDict|BaseModel|Struct|SQLModel)\b"
)
# Fields that are declared by a call, and those that each object must be given.
_ATTRIBUTE: Final = re.compile(rb"=\s*(?:\w+\.)*(?:ib|attrib|field|Field)\(")
_REQUIRED: Final = re.compile(rb"\A(?:\[[^\]]*\]\s*)*(?:\w+\s+)*required\b")
_BODIES: Final = frozenset(
    {"block", "body_statement", "class_body", "declaration_list", "field_declaration_list", "struct_type"}
)

Ways = frozenset[tuple[bytes, ...]]


def made_anew(before: Element, after: Element) -> Iterator[tuple[bytes, int]]:
    """Yield the types that are constructed more often than before, each with a row of such a place."""
    added = changed_lines(before.source, after.source)[1]
    yield from _made_of_own(before, after)
    names = {name for line in added for match in _MADE.finditer(line) for name in match.groups() if name}
    if not names:
        return
    counts, rows = _makings(before.node, names), _makings(after.node, names)
    for name, places in rows.items():
        if len(places) > len(counts.get(name, ())):
            yield name, places[-1]


def _made_of_own(before: Element, after: Element) -> Iterator[tuple[bytes, int]]:
    """Yield the types whose own code constructs them, without their name."""
    lines = lines_of(after.source)
    for row in changed_rows(before.source, after.source)[1].rows:
        if not _OWN.search(lines[row]):
            continue
        node = after.node.descendant_for_point_range((row, 0), (row, max(len(lines[row]) - 1, 0)))
        while node is not None and node.type not in _OWNERS:
            node = node.parent
        named = node.child_by_field_name("type") or node.child_by_field_name("name") if node is not None else None
        if named is not None:
            yield _WORD.findall(named.text or b"")[0], row


def made_otherwise(before: Element, after: Element) -> Iterator[tuple[bytes, int]]:
    """Yield the types that lost a way to construct them, each with its row."""
    old, new = _types(before.node, before.profile), _types(after.node, after.profile)
    for name, (ways, _) in old.items():
        if name in new and not all(any(_still(way, now) for now in new[name][0]) for way in ways):
            yield name, new[name][1]
    for name, (ways, row) in new.items():
        needs = any(_REQUIRED.search(each) for way in ways for each in way)
        if needs and name not in old and re.search(rb"\b%s\b" % re.escape(name), before.source):
            yield name, row


def _still(way: Sequence[bytes], now: Sequence[bytes]) -> bool:
    """Whether a call that fits some parameters fits the present ones: the added ones may be left out."""
    added = now[len(way) :]
    return list(now[: len(way)]) == list(way) and all(map(has_default, added))


def has_default(parameter: bytes) -> bool:
    """Whether a parameter or field has a default; for a field declared by a call, it is an argument of the call."""
    declaring = _ATTRIBUTE.search(parameter)
    if declaring is None:
        return re.search(rb"=|\?", parameter) is not None
    given = parameter[declaring.end() :]
    is_by_place = declaring[0].endswith(b"Field(") and re.match(rb"(?!\s*(?:\.\.\.|\w+\s*=|\)))", given) is not None
    return is_by_place or re.search(rb"default|factory|\binit\s*=\s*False", given) is not None


def _makings(root: Node, names: set[bytes]) -> dict[bytes, list[int]]:
    """Return the rows on which types of these names are constructed."""
    source = root.text or b""
    places = [at + root.start_byte for at in places_of(source, names)]
    found: dict[bytes, list[int]] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        at = bisect_left(places, node.start_byte)
        if at == len(places) or places[at] >= node.end_byte:
            continue
        name = _made_by(node) if node.type in _MAKING else None
        made = [name, *_made_by_heirs(node)]
        for each in (each for each in made if each is not None and each in names):
            found.setdefault(each, []).append(node.start_point.row)
        stack += node.named_children
    return found


def _made_by(node: Node) -> bytes | None:
    if node.type == "composite_literal" and _is_keyed(node):
        return None
    if node.type == "compound_literal_expression" and not _is_without_keys(node.named_children[-1]):
        return None
    if node.type == "declaration" and not _is_filled_by_place(node):
        return None
    if node.type == "struct_pattern" and any(each.type == "remaining_field_pattern" for each in node.named_children):
        return None
    method = node.child_by_field_name("method")
    if method is not None and method.text != b"new":
        return None
    fields = (node.child_by_field_name(field) for field in _MAKING[node.type])
    named = next((each for each in fields if each is not None), node.named_children[0] if node.named_children else None)
    text = (named.text or b"").partition(b"<")[0].partition(b"[")[0] if named is not None else b""
    words = _WORD.findall(text)
    return words[-1] if words else None


def _made_by_heirs(node: Node) -> Iterator[bytes]:
    """Yield the base class of a class, once for each constructor that calls its constructor without arguments."""
    kinds = _HEIRS.get(node.type, frozenset())
    bases = (base for each in node.named_children if each.type in kinds for base in each.named_children)
    named = next((each for each in bases if each.type.endswith(("identifier", "name"))), None)
    if named is None:
        return
    own = node.child_by_field_name("name")
    constructors = [each for each in _members(node) if _constructs(each, own.text if own is not None else None)]
    if not constructors or any(not _calls_base(each) for each in constructors):
        yield _WORD.findall(named.text or b"")[-1]


def _calls_base(constructor: Node) -> bool:
    parts = (constructor, *constructor.named_children)
    return any(each.type in _CALLING_BASE for part in parts for each in part.named_children)


def _is_filled_by_place(declaration: Node) -> bool:
    """Whether a variable of C gets the values of its fields in their order."""
    declared = declaration.child_by_field_name("declarator")
    values = declared.child_by_field_name("value") if declared is not None else None
    return values is not None and values.type == "initializer_list" and _is_without_keys(values)


def _is_without_keys(values: Node) -> bool:
    return all(each.type != "initializer_pair" for each in values.named_children)


def _is_keyed(literal: Node) -> bool:
    """Whether a literal names its fields, so that another one may be left out."""
    body = literal.child_by_field_name("body")
    return body is not None and all(each.type == "keyed_element" for each in body.named_children)


def _types(root: Node, profile: Profile) -> dict[bytes, tuple[Ways, int]]:
    """Return how each type that a file defines can be constructed."""
    found: dict[bytes, tuple[Ways, int]] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in profile.functions and node.type not in profile.classes:
            continue
        name = node.child_by_field_name("name")
        if name is not None and (node.type in profile.classes or node.type in _TYPES):
            ways = frozenset(_ways(node))
            if ways:
                found[name.text or b""] = ways, node.start_point.row
        if node.type == "type_definition":
            found.update(_aliased(node))
        stack += node.named_children
    return found


def _aliased(definition: Node) -> Iterator[tuple[bytes, tuple[Ways, int]]]:
    """Yield a structure of C under the name that its definition as a type gives."""
    of, name = definition.child_by_field_name("type"), definition.child_by_field_name("declarator")
    if of is not None and name is not None and of.type == "struct_specifier" and (ways := frozenset(_ways(of))):
        yield name.text or b"", (ways, of.start_point.row)


def _ways(node: Node) -> Iterator[tuple[bytes, ...]]:
    """Yield the parameters of each constructor of a type; without one, the fields if the constructor is generated."""
    members = list(_members(node))
    name = node.child_by_field_name("name")
    constructors = [each for each in members if _constructs(each, name.text if name is not None else None)]
    heads = [each for child in node.named_children for each in (child, *_under(child)) if each.type in _PARAMETERS]
    for each in (*constructors, node) if heads else constructors:
        lists = heads if each is node else [child for child in _inner(each) if child.type in _PARAMETERS]
        given = lists[0].named_children if lists else [child for child in _inner(each) if child.type == "parameter"]
        if lists or given:
            yield tuple(child.text or b"" for child in given)
    listed = next((each for each in node.named_children if each.type == "ordered_field_declaration_list"), None)
    if listed is not None:
        yield tuple(each.text or b"" for each in listed.named_children if each.type != "visibility_modifier")
    if not constructors and not heads and listed is None and _is_generated(node):
        yield tuple(_said(each) for each in members if _is_field(each))
    if required := tuple(_said(each) for each in members if _is_field(each) and _REQUIRED.search(each.text or b"")):
        yield required


def _inner(node: Node) -> Iterator[Node]:
    yield from node.named_children
    for child in node.named_children:
        if child.type.endswith("declarator"):
            yield from child.named_children


def _under(child: Node) -> Sequence[Node]:
    return child.named_children if child.type == "primary_constructor" else ()


def _members(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type in _BODIES:
            for inner in child.named_children:
                yield from inner.named_children if inner.type in _BODIES | {"expression_statement"} else (inner,)
                if inner.type == "decorated_definition":
                    yield from inner.named_children


def _constructs(member: Node, of: bytes | None) -> bool:
    name = member.child_by_field_name("name")
    declarator = member.child_by_field_name("declarator")
    declared = declarator.child_by_field_name("declarator") if declarator is not None else None
    if member.type in _CONSTRUCTING or (declared is not None and declared.text == of):
        return True
    return name is not None and (name.text or b"") in _CONSTRUCTORS


def _is_generated(node: Node) -> bool:
    """Whether a type without a constructor is constructed from its fields: any struct, and classes that say so."""
    if node.type in {"struct_item", "struct_specifier", "type_spec"} or (node.text or b"").startswith(b"struct"):
        return True
    around = node.parent if node.parent is not None and node.parent.type == "decorated_definition" else node
    body = next((each for each in node.named_children if each.type in _BODIES), None)
    head = (around.text or b"")[: body.start_byte - around.start_byte] if body is not None else b""
    return _GENERATED.search(head) is not None


def _is_field(member: Node) -> bool:
    if member.type == "assignment":
        text = member.text or b""
        is_declared = member.child_by_field_name("type") is not None or _ATTRIBUTE.search(text) is not None
        return is_declared and b"ClassVar" not in text
    return member.type in _FIELDS and b"static " not in (member.text or b"")


def _said(member: Node) -> bytes:
    return b" ".join((member.text or b"").split())
