"""Notebooks: JSON whose cells are the regions."""

from typing import Final

from tree_sitter import Node, Tree

from commonhold.code.regions.breaks import find_imbalance
from commonhold.code.regions.encoding import BLANK
from commonhold.code.regions.language import Language, parse
from commonhold.code.regions.lines import INDENT, line_end, line_start
from commonhold.code.regions.nested import first_problem
from commonhold.code.regions.node_names import first_of, json_text, text_of, unquoted
from commonhold.code.regions.outline import TOP, Definition, Outline, tidy
from commonhold.code.regions.region import Span
from commonhold.kernel.keys import Kind

_CELLS: Final = "cells"
_SEPARATOR: Final = b","


def outline_cells(source: bytes, language: Language, _: Tree | None = None) -> Outline:
    """Return the cells that are whole lines, by their ids; in a notebook without ids, by their kind and number."""
    root = parse(source, language).root_node
    broken = find_imbalance(root, source, language)
    sound_end = broken.row_start if broken else len(source)
    cells = _cells(root)
    found = [
        Definition(tidy(_name(cell)), Kind.ENTRY, span, TOP)
        for cell in (cells.children if cells is not None else ())
        if cell.type == "object" and (span := _span(source, cell)) is not None and span[1] <= sound_end
    ]
    body_end = line_start(source, cells.end_byte - 1) if cells is not None else None
    return Outline(found, broken.problem if broken else first_problem(root), body_end=body_end)


def _cells(root: Node) -> Node | None:
    top = first_of(root, "object")
    return _value(top, _CELLS) if top is not None else None


def _value(node: Node, key: str) -> Node | None:
    for pair in node.children:
        name = pair.child_by_field_name("key") if pair.type == "pair" else None
        if name is not None and unquoted(text_of(name)) == key:
            return pair.child_by_field_name("value")
    return None


def _name(cell: Node) -> str:
    for key in ("id", "cell_type"):
        value = _value(cell, key)
        if value is not None and value.type == "string":
            return json_text(value)
    return "cell"


def _span(source: bytes, cell: Node) -> Span | None:
    """Return the whole lines of a cell; None if it shares one with anything except the comma behind it."""
    start, end = line_start(source, cell.start_byte), line_end(source, cell.end_byte - 1)
    before, after = source[start : cell.start_byte], source[cell.end_byte : end]
    shares = before.strip(INDENT) or after.strip(BLANK) not in (b"", _SEPARATOR)
    return None if shares else (start, end)
