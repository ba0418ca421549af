"""Edits that fit every language: definitions and statements are copied, moved, renamed, deleted, contracts changed."""

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from random import Random
from typing import Final

from tree_sitter import Node

from bench.merging.generated.placing import NAMES, chosen, entries_of, first_below, identifiers, with_entry
from bench.merging.generated.program import Program, name_of


def _copy_definition(program: Program, random: Random) -> bytes | None:
    """Copy a definition under another name, to its siblings."""
    found = [node for node in program.near if node.type in program.grammar.copied and program.begins_line(node)]
    if not found:
        return None
    node = random.choice(found)
    name = name_of(node)
    if name is None or node.parent is None:
        return None
    new = random.choice(NAMES).encode()
    old = program.text(name)
    if old[:1].isupper():
        new = new.upper() if old.isupper() else new.title()
    start, end = program.line_of(node.start_byte)[0], program.end_of_line(max(node.start_byte, node.end_byte - 1))
    text = program.source[start : name.start_byte] + new + program.source[name.end_byte : end]
    siblings = [each for each in node.parent.named_children if each.type == node.type and program.begins_line(each)]
    beside = siblings[chosen(random, len(siblings))]
    at = program.end_of_line(max(beside.start_byte, beside.end_byte - 1))
    ended = b"" if program.source[:at].endswith(b"\n") else b"\n"
    return program.replaced((at, at, ended + text + (b"" if text.endswith(b"\n") else b"\n")))


def _copy_statement(program: Program, random: Random) -> bytes | None:
    """Copy a statement to another place of the same body: a use, a call, an assignment more."""
    bodies = [node for node in program.near if node.type in program.grammar.statements]
    children = [each for each in random.choice(bodies).named_children if program.begins_line(each)] if bodies else []
    if len(children) < 2:  # noqa: PLR2004 - there is another place
        return None
    node, beside = random.choice(children), children[chosen(random, len(children))]
    text = _lines_of(program, node)
    at = program.end_of_line(max(beside.start_byte, beside.end_byte - 1))
    return program.replaced((at, at, text))


def _delete(program: Program, random: Random) -> bytes | None:
    """Delete a definition or a statement."""
    found = _movable(program)
    if not found:
        return None
    node = random.choice(found)
    start, end = _line_span(program, node)
    return program.replaced((start, end, b""))


def _move(program: Program, random: Random) -> bytes | None:
    """Move a definition or a statement to another place among its siblings."""
    found = _movable(program)
    if not found:
        return None
    node = random.choice(found)
    parent = node.parent
    siblings = [each for each in parent.named_children if program.begins_line(each)] if parent is not None else []
    beside = random.choice(siblings) if siblings else node
    if beside == node:
        return None
    start, end = _line_span(program, node)
    at = _line_span(program, beside)[0] if beside.start_byte < node.start_byte else _line_span(program, beside)[1]
    if start < at < end:
        return None
    return program.replaced((start, end, b""), (at, at, program.source[start:end]))


def _movable(program: Program) -> list[Node]:
    grammar = program.grammar
    return [
        node
        for node in program.near
        if node.parent is not None
        and program.begins_line(node)
        and (node.type in grammar.copied | grammar.moved or node.parent.type in grammar.statements)
    ]


def _line_span(program: Program, node: Node) -> tuple[int, int]:
    return program.line_of(node.start_byte)[0], program.end_of_line(max(node.start_byte, node.end_byte - 1))


def _lines_of(program: Program, node: Node) -> bytes:
    start, end = _line_span(program, node)
    return program.source[start:end]


def _rename(program: Program, random: Random) -> bytes | None:
    """Rename something that the file defines, everywhere in the file."""
    grammar = program.grammar
    found = [node for node in program.near if node.type in grammar.functions | grammar.types | grammar.copied]
    name = name_of(random.choice(found)) if found else None
    return _renamed(program, random, program.text(name)) if name is not None else None


def _rename_inside(program: Program, random: Random) -> bytes | None:
    """Rename a name of a body, wherever it stands inside the definition."""
    found = [node for node in program.near if node.type in program.grammar.functions]
    if not found:
        return None
    node = random.choice(found)
    known = identifiers(program, node)
    inside = (node.start_byte, node.end_byte)
    return _renamed(program, random, random.choice(known), inside) if known else None


def _renamed(program: Program, random: Random, old: bytes, inside: tuple[int, int] = (0, 1 << 60)) -> bytes | None:
    new = random.choice((*NAMES, old.decode(errors="replace") + "_new")).encode()
    places = [
        node
        for node in program.nodes
        if not node.named_children
        and inside[0] <= node.start_byte
        and node.end_byte <= inside[1]
        and program.text(node) == old
    ]
    return program.replaced(*((node.start_byte, node.end_byte, new) for node in places)) if places and old else None


def _change_constant(program: Program, random: Random) -> bytes | None:
    """Give a literal another value."""
    found = [node for node in program.near if node.type in program.grammar.constants]
    if not found:
        return None
    node = random.choice(found)
    text = program.text(node)
    if text.isdigit():
        return program.replaced((node.start_byte, node.end_byte, str(int(text) + random.randrange(1, 9)).encode()))
    inner = text.rstrip(b"\"'`")
    at = node.start_byte + len(inner)
    return program.replaced((at, at, random.choice(NAMES).encode())) if inner != text else None


def _add_parameter(program: Program, random: Random) -> bytes | None:
    """Add a parameter that must be given, and an argument to every call of that name in the file."""
    return _with_contract(program, random, _widened)


