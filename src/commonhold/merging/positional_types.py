"""Types whose fields are known by their places: how one side changed them, and whether the other side counts on that.

An object is taken apart into a name for each field, or made from a bare list of values. Neither names the fields, and
often not even the type.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from commonhold.merging.changed_rows import Rows, changed_rows
from commonhold.merging.layout import FileElement
from commonhold.merging.prose import lines_of
from commonhold.merging.syntax import declared_name, field_text, innermost, text_of
from commonhold.merging.verdict import Reason, Spot

_APART: Final = re.compile(
    rb"\bauto\s*(?:const\s*)?&{0,2}\s*\[([^\]=]+)\]"
    rb"|(?:\A|\bfor\b)\s*(\w+(?:\s*,\s*\w+)+)\s*(?:=(?!=)|\bin\b)"
    rb"|(?:\A|(?<=[\s(,]))\(([^()]*,[^()]*)\)\s*(?:=(?![=>])|\bin\b)"
    rb"|\{\s*\(([^()]*,[^()]*)\)\s*->"
)
"""Names for the fields of an object whose type is not named: `auto [a, b]`, `a, b =`, `val (a, b) =`, `{ (a, b) ->`."""
_PATTERN: Final = re.compile(
    rb"(?:\bcase\s+(?:let\s+)?\.?|\bis\s+|\binstanceof\s+|\b(?:val|let)\s+|\|\s*)(\w+)\(([^()]*)\)"
)
"""The same with the name of the type: `case P(a, b)`, `is P(a, b)`, `case .some(let a, let b)`."""
_BODIED: Final = re.compile("function|method")
_TUPLES: Final = re.compile(rb"\b(?:NamedTuple|namedtuple)\b")
_MADE: Final = re.compile(rb"(?:\w+\.)*(?:namedtuple|NamedTuple)\(|(?:Struct\.new|Data\.define)\b")
_ENTRY: Final = re.compile(rb"[\"'](\w+)[\"']")
_DATA: Final = re.compile(rb"(?:@\S+\s+|\w+\s+)*data\s+class\b")
_MATCHED: Final = re.compile(rb"__match_args__\s*=\s*[(\[]([^)\]]*)")
_GENERATED: Final = re.compile(rb"@(?:\w+\.)*(?:dataclass|define|frozen|mutable|attrs|s)\b")
_PARAMETERS: Final = frozenset({"class_parameter", "formal_parameter", "parameter"})
_LISTS: Final = frozenset({"class_parameters", "formal_parameters", "parameter_list"})
_BODIES: Final = frozenset({"block", "field_declaration_list"})


@dataclass(frozen=True, slots=True)
class _Type:
    """The fields of a type in their order.

    `is_whole`: it is taken apart with all of its fields, or not at all. `is_named`: only by a pattern with its name.
    `is_listed`: a list of values without its name makes one.
    """

    fields: tuple[bytes, ...]
    is_whole: bool = True
    is_named: bool = False
    is_listed: bool = False

    def means_another(self, now: "_Type", count: int) -> bool:
        """Whether so many values, which fitted this type, stand for other fields of it now."""
        is_fitting = count == len(self.fields) or (count < len(self.fields) and not self.is_whole)
        is_moved = self.fields[:count] != now.fields[:count]
        return is_fitting and (is_moved or (self.is_whole and len(now.fields) != count))


@dataclass(frozen=True, slots=True)
class _Change:
    """A type before and after."""

    name: bytes
    before: _Type
    after: _Type


def counts_on_places(language: str, base: FileElement, ours: FileElement, theirs: FileElement) -> Iterator[Spot]:
    """Yield a spot for each side whose new code counts on the places of fields that the other side changed."""
    for at, (changing, counting) in enumerate(((ours, theirs), (theirs, ours))):
        rows = changed_rows(base.source, counting.source)[1]
        places = [*_apart(counting, rows), *_listed(counting, rows, language)]
        if not places:
            continue
        was, now = dict(_types(base)), dict(_types(changing))
        changed = [_Change(name, was[name], now[name]) for name in was if name in now and was[name] != now[name]]
        row = next((each.row for each in places if any(map(each.is_broken_by, changed))), None)
        if row is not None:
            why = "one side changed the fields of a type, and the other counts on their places"
            yield Spot(Reason.INTERFERES, why, **{"ours" if at else "theirs": (row, row + 1)})


@dataclass(frozen=True, slots=True)
class _Place:
    """A place that gives or takes so many fields: those of the type `name`, of any if it is empty.

    `order`: the names of the fields, where these must stand in their order. `is_list`: it makes an object.
    """

    row: int
    count: int
    name: bytes = b""
    order: tuple[bytes, ...] = ()
    is_list: bool = False

    def is_broken_by(self, change: _Change) -> bool:
        """Whether it means something else after a change."""
        before, after = change.before, change.after
        if self.order:
            places = [after.fields.index(each) for each in self.order if each in after.fields]
            return before.is_listed and places != sorted(places)
        if self.name:
            return self.name == change.name and before.means_another(after, self.count)
        is_one = before.is_listed if self.is_list else not (before.is_named or before.is_listed)
        return is_one and before.means_another(after, self.count)


def _apart(element: FileElement, rows: Rows) -> Iterator[_Place]:
    lines = lines_of(element.source)
    for row in rows.rows:
        line = lines[row].strip()
        for match in _APART.finditer(line):
            yield _Place(row, (match[1] or match[2] or match[3] or match[4]).count(b",") + 1)
        for match in _PATTERN.finditer(line):
            given = [each for each in match[2].split(b",") if each.strip() and b"=" not in each]
            yield _Place(row, len(given), match[1])


def _listed(element: FileElement, rows: Rows, language: str) -> Iterator[_Place]:
    """Yield the lists of values that make an object, without the name of its type."""
    for node in rows.nodes(element.tree.root_node) if b"{" in element.source else ():
        is_bare = node.type == "initializer_list" or (node.type == "literal_value" and _is_in_list(node))
        if not is_bare:
            continue
        row, given = node.start_point.row, [each for each in node.named_children if each.type != "comment"]
        pairs = [each for each in given if each.type == "initializer_pair"]
        if pairs and language == "cpp":  # C takes them in any order
            yield _Place(row, 0, order=tuple(text_of(each.named_children[0]).lstrip(b".") for each in pairs))
        elif given and not pairs and not any(each.type == "keyed_element" for each in given):
            yield _Place(row, len(given), is_list=True)


def _is_in_list(value: Node) -> bool:
    return value.parent is not None and value.parent.type == "literal_element"


def _types(element: FileElement) -> Iterator[tuple[bytes, _Type]]:
    """Yield the types whose fields are known by their places, each with its name."""
    stack = [element.tree.root_node]
    while stack:
        node = stack.pop()
        if not _BODIED.search(node.type):  # what a function declares inside is its own
            stack += node.named_children
        if node.type in _READ:
            yield from _READ[node.type](node)


def _struct(node: Node) -> Iterator[tuple[bytes, _Type]]:
    """Yield what a list of values makes, and what is taken apart with all of its fields."""
    name, fields = field_text(node, "name"), tuple(_members(node))
    yield name, _Type(fields, is_whole=False, is_listed=True)
    yield name + b"[]", _Type(fields)


def _go_type(node: Node) -> Iterator[tuple[bytes, _Type]]:
    yield field_text(node, "name"), _Type(tuple(_go_fields(node)), is_listed=True)


def _python_class(class_: Node) -> Iterator[tuple[bytes, _Type]]:
    """Yield what unpacks as a tuple, or, by a pattern, what its decorator or itself names."""
    name = field_text(class_, "name")
    named = _MATCHED.search(field_text(class_, "body"))
    above = text_of(class_.parent) if class_.parent is not None else b""
    if _TUPLES.search(field_text(class_, "superclasses")):
        yield name, _Type(tuple(_members(class_)))
    elif named is not None:
        yield name, _Type(tuple(_ENTRY.findall(named[1])), is_whole=False, is_named=True)
    elif above.startswith(b"@") and _GENERATED.search(above):
        yield name, _Type(tuple(_members(class_)), is_whole=False, is_named=True)


def _made_type(node: Node) -> Iterator[tuple[bytes, _Type]]:
    call = field_text(node, "right")
    if _MADE.match(call):
        yield field_text(node, "left"), _Type(_made(call))


def _data_class(node: Node) -> Iterator[tuple[bytes, _Type]]:
    if _DATA.match(text_of(node)):
        yield field_text(node, "name"), _Type(_parameters(node), is_whole=False)


def _record(node: Node) -> Iterator[tuple[bytes, _Type]]:
    yield field_text(node, "name"), _Type(_parameters(node))


def _tuple_type(node: Node) -> Iterator[tuple[bytes, _Type]]:
    items = (item for each in node.named_children if each.type == "tuple_type" for item in each.named_children)
    yield field_text(node, "name"), _Type(tuple(text_of(item).partition(b":")[0] for item in items))


def _case(node: Node) -> Iterator[tuple[bytes, _Type]]:
    payload = text_of(node.child_by_field_name("data_contents")).strip(b"()")
    yield field_text(node, "name"), _Type(tuple(map(bytes.strip, payload.split(b","))), is_named=True)


_READ: Final[Mapping[str, Callable[[Node], Iterator[tuple[bytes, _Type]]]]] = {
    "assignment": _made_type,
    "class_declaration": _data_class,
    "class_definition": _python_class,
    "class_specifier": _struct,
    "enum_entry": _case,
    "record_declaration": _record,
    "struct_specifier": _struct,
    "type_spec": _go_type,
    "typealias_declaration": _tuple_type,
}


def _members(type_: Node) -> Iterator[bytes]:
    """Yield the fields that the body of a class or struct declares."""
    for member in (each for body in type_.named_children if body.type in _BODIES for each in body.named_children):
        held = member.named_children[0] if member.type == "expression_statement" and member.named_children else member
        if held.type == "assignment" and held.child_by_field_name("type") is not None:
            yield field_text(held, "left")
        elif member.type == "field_declaration" and b"(" not in text_of(member):
            yield from (text_of(innermost(each)) for each in member.children_by_field_name("declarator"))


def _go_fields(type_: Node) -> Iterator[bytes]:
    struct = type_.child_by_field_name("type")
    lists = struct.named_children if struct is not None and struct.type == "struct_type" else []
    for field in (each for fields in lists for each in fields.named_children):
        names = field.children_by_field_name("name")
        yield from map(text_of, names or [field])


def _parameters(type_: Node) -> tuple[bytes, ...]:
    """Return the names of the fields that stand as parameters behind the name of a type."""
    around = [*type_.named_children, *(each for child in type_.named_children for each in child.named_children)]
    given = (each for held in around if held.type in _LISTS for each in held.named_children)
    return tuple(_named(each) for each in given if each.type in _PARAMETERS)


def _named(parameter: Node) -> bytes:
    name = declared_name(parameter) or next((each for each in parameter.children if each.type == "identifier"), None)
    return text_of(name)


def _made(call: bytes) -> tuple[bytes, ...]:
    """Return the fields that a call names: texts of a list, words of one text, or symbols."""
    given = call.partition(b"(")[2]
    if b"Struct.new" in call or b"Data.define" in call:
        return tuple(re.findall(rb":(\w+)", given))
    fields = given.partition(b",")[2]
    return tuple(_ENTRY.findall(fields) if fields.lstrip().startswith((b"[", b"(")) else re.findall(rb"\w+", fields))
