"""Tables whose rows stand in the order of constants: one side adds a constant, the other a row or another such table.

In Go the constants of a block with `iota` are numbered by their places, in C the members of an enumeration. A table
without keys that has as many rows belongs to them, as far as the text shows.
"""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from commonhold.merging.changed_rows import Rows, changed_rows
from commonhold.merging.layout import FileElement
from commonhold.merging.syntax import field_text, text_of
from commonhold.merging.verdict import Reason, Spot

_BLOCKS: Final = {"const_declaration": "const_spec", "enumerator_list": "enumerator"}
_TABLES: Final = frozenset({"initializer_list", "literal_value"})
_KEYED: Final = frozenset({"initializer_pair", "keyed_element"})
_LANGUAGES: Final = frozenset({"c", "cpp", "go"})
_BODIES: Final = frozenset({"block", "compound_statement"})
_FEW: Final = 2


def tables_out_of_step(language: str, base: FileElement, ours: FileElement, theirs: FileElement) -> Iterator[Spot]:
    """Yield a spot for each table that one side wrote, or extended, for constants to which the other added some."""
    if language not in _LANGUAGES:
        return
    for at, (numbering, writing) in enumerate(((ours, theirs), (theirs, ours))):
        gone, come = changed_rows(base.source, writing.source)
        written = _tables(writing.node, come)
        changed = [*_changed(base, numbering)] if written else []
        known = _tables(base.node, gone) if changed else {}
        for name, table in written.items():
            count = table.named_child_count
            is_as_long = any(count - len(each) in (0, 1) for each in changed)
            if is_as_long and not (name in known and known[name].named_child_count == count):
                why = "one side changed constants that are numbered by place, the other wrote a table of as many rows"
                row = table.start_point.row
                yield Spot(Reason.ORDER_MATTERS, why, **{"ours" if at else "theirs": (row, row + 1)})


def _changed(base: FileElement, side: FileElement) -> Iterator[tuple[bytes, ...]]:
    """Yield the constants of a file, block by block, to which a side added some, or of which it removed some."""
    now = [*_numbered(side.node)]
    for names in _numbered(base.node) if now else ():
        if names not in now and any({*each} & {*names} for each in now):
            yield names


def _numbered(root: Node) -> Iterator[tuple[bytes, ...]]:
    """Yield the names of the constants of each block outside of functions that numbers them by place."""
    stack = [root]
    while stack:
        node = stack.pop()
        kind = _BLOCKS.get(node.type)
        if kind is None:
            stack += (each for each in node.named_children if each.type not in _BODIES)
            continue
        text = node.text or b""
        members = [each for each in node.named_children if each.type == kind]
        is_by_place = b"iota" in text if kind == "const_spec" else b"=" not in text
        if is_by_place and len(members) >= _FEW:
            yield tuple(field_text(each, "name") for each in members)


def _tables(root: Node, rows: Rows) -> dict[bytes, Node]:
    """Return the tables without keys on some rows, outer ones only, each with the name that it is assigned to."""
    found: dict[bytes, Node] = {}
    for node in rows.nodes(root):
        around = _around(node)
        is_plain = node.named_child_count and not any(each.type in _KEYED for each in node.named_children)
        if node.type in _TABLES and is_plain and around is not None:
            found[text_of(around.child_by_field_name("name") or around.child_by_field_name("declarator"))] = node
    return found


def _around(table: Node) -> Node | None:
    """Return the declaration that gives a table its name; None for a row of another table, and for an argument."""
    node = table.parent
    while node is not None and node.type in {"composite_literal", "expression_list"}:
        node = node.parent
    return node if node is not None and node.type in {"init_declarator", "var_spec"} else None
