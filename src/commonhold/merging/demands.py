"""The demands of types on code that is written against them, and new code that relies on the old demands.

An interface demands its members of every implementation, an enumeration an arm of each exhaustive match, a type with
required fields a value of each literal. Each side may be right alone: one adds to the type, the other writes new code
that fits the type as it was. Both are compared by keys, which are names, so they may stand in different files.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from tree_sitter import Node

from commonhold.merging.changed_rows import WORD, Rows, changed_rows, rows_with
from commonhold.merging.layout import Element
from commonhold.merging.matches import MATCHES, labels_of
from commonhold.merging.profile import Profile
from commonhold.merging.syntax import declared_name, text_of
from commonhold.merging.types import demanded_members, is_sealed, is_type, may_demand, type_names, variants_of

Key = tuple[str, bytes]

_HERITAGE: Final = frozenset(
    {
        "base_class_clause",
        "base_clause",
        "base_list",
        "class_heritage",
        "class_interface_clause",
        "delegation_specifier",
        "delegation_specifiers",
        "extends_clause",
        "extends_interfaces",
        "extends_type_clause",
        "inheritance_specifier",
        "super_interfaces",
        "superclass",
    }
)
_MAPPED: Final = re.compile(rb"\bRecord<\s*(\w+)|\bin\s+(\w+)\s*\]")
# Nodes that hold a value of the type that their annotation names.
_TYPED_VALUES: Final = {"variable_declarator": "type", "public_field_definition": "type", "var_spec": "type"}
_RETURNING: Final = frozenset({"arrow_function", "function_declaration", "function_expression", "method_definition"})
_DECLARATIONS: Final = frozenset({"field_declaration", "local_variable_declaration"})
_FUNCTIONAL: Final = frozenset({"lambda_expression", "method_reference"})
_CLASS_BODIES: Final = frozenset({"declaration_list", "field_declaration_list"})
_METHODS: Final = frozenset({"field_declaration", "function_definition", "method_declaration"})
_ASSERTED: Final = frozenset({"as_expression", "satisfies_expression"})


def demanded_anew(before: Element, after: Element) -> Iterator[tuple[Key, int, str]]:
    """Yield the changed demands of a file's types, each with a row and with the change in words."""
    if before.text == after.text or not (may_demand(before) or may_demand(after)):
        return
    old, new = _types(before), _types(after)
    for name in old.keys() & new.keys():
        was, now = old[name], new[name]
        if was.text == now.text and not is_sealed(now):
            continue
        row = now.start_point.row
        yield from ((key, row, what) for key, what in _demanded_of_members(name, was, now))
        if demanded_members(was, before.profile) != demanded_members(now, after.profile):
            yield ("implements", name), row, "changed which members are demanded by"
            for member in type_names(was):
                yield ("member", member), row, "changed the members beside"
        known, present = variants_of(was, old), variants_of(now, new)
        if known and not present <= known:
            yield ("mapped", name), row, "added a variant to"
            for variant in known:
                yield ("variant", variant), row, "added a variant beside"


def counted_on(before: Element, after: Element) -> Iterator[tuple[Key, int, str]]:
    """Yield the demands that the code of a file newly relies on, each with a row and in words."""
    if before.text == after.text:
        return
    _, rows = changed_rows(before.source, after.source)
    written = {key for key, _, _ in _counting(after, rows)}
    if not written:
        return
    words = {name.rpartition(b".")[2] for _, name in written}
    known = Counter(key for key, _, _ in _counting(before, rows_with(before.source, words)))
    for key, row, how in _counting(after, rows_with(after.source, words)):
        if known[key]:
            known[key] -= 1
        elif key in written:
            yield key, row, how


def _types(element: Element) -> Mapping[bytes, Node]:
    """Return the types of a file by name."""
    found: dict[bytes, Node] = {}
    stack = [element.node]
    while stack:
        node = stack.pop()
        if node.type in element.profile.functions and node.type not in element.profile.classes and not is_type(node):
            continue
        name = node.child_by_field_name("name")
        if name is not None and is_type(node):
            found.setdefault(name.text or b"", node)
        stack += node.named_children
    return found