def _drop_parameter(program: Program, random: Random) -> bytes | None:
    """Take the last parameter away, and the last argument of every call of that name in the file."""
    return _with_contract(program, random, _narrowed)


Change = tuple[int, int, bytes]


def _with_contract(
    program: Program, random: Random, change: Callable[[Program, Node, str], Change | None]
) -> bytes | None:
    grammar = program.grammar
    found = [node for node in program.near if node.type in grammar.functions]
    if not found:
        return None
    node = random.choice(found)
    name, parameters = name_of(node), first_below(node, grammar.parameters)
    if name is None or parameters is None:
        return None
    lists = [first_below(call, grammar.arguments) for call in program.nodes if _calls(program, call, name)]
    text = grammar.parameter.format(name=random.choice(NAMES))
    changes = [change(program, parameters, text)]
    changes += [change(program, each, grammar.argument) for each in lists if each is not None]
    known = [each for each in changes if each is not None]
    starts = {each[0] for each in known}
    return program.replaced(*known) if known and len(starts) == len(known) else None


def _calls(program: Program, call: Node, name: Node) -> bool:
    if call.type not in program.grammar.calls:
        return False
    arguments = first_below(call, program.grammar.arguments)
    before = program.source[call.start_byte : arguments.start_byte] if arguments is not None else b""
    return re.search(rb"\b" + re.escape(program.text(name)) + rb"\s*$", before) is not None


def _widened(_: Program, holder: Node, text: str) -> Change | None:
    entries = entries_of(holder)
    at = entries[-1].end_byte if entries else holder.end_byte - 1
    return at, at, (b", " if entries else b"") + text.encode()


def _narrowed(_: Program, holder: Node, _text: str) -> Change | None:
    entries = entries_of(holder)
    if not entries:
        return None
    start = entries[-2].end_byte if len(entries) > 1 else entries[-1].start_byte
    return start, entries[-1].end_byte, b""


def _break_list(program: Program, random: Random) -> bytes | None:
    """Reformat: put each entry of a list on a line of its own, or all on one."""
    grammar = program.grammar
    found = [node for node in program.near if node.type in grammar.lists and len(entries_of(node)) > 1]
    if not found:
        return None
    node = random.choice(found)
    entries = entries_of(node)
    gaps = list(pairwise(entries))
    if any(program.source[left.end_byte : right.start_byte].strip() != grammar.separator for left, right in gaps):
        return None
    indent = program.line_of(node.start_byte)[1] + b"    "
    is_broken = any(b"\n" in program.source[left.end_byte : right.start_byte] for left, right in gaps)
    gap = grammar.separator + (b" " if is_broken else b"\n" + indent)
    return program.replaced(*((left.end_byte, right.start_byte, gap) for left, right in gaps))


def _delete_entry(program: Program, random: Random) -> bytes | None:
    """Take an entry out of a list, and the separator beside it."""
    entries, index = _an_entry(program, random)
    if index + 1 < len(entries):
        return program.replaced((entries[index].start_byte, entries[index + 1].start_byte, b""))
    if index > 0:
        return program.replaced((entries[index - 1].end_byte, entries[index].end_byte, b""))
    return None


def _swap_entries(program: Program, random: Random) -> bytes | None:
    """Exchange two neighbours of a list."""
    entries, index = _an_entry(program, random)
    if not 0 < index < len(entries):
        return None
    left, right = entries[index - 1], entries[index]
    return program.replaced(
        (left.start_byte, left.end_byte, program.text(right)), (right.start_byte, right.end_byte, program.text(left))
    )


def _copy_entry(program: Program, random: Random) -> bytes | None:
    """Add an entry to a list like one that is there, under another name where it has one."""
    entries, index = _an_entry(program, random)
    entry = entries[index] if entries else None
    if entry is None or entry.parent is None:
        return None
    text = program.text(entry)
    name = name_of(entry)
    if name is not None:
        start, end = name.start_byte - entry.start_byte, name.end_byte - entry.start_byte
        inner = text[start:end].strip(b"\"'")
        text = text[:start] + text[start:end].replace(inner, random.choice(NAMES).encode()) + text[end:]
    return with_entry(program, entry.parent, text, chosen(random, len(entries) + 1))


def _an_entry(program: Program, random: Random) -> tuple[list[Node], int]:
    found = [entries for node in program.near if node.type in program.grammar.lists and (entries := entries_of(node))]
    entries = random.choice(found) if found else []
    return entries, random.randrange(len(entries)) if entries else -1


def _add_comment(program: Program, random: Random) -> bytes | None:
    """Add a comment before a statement or a definition."""
    found = _movable(program)
    if not found or not program.grammar.comment:
        return None
    start, indent = program.line_of(random.choice(found).start_byte)
    text = program.grammar.comment.format(random.choice(NAMES)).encode()
    return program.replaced((start, start, indent + text + b"\n"))


Make = Callable[[Program, Random], bytes | None]

GENERAL: Final[Mapping[str, Make]] = {
    "copy definition": _copy_definition,
    "copy statement": _copy_statement,
    "delete": _delete,
    "move": _move,
    "rename": _rename,
    "rename inside": _rename_inside,
    "change constant": _change_constant,
    "add required parameter": _add_parameter,
    "drop parameter": _drop_parameter,
    "delete entry": _delete_entry,
    "swap entries": _swap_entries,
    "copy entry": _copy_entry,
    "reformat list": _break_list,
    "add comment": _add_comment,
}
