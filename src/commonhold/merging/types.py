"""The types that a file defines: the members that they demand of other code, and their variants."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from tree_sitter import Node

from commonhold.merging.layout import Element
from commonhold.merging.profile import Profile

_TYPES: Final = frozenset(
    {
        "abstract_class_declaration",
        "class_declaration",
        "class_definition",
        "class_specifier",
        "enum_declaration",
        "enum_definition",
        "enum_item",
        "enum_specifier",
        "interface_declaration",
        "object_definition",
        "protocol_declaration",
        "record_declaration",
        "struct_declaration",
        "struct_specifier",
        "trait_definition",
        "trait_item",
        "type_alias_declaration",
        "type_spec",
    }
)
_BODIES: Final = frozenset(
    {
        "block",
        "class_body",
        "declaration_list",
        "enum_body",
        "enum_class_body",
        "enum_declaration_list",
        "enum_member_declaration_list",
        "enum_variant_list",
        "enumerator_list",
        "field_declaration_list",
        "interface_body",
        "interface_type",
        "object_type",
        "protocol_body",
        "template_body",
    }
)
_VARIANTS: Final = frozenset(
    {
        "enum_assignment",
        "enum_case",
        "enum_constant",
        "enum_entry",
        "enum_member_declaration",
        "enum_variant",
        "enumerator",
        "full_enum_case",
        "simple_enum_case",
    }
)
# Types that demand every member that they only declare.
_DECLARING: Final = frozenset({"interface_declaration", "protocol_declaration", "trait_definition", "trait_item"})
_MEMBER_BODIES: Final = frozenset({"block", "compound_statement", "function_body", "statement_block"})
_ABSTRACT: Final = re.compile(rb"\babstract(?:method|property)?\b|=\s*0\s*;?\s*\Z")
_STATIC: Final = re.compile(rb"\b(?:const|static|type)\b")
_OPTIONAL: Final = re.compile(rb"\A(?:readonly\s+)?\w+\?")
_PROTOCOL: Final = re.compile(rb"\b(?:\w+\.)?Protocol\b")
_ENUMERATION: Final = re.compile(rb"\b\w*(?:Enum|Flag)\b")
_DEMANDING: Final = re.compile(rb"abstract|Protocol|Enum|Flag")
_SEALED: Final = re.compile(rb"\bsealed\b")
_WORD: Final = re.compile(rb"\w+")
_BLANK: Final = re.compile(rb"\s+")


def is_type(node: Node) -> bool:
    """Whether a node defines a type."""
    return node.type in _TYPES


def may_demand(element: Element) -> bool:
    """Whether a file may have types that demand something: in Python few do."""
    return not element.profile.has_indented_blocks or _DEMANDING.search(element.source) is not None


def is_sealed(node: Node) -> bool:
    """Whether all subtypes of a type are known, by its head."""
    return _SEALED.search((node.text or b"").partition(b"{")[0]) is not None


def demanded_members(node: Node, profile: Profile) -> frozenset[bytes]:
    """Return the members, as they are declared, that an implementation or a value of a type must provide."""
    declares, is_protocol = _declares_all(node), _is_protocol(node)
    return frozenset(
        _BLANK.sub(b" ", _head(member)).strip(b" ;,")
        for member in _members(node)
        if member.type not in profile.comments and (is_protocol or _is_demanded(member, declares=declares))
    )


def type_names(node: Node) -> frozenset[bytes]:
    """Return the names of a type's demanded members if values match it structurally: in Go and TypeScript."""
    if _shape(node) is None and node.type != "interface_declaration":
        return frozenset()
    names = (each.child_by_field_name("name") for each in _members(node) if not _OPTIONAL.match(each.text or b""))
    return frozenset(each.text or b"" for each in names if each is not None)


def variants_of(node: Node, types: Mapping[bytes, Node]) -> frozenset[bytes]:
    """Return the names of a type's variants: members of an enumeration, parts of a union, subtypes of a sealed type."""
    found = frozenset(_variants(node))
    if not found and is_sealed(node):
        name = node.child_by_field_name("name")
        return frozenset(each for each, of in types.items() if name is not None and _inherits(of, name.text or b""))
    return found


def _variants(node: Node) -> Iterator[bytes]:
    value = node.child_by_field_name("value")
    if node.type == "type_alias_declaration" and value is not None and value.type == "union_type":
        yield from _WORD.findall(value.text or b"")
    permits = node.child_by_field_name("permits")
    if permits is not None:
        yield from _WORD.findall((permits.text or b"").removeprefix(b"permits"))
    for member in _members(node):
        if member.type in _VARIANTS or (node.type == "enum_declaration" and member.type == "property_identifier"):
            name = member.child_by_field_name("name") or (member.named_children or [member])[0]
            yield name.text or b""
        elif member.type == "enum_case_definitions":
            names = (each.child_by_field_name("name") for each in member.named_children)
            yield from (each.text or b"" for each in names if each is not None)
    bases = node.child_by_field_name("superclasses")
    if bases is not None and _ENUMERATION.search(bases.text or b""):
        for member in _members(node):
            inner = member.named_children[0] if member.named_children else member
            left = inner.child_by_field_name("left") if inner.type == "assignment" else None
            yield from [left.text or b""] if left is not None else []


def _inherits(node: Node, name: bytes) -> bool:
    head = (node.text or b"").partition(b"{")[0].partition(b"\n")[0]
    own = node.child_by_field_name("name")
    rest = head[own.end_byte - node.start_byte :] if own is not None else b""
    return re.search(rb"(?::|extends|implements|with|,)\s*(?:\w+\.)*" + re.escape(name) + rb"\b", rest) is not None


def _shape(node: Node) -> Node | None:
    """Return the node of a type's content if it is not the definition itself: a Go interface, an object type."""
    value = node.child_by_field_name("type" if node.type == "type_spec" else "value")
    return value if value is not None and value.type in {"interface_type", "object_type"} else None


def _declares_all(node: Node) -> bool:
    """Whether every member without a body must be provided."""
    if node.type in _DECLARING or _shape(node) is not None:
        return True
    return node.type == "class_declaration" and any(each.type == "interface" for each in node.children)


def _is_protocol(node: Node) -> bool:
    bases = node.child_by_field_name("superclasses")
    return bases is not None and _PROTOCOL.search(bases.text or b"") is not None


def _members(node: Node) -> Iterator[Node]:
    shape = _shape(node)
    bodies = [shape] if shape is not None else [each for each in node.named_children if each.type in _BODIES]
    for body in bodies:
        yield from body.named_children


def _is_demanded(member: Node, *, declares: bool) -> bool:
    text = member.text or b""
    if _ABSTRACT.search(_head(member)):
        return True
    if not declares or _OPTIONAL.match(text):
        return False
    return not any(each.type in _MEMBER_BODIES for each in member.children) and not _STATIC.match(text)


def _head(member: Node) -> bytes:
    """Return a member as it is declared, without its body."""
    inner = member.child_by_field_name("definition") or member
    body = inner.child_by_field_name("body")
    if body is None:
        body = next((each for each in inner.children if each.type in _MEMBER_BODIES), None)
    text = member.text or b""
    return text[: body.start_byte - member.start_byte] if body is not None else text