def _counting(element: Element, rows: Rows) -> Iterator[tuple[Key, int, str]]:
    for node in rows.nodes(element.node):
        row = node.start_point.row
        for name in _implemented(node, element.profile):
            yield ("implements", name), row, "implement or make"
        if node.type == "constructor_declaration":
            yield ("completes", text_of(node.child_by_field_name("name"))), row, "construct"
        for name in _overridden(node, element.profile):
            yield ("overrides", name), row, "override"
        if node.type in MATCHES:
            for label in labels_of(node):
                yield ("variant", label), row, "match, with no arm for the rest,"
        if node.type in {"method_declaration", "pair"} and _is_structural(node):
            key = node.child_by_field_name("name") or node.child_by_field_name("key")
            yield ("member", (key.text or b"") if key is not None else b""), row, "give"
        if node.type in {"type_annotation", "mapped_type_clause", "index_signature", "satisfies_expression"}:
            for match in _MAPPED.finditer(node.text or b""):
                yield ("mapped", match[1] or match[2]), row, "have an entry for each variant of"


def _is_structural(node: Node) -> bool:
    """Whether types demand such a member by its name alone: a method in Go, an entry that a call is given."""
    if node.type == "method_declaration":
        return node.child_by_field_name("receiver") is not None
    around = node.parent.parent if node.parent is not None else None
    return around is not None and around.type == "arguments"


def _implemented(node: Node, profile: Profile) -> Iterator[bytes]:
    """Yield the types that a node implements, or declares as the type of a value in it."""
    kind = node.type
    if kind in _HERITAGE:
        yield from _names_in(node)
    elif kind == "impl_item":
        trait = node.child_by_field_name("trait")
        yield from _names_in(trait) if trait is not None else ()
    elif kind == "class_definition" and profile.has_indented_blocks:
        bases = node.child_by_field_name("superclasses")
        yield from _names_in(bases) if bases is not None else ()
    elif kind == "object_creation_expression" and any(each.type == "class_body" for each in node.named_children):
        of = node.child_by_field_name("type")
        yield from _names_in(of) if of is not None else ()
    elif kind in _TYPED_VALUES and node.child_by_field_name("value") is not None:
        of = node.child_by_field_name(_TYPED_VALUES[kind])
        yield from _names_in(of) if of is not None else ()
    elif kind in _RETURNING:
        of = node.child_by_field_name("return_type")
        yield from _names_in(of) if of is not None else ()
    elif kind in _ASSERTED:
        yield from _names_in(node.named_children[-1])
    elif kind in _DECLARATIONS and any(each.type in _FUNCTIONAL for each in _values_of(node)):
        of = node.child_by_field_name("type")
        yield from _names_in(of) if of is not None else ()


def _values_of(declaration: Node) -> Iterator[Node]:
    values = (each.child_by_field_name("value") for each in declaration.named_children)
    return (each for each in values if each is not None)


def _overridden(node: Node, profile: Profile) -> Iterator[bytes]:
    """Yield a method of a class with each base of the class that may have it."""
    body = node.parent
    around = body.parent if body is not None else None
    if node.type not in _METHODS or around is None or around.type not in profile.classes:
        return
    for heritage in (each for each in around.named_children if each.type in _HERITAGE):
        yield from (base + b"." + text_of(declared_name(node)) for base in _names_in(heritage))


def _demanded_of_members(name: bytes, was: Node, now: Node) -> Iterator[tuple[Key, str]]:
    """Yield the demands on overriding methods and on constructors of a type."""
    heads = dict(_heads(now))
    for member, head in _heads(was):
        if heads.get(member, head) != head:
            yield ("overrides", name + b"." + member), "changed how to override"
    if _unset(now) - _unset(was):
        yield ("completes", name), "demands a value of another field of"


def _unset(type_: Node) -> frozenset[bytes]:
    """Return the final fields of a class of Java that each of its constructors must set."""
    found = set[bytes]()
    for member in (each for body in type_.named_children if body.type == "class_body" for each in body.named_children):
        marks = next((each.text or b"" for each in member.named_children if each.type == "modifiers"), b"")
        if member.type == "field_declaration" and b"final" in marks and b"static" not in marks:
            parts = (each for each in member.named_children if each.type == "variable_declarator")
            found.update(text_of(each) for each in parts if each.child_by_field_name("value") is None)
    return frozenset(found)


def _heads(type_: Node) -> Iterator[tuple[bytes, bytes]]:
    """Yield the methods of a type that its heirs may override, each with its head."""
    for body in type_.named_children:
        for member in body.named_children if body.type in _CLASS_BODIES else ():
            if member.type in _METHODS:
                text = re.split(rb"[{;]|=>", member.text or b"", maxsplit=1)[0]
                yield text_of(declared_name(member)), b" ".join(text.split())


def _names_in(node: Node) -> Iterator[bytes]:
    """Yield the names in a heritage or annotation; of a path also the last part, to which the others lead."""
    yield from dict.fromkeys(WORD.findall(node.text or b""))
