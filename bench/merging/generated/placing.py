"""Where edits put what they put in, and what they call it."""

from random import Random
from typing import Final

from tree_sitter import Node

from bench.merging.generated.program import Program, name_of

NAMES: Final = ("added", "extra", "other")
_EDGE_SHARE: Final = 0.55


def with_entry(program: Program, holder: Node, text: bytes, index: int) -> bytes | None:
    """The text with an entry put into a list at an index, and a separator beside it; None where it has no place."""
    entries = entries_of(holder)
    separator = program.grammar.separator
    if not entries:
        inside = holder.end_byte - 1
        return program.replaced((inside, inside, text)) if holder.child_count else None
    if index < len(entries):
        at = entries[index].start_byte
        start, indent = program.line_of(at)
        gap = b"\n" + indent if program.begins_line(entries[index]) and start > holder.start_byte else b" "
        return program.replaced((at, at, text + separator + gap))
    last = entries[-1]
    gap = b"\n" + program.line_of(last.start_byte)[1] if program.begins_line(last) else b" "
    return program.replaced((last.end_byte, last.end_byte, separator + gap + text))


def entries_of(holder: Node) -> list[Node]:
    """The entries of a list, without comments."""
    return [child for child in holder.named_children if "comment" not in child.type and not child.is_extra]


def chosen(random: Random, count: int) -> int:
    """A place of `count`: often the last, where edits of two sides meet."""
    return count - 1 if random.random() < _EDGE_SHARE else random.randrange(count)


def identifiers(program: Program, holder: Node) -> list[bytes]:
    """The names that stand in a node, or in what holds it."""
    start, end = holder.start_byte, holder.end_byte
    parent = holder.parent
    start = parent.start_byte if parent is not None else start
    inside = (node for node in program.nodes if start <= node.start_byte and node.end_byte <= end)
    return list(dict.fromkeys(program.text(node) for node in inside if node.type in program.grammar.identifiers))


def locals_of(program: Program, holder: Node) -> list[bytes]:
    """The names of the variables that a body declares itself."""
    declared = (node for node in holder.named_children if node.type in program.grammar.locals)
    names = (each.child_by_field_name("pattern") or name_of(each) for each in declared)
    return list(dict.fromkeys(program.text(name) for name in names if name is not None))


def first_below(node: Node, kinds: frozenset[str]) -> Node | None:
    """The first node of some kinds in a node, itself included, by levels."""
    below = [node]
    while below:
        found = below.pop(0)
        if found.type in kinds:
            return found
        below += found.named_children
    return None
