"""Members of a class that no body contains: an annotation, a modifier or a constructor's parameter generates them.

If one side has a member generated and the other writes it by hand, the compiler refuses both, or one of them is lost.
"""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from commonhold.merging.changed_rows import changed_lines
from commonhold.merging.layout import Element, FileElement
from commonhold.merging.profile import Profile
from commonhold.merging.verdict import Reason, Spot

_COMPARING: Final = ("__eq__", "__ge__", "__gt__", "__le__", "__lt__")
_OBJECT: Final = ("equals", "hashCode", "toString")
# Nodes before the body of a class, and the members that they generate.
_MAKING: Final = (
    (r"@(?:\w+\.)*(?:dataclass|define|frozen|mutable|attrs)\b|@attr\.s\b", ("__eq__", "__init__", "__repr__")),
    (r"@[\w.]+\([^)]*\border\s*=\s*True", _COMPARING),
    (r"@[\w.]+\([^)]*\b(?:unsafe_hash|frozen)\s*=\s*True", ("__hash__",)),
    (r"@(?:functools\.)?total_ordering\b", _COMPARING),
    (r"@(?:Data|Value)\b", _OBJECT),
    (r"@EqualsAndHashCode\b", ("equals", "hashCode")),
    (r"@ToString\b", ("toString",)),
    (r"@(?:Super)?Builder\b", ("builder", "toBuilder")),
    (r"\b(?:data|case)\s+class\b", ("copy", *_OBJECT)),
    (r"\brecord\b", ("Equals", "GetHashCode", "ToString", *_OBJECT)),
)
_HEADS: Final = tuple((re.compile(pattern.encode()), frozenset(map(str.encode, names))) for pattern, names in _MAKING)
_GETTERS: Final = re.compile(rb"@(?:Data|Value|Getter)\b")
_SETTERS: Final = re.compile(rb"@(?:Data|Setter)\b")
_ACCESSORS: Final = re.compile(rb"\Aattr_(reader|writer|accessor)\b")
_SYMBOL: Final = re.compile(rb":(\w+)")
_TEXT: Final = re.compile(rb"[\"'](\w+)[\"']")
_VISIBLE: Final = re.compile(rb"\b(?:private|protected|public|readonly|val|var)\b")
_BODIES: Final = frozenset(
    {"block", "body_statement", "class_body", "declaration_list", "enum_body", "record_body", "template_body"}
)
_PROMOTED: Final = frozenset({"class_parameter", "property_promotion_parameter", "required_parameter"})
_FIELDS: Final = frozenset({"field_declaration", "property_declaration", "public_field_definition", "field_definition"})

# Nodes that may contain a class.
_AROUND: Final = frozenset(
    {
        "ambient_declaration",
        "else_clause",
        "export_statement",
        "file_scoped_namespace_declaration",
        "if_statement",
        "internal_module",
        "namespace_declaration",
        "try_statement",
    }
)
# Without one of these in a line that a side added, no member is newly generated.
_SIGN: Final = re.compile(
    rb"@(?:\w+\.)*(?:\w*Builder|Data|EqualsAndHashCode|Getter|Setter|ToString|Value|attrs|dataclass|define|frozen|mutable|s"
    rb"|total_ordering)\b|\battr_\w|__slots__|\b(?:case|data)\s+class\b"
    rb"|\b(?:private|protected|public|readonly|record|val|var)\b"
)

_ANNOTATED: Final = re.compile(rb"@(?:Data|Value|Getter|Setter|(?:Super)?Builder)\b")
_ATTRIBUTES: Final = re.compile(rb"\battr_\w")

Members = dict[bytes, tuple[frozenset[bytes], frozenset[bytes], int]]
"""For each class: the generated members, the hand-written ones, and the row on which the class begins."""


def made_and_written(base: FileElement, ours: FileElement, theirs: FileElement) -> Iterator[Spot]:
    """Yield a spot for each class of which one side newly generates a member that the other newly writes by hand."""
    if not any(_SIGN.search(line) for side in (ours, theirs) for line in changed_lines(base.source, side.source)[1]):
        return
    before, one, other = (_members(each) for each in (base, ours, theirs))
    for name in one.keys() & other.keys():
        made, written, _ = before.get(name, (frozenset(), frozenset(), 0))
        new = [(side[name][0] - made, side[name][1] - written) for side in (one, other)]
        both = (new[0][0] & new[1][1]) | (new[1][0] & new[0][1])
        if both:
            shown = min(both).decode(errors="replace")
            why = f"one side wrote {shown!r}, which the other has made for the class by other means"
            rows = [(side[name][2], side[name][2] + 1) for side in (one, other)]
            yield Spot(Reason.SAME_NAME, why, ours=rows[0], theirs=rows[1])


