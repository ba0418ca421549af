"""Names that exist without a region of their own, so that they are not taken for new.

`const a = 1, b = 2` is one region, or a part of a header, that answers to both names; and in a file that the parser
lost, a name may stand anywhere.
"""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from commonhold.code.regions.budget import BudgetExceededError
from commonhold.code.regions.language import LONE_RETURN, parse
from commonhold.code.regions.languages import language_for
from commonhold.code.regions.region import Region, RegionMap
from commonhold.kernel.keys import HEADER

# Nodes that declare a name in one of some fields, and nodes that do so without a field.
_DECLARES: Final = re.compile(
    r"(?:_declarator|_spec|_specifier|_definition|_declaration|_item|_element|_signature)\Z|import"
    r"|\A(?:assignment|declaration|enumerator|pattern|type_alias_statement|use_as_clause)\Z"
)
_NAME_FIELDS: Final = frozenset({"alias", "argument", "bound_identifier", "declarator", "left", "name", "pattern"})
_BARE: Final = frozenset(
    {"const_element", "identifiers", "import_clause", "namespace_import", "property_element", "use_list"}
    | {"variable_declaration", "variable_name"}
)
# Nodes around a name in a declaration of several.
_LISTS: Final = re.compile(r"(?:pattern|pattern_list|_declarator|dotted_name|expression_list|scoped_identifier)\Z")
_RENAMING: Final = frozenset({"aliased_import", "import_specifier", "use_as_clause"})
# Names inside of these are invisible outside; those inside of a class are its members.
_LOCAL: Final = re.compile(
    r"function_(?!declarator)|method|lambda|closure|arrow|parameter|argument|comprehension|constructor"
)
_CLASS: Final = re.compile(r"class|struct|union|interface|enum|trait|object|record|impl|namespace|module_|\Amodule\Z")
_BODILESS: Final = frozenset({"interface_type", "struct_type"})
_ROOTS: Final = frozenset({"module", "program", "source_file", "translation_unit", "compilation_unit"})


def declaring(map: RegionMap, container: Region, name: str) -> Region | None:  # noqa: A002 - the word of the domain
    """Return the region that declares a name beside others: a definition in the container, or its header."""
    language = language_for(map.path, map.source)
    places = list(_occurrences(map.source, name)) if language is not None and language.grammar else []
    if not places or language is None:
        return None
    try:
        root = parse(map.source, language).root_node
    except BudgetExceededError:
        return None
    depth = len(container.key.names)
    for start in places:
        node = root.descendant_for_byte_range(start, start + len(name.encode()))
        if node is not None and node.text == name.encode() and _declares(node, depth):
            return _region_at(map, container, start)
    return None


def why_lost(map: RegionMap, name: str) -> str | None:  # noqa: A002
    """Return why a name in the text may be a definition that the parser lost; None if nothing is lost."""
    if next(_occurrences(map.source, name), None) is None:
        return None
    if map.problems:
        return map.problems[0].message
    return "lines end with carriage returns alone" if LONE_RETURN.search(map.source) else None


def _occurrences(source: bytes, name: str) -> Iterator[int]:
    text = name.partition("(")[0].encode()
    found = re.finditer(rb"(?<!\w)" + re.escape(text) + rb"(?!\w)", source) if text else ()
    return (match.start() for match in found)


def _declares(node: Node, depth: int) -> bool:
    """Whether the code around a name declares it, inside of `depth` classes and of no function."""
    statement = _declaration(node)
    classes = 0
    while statement is not None and (statement := statement.parent) is not None and statement.type not in _ROOTS:
        if _LOCAL.search(statement.type):
            return False
        classes += _is_class(statement)
    return statement is not None and classes == depth


def _is_class(node: Node) -> bool:
    is_named_so = _CLASS.search(node.type) is not None
    return is_named_so and (node.type in _BODILESS or node.child_by_field_name("body") is not None)


def _declaration(node: Node) -> Node | None:
    """Return the node that declares a name."""
    while (parent := node.parent) is not None:
        field = _field_of(node, parent)
        if parent.type in _RENAMING and field == "name" and parent.child_by_field_name("alias") is not None:
            return None
        if parent.type in _BARE or (field in _NAME_FIELDS and _DECLARES.search(parent.type)):
            return parent
        is_first = node.start_byte == parent.start_byte or parent.type != "dotted_name"
        is_part = field is None or field in _NAME_FIELDS or (field, parent.type) == ("value", "pair_pattern")
        if not _LISTS.search(parent.type) or not is_first or not is_part:
            return None
        node = parent
    return None


def _field_of(node: Node, parent: Node) -> str | None:
    return next((parent.field_name_for_child(at) for at, each in enumerate(parent.children) if each == node), None)


def _region_at(map: RegionMap, container: Region, at: int) -> Region | None:  # noqa: A002
    """Return the region that holds a byte: a definition of the container, or its header."""
    holders = [each for each in map.regions if any(start <= at < end for start, end in each.spans)]
    inside = [each for each in holders if each.parent == container.key]
    is_header = [each for each in inside if each.key.names[-1].text == HEADER]
    return next(iter([*(each for each in inside if each.is_definition), *is_header]), None)
