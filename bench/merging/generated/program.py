"""One text with its syntax tree, and the changes of bytes that edits are made of."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from bench.merging.generated.grammar import Grammar
from commonhold.code.regions.language import parse
from commonhold.code.regions.languages import language_named


@dataclass(frozen=True)
class Program:
    """A text of a language. Edits change what lies inside `around`: (first byte, byte after the last)."""

    source: bytes
    grammar: Grammar
    around: tuple[int, int]

    @cached_property
    def root(self) -> Node:
        """The root of the syntax tree."""
        return parse(self.source, language_named(self.grammar.name)).root_node

    @cached_property
    def nodes(self) -> Sequence[Node]:
        """All nodes of the file that have a name in the grammar, in the order of the text."""
        return list(_below(self.root))

    @cached_property
    def near(self) -> Sequence[Node]:
        """The nodes that edits may change: those inside `around`, and those that hold it."""
        start, end = self.around
        return [
            node
            for node in self.nodes
            if (start <= node.start_byte and node.end_byte <= end)
            or (node.start_byte <= start and end <= node.end_byte)
        ]

    def text(self, node: Node) -> bytes:
        """The text of a node."""
        return self.source[node.start_byte : node.end_byte]

    def replaced(self, *changes: tuple[int, int, bytes]) -> bytes:
        """The text with each (start, end, new text) put in."""
        result = self.source
        for start, end, text in sorted(changes, reverse=True):
            result = result[:start] + text + result[end:]
        return result

    def line_of(self, at: int) -> tuple[int, bytes]:
        """Where the line with this byte begins, and its indentation."""
        start = self.source.rfind(b"\n", 0, at) + 1
        line = self.source[start:at]
        return start, line[: len(line) - len(line.lstrip())]

    def begins_line(self, node: Node) -> bool:
        """Whether nothing but blanks stands before a node on its line."""
        start, indent = self.line_of(node.start_byte)
        return start + len(indent) == node.start_byte

    def end_of_line(self, at: int) -> int:
        """The byte after the line break that ends the line with this byte."""
        found = self.source.find(b"\n", at)
        return len(self.source) if found < 0 else found + 1

    def is_kind(self, node: Node, wanted: str) -> bool:
        """Whether a node is of a kind as an insert names it: "kind" or "kind<parent"."""
        kind, _, parent = wanted.partition("<")
        return node.type == kind and (not parent or (node.parent is not None and node.parent.type == parent))

    def names(self, kinds: frozenset[str]) -> Sequence[bytes]:
        """What the definitions of these kinds are called."""
        found = (name_of(node) for node in self.nodes if node.type in kinds)
        return [self.text(name) for name in found if name is not None]


def name_of(node: Node) -> Node | None:
    """Where the name of a definition stands: under `name`, or inside declarators."""
    name = node.child_by_field_name("name") or node.child_by_field_name("left") or node.child_by_field_name("key")
    inner: Node | None = node
    while name is None and inner is not None:
        inner = inner.child_by_field_name("declarator")
        name = inner if inner is not None and not inner.named_children else None
    if name is None:
        named = (child.child_by_field_name("name") for child in node.named_children)
        name = next((each for each in named if each is not None), None)
    return name


def _below(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        found = stack.pop()
        yield found
        stack += reversed(found.named_children)