def no_longer_made(before: Element, after: Element) -> Iterator[tuple[bytes, int]]:
    """Yield the members that annotations generated for a class and that it has no more, each with a row."""
    source = before.source
    if not (_ANNOTATED.search(source) or (b"attr_" in source and _ATTRIBUTES.search(source))):
        return
    old, new = _members(before), _members(after)
    for class_, (made, _, row) in old.items():
        now = new.get(class_)
        if now is not None:
            yield from ((name, row) for name in sorted(made - now[0] - now[1]))


def _members(element: Element) -> Members:
    found: Members = {}
    root, profile = element.node, element.profile
    around = _AROUND | _BODIES | profile.blocks | profile.classes | {root.type, profile.wrapper}
    stack = [root]
    while stack:
        node = stack.pop()
        name = node.child_by_field_name("name") if node.type in profile.classes else None
        if name is not None and name.text:
            made = frozenset(_made(node))
            written = frozenset(_written(node, profile))
            found[name.text] = made, written, node.start_point.row
        stack += (each for each in node.named_children if each.type in around)
    return found


def _made(node: Node) -> Iterator[bytes]:
    around = node.parent if node.parent is not None and node.parent.type == "decorated_definition" else node
    bodies = [each for each in node.named_children if each.type in _BODIES]
    head = (around.text or b"")[: bodies[0].start_byte - around.start_byte] if bodies else around.text or b""
    for pattern, names in _HEADS:
        if pattern.search(head):
            yield from names
    for member in (each for body in bodies for each in body.named_children):
        yield from _accessors(member, head)
    for parameter in _promoted(node):
        name = next((each for each in _named(parameter) if each), None)
        if name:
            yield name


def _accessors(member: Node, head: bytes) -> Iterator[bytes]:
    """Yield the methods generated for a field: by an annotation of the class or its own, or by a call in the class."""
    text = member.text or b""
    if accessors := _ACCESSORS.match(text):
        for name in _SYMBOL.findall(text):
            yield from () if accessors[1] == b"writer" else (name,)
            yield from () if accessors[1] == b"reader" else (name + b"=",)
    elif text.startswith(b"__slots__"):
        yield from _TEXT.findall(text)
    elif member.type in _FIELDS:
        marks = head + text
        for name in _named(member):
            title = name[:1].upper() + name[1:]
            yield from (b"get" + title, b"is" + title) if _GETTERS.search(marks) else ()
            yield from (b"set" + title,) if _SETTERS.search(marks) else ()


def _promoted(node: Node) -> Iterator[Node]:
    """Yield the parameters of the constructor that are fields as well."""
    stack = [each for each in node.named_children if each.type not in _BODIES]
    bodies = [each for each in node.named_children if each.type in _BODIES]
    for member in (each for body in bodies for each in body.named_children):
        name = member.child_by_field_name("name")
        if name is not None and name.text in {b"constructor", b"__construct"}:
            stack += member.named_children
    while stack:
        each = stack.pop()
        if each.type in _PROMOTED and _VISIBLE.search((each.text or b"").partition(b"=")[0]):
            yield each
        elif each.type not in _BODIES and each.type != "statement_block":
            stack += each.named_children


def _written(node: Node, profile: Profile) -> Iterator[bytes]:
    for body in node.named_children:
        if body.type not in _BODIES:
            continue
        for member in body.named_children:
            inner = member.child_by_field_name(profile.wrapped) if member.type == profile.wrapper else None
            yield from _named(inner or member)


def _named(member: Node) -> Iterator[bytes]:
    if member.type == "expression_statement" and member.named_children:
        member = member.named_children[0]
    for field in ("name", "pattern", "left"):
        named = member.child_by_field_name(field)
        if named is not None:
            yield (named.text or b"").lstrip(b"$")
            return
    for child in member.named_children:
        if child.type in {"variable_declarator", "variable_declaration", "property_element"}:
            name = child.child_by_field_name("name") or (child.named_children[0] if child.named_children else child)
            yield (name.text or b"").lstrip(b"$")
        elif child.type in {"identifier", "simple_identifier"} and member.type in _PROMOTED:
            yield child.text or b""
            return
