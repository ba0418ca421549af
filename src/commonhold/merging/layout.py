"""The layout of a file: nested elements, down to those that are not worth dividing; every byte lies in one.

Elements are divided on demand: a merge divides only those that both sides changed.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from functools import cached_property
from typing import Final

from tree_sitter import Node, Tree

from commonhold.merging.profile import Profile

ITEMS: Final = "items"
BLANK: Final = b" \t\f\r\n"
TOKEN: Final = re.compile(rb"\w+|[^\w\s]")
_PUNCTUATION: Final = frozenset({";", ","})
DECORATORS: Final = "decorators"
_DEFINITION: Final = "definition"


class Shape(Enum):
    """How an element holds others: not at all, as fixed parts, one below the other, or between separators."""

    LEAF = auto()
    PARTS = auto()
    BLOCK = auto()
    LIST = auto()


class Element:
    """The bytes [start, end) of a version of a file, and before them, from `lead_start`, bytes that belong to no other.

    `node` is its syntax node; the entries of a list or block have no node of their own and use the one around them.
    `children` tile it, except for `close`, the bytes after the last of them; in a list separators lie between them.
    """

    __slots__ = ("__dict__", "end", "kind", "lead_start", "node", "nodes", "profile", "shape", "source", "start")

    def __init__(
        self,
        source: bytes,
        profile: Profile,
        node: Node,
        span: tuple[int, int],
        lead_start: int,
        nodes: Sequence[Node] | None = None,
        kind: str | None = None,
    ) -> None:
        """Make an element of `source`; `nodes` are the entries if it is the content of a block or list."""
        self.source = source
        self.profile = profile
        self.node = node
        self.start, self.end = span
        self.lead_start = lead_start
        self.nodes = nodes
        self.kind = kind or _kind(profile, node)
        self.shape = self._shape()

    def _shape(self) -> Shape:
        if self.nodes is not None:
            return (
                Shape.LIST if self.kind.partition(".")[0] in {*self.profile.lists, *self.profile.runs} else Shape.BLOCK
            )
        if self.node.child_count == 0 or self.node.is_error or self.node.type == self.profile.text or self.is_prose:
            return Shape.LEAF
        return Shape.PARTS

    @cached_property
    def text(self) -> bytes:
        """The bytes of the element, without its lead."""
        return self.source[self.start : self.end]

    @property
    def lead(self) -> bytes:
        """The bytes before it: blank space and comments; in a list, after the separator.

        The first statement of a file is given a leading line end that is not there, since all others have one.
        """
        lead = self.source[self.lead_start : self.start]
        return self.line_end + lead if self.opens_file else lead

    @property
    def opens_file(self) -> bool:
        """Whether it is the first statement of its file."""
        return (
            self.lead_start == 0
            and self.nodes is None
            and self.node.parent is not None
            and self.node.parent.parent is None
        )

    @property
    def line_end(self) -> bytes:
        """The line end that its file uses."""
        return b"\r\n" if b"\r\n" in self.source else b"\n"

    @cached_property
    def said(self) -> bytes:
        """The text, and before it the lead without blank space around it: comments, mostly."""
        return self.lead.strip(BLANK) + b"\0" + self.text

    @property
    def whole(self) -> bytes:
        """The lead and the text."""
        return self.source[self.lead_start : self.end]

    @cached_property
    def tokens(self) -> Counter[bytes]:
        """How often each token stands in the text."""
        return Counter(TOKEN.findall(self.text))

    @property
    def rows(self) -> tuple[int, int]:
        """Its first line and the line after its last, counted from 0."""
        first = self.node.start_point.row if self.nodes is None else self.source.count(b"\n", 0, self.start)
        return first, first + self.text.count(b"\n") + 1

    @property
    def separator(self) -> bytes:
        """The separator between the entries of a list."""
        return self.profile.separators.get(self.list_kind, self.profile.separator)

    @property
    def list_kind(self) -> str:
        """The kind of the node that holds the entries or statements."""
        return self.kind.partition(".")[0]

    @property
    def words(self) -> str:
        """A name for messages: the kind of its node."""
        return self.list_kind.replace("_", " ")

    @property
    def is_file(self) -> bool:
        """Whether it is the content of the whole file."""
        return self.nodes is not None and self.node.parent is None

    @property
    def is_prose(self) -> bool:
        """Whether it is a string that stands alone, as documentation does."""
        children = self.node.children
        return len(children) == 1 and children[0].type == self.profile.text

    @property
    def is_definition(self) -> bool:
        """Whether it defines a name by which its block knows it."""
        return self.kind == _DEFINITION

    @cached_property
    def definition(self) -> Node:
        """The node that defines, without its decorators."""
        if self.node.type == self.profile.wrapper:
            return self.node.child_by_field_name(self.profile.wrapped) or self.node
        return self.node

    @cached_property
    def name(self) -> bytes | None:
        """The name by which its list or block knows it: of a definition, or the key of an entry; None without one."""
        if self.nodes is not None:
            return None
        naming = self.profile.naming.get(self.definition.type)
        if self.is_definition and naming is not None:
            return (naming(self.definition) or "").encode() or None
        field = "name" if self.is_definition else self.profile.keyed.get(self.node.type)
        named = self.definition.child_by_field_name(field) if field else None
        return named.text if named is not None else None

    @property
    def holds_body(self) -> bool:
        """Whether it is a body, or a branch that has one."""
        return self.shape is Shape.BLOCK or self.node.type in self.profile.blocks or self.has_body

    @cached_property
    def scripts(self) -> dict[int, object]:
        """The scripts from its children to other versions, by the identity of the other element; filled by `script`."""
        return {}

    @cached_property
    def has_body(self) -> bool:
        """Whether it has a head and a body of statements, as a function or a loop does."""
        return self.shape is Shape.PARTS and (self.is_definition or any(each.holds_body for each in self._own_parts()))

    def _own_parts(self) -> tuple["Element", ...]:
        return () if self.node.type in self.profile.blocks else self.children

    @cached_property
    def children(self) -> tuple["Element", ...]:
        """The elements inside, in file order."""
        if self.shape is Shape.LEAF:
            return ()
        if self.nodes is not None:
            return tuple(self._entries(self.nodes))
        return tuple(self._parts())

    @cached_property
    def close(self) -> bytes:
        """The bytes after the last child."""
        children = self.children
        return self.source[children[-1].end if children else self.start : self.end]

    def _entries(self, nodes: Sequence[Node]) -> Iterator["Element"]:
        position = self.start
        for node in nodes:
            start, end = max(node.start_byte, position), self._entry_end(node)
            yield Element(self.source, self.profile, node, (start, end), self._lead_start(position, start))
            position = end

    def _lead_start(self, position: int, start: int) -> int:
        """Return, in a list, the position after the separator and after a comment that follows it on its line."""
        if self.shape is not Shape.LIST:
            return position
        found = self.source.find(self.separator, position, start)
        return position if found < 0 else min(self._comment_end(found + 1), start)

    def _entry_end(self, node: Node) -> int:
        if self.shape is Shape.LIST:
            return node.end_byte
        end, following = node.end_byte, node.next_sibling
        while following is not None and following.start_byte == end and following.type in _PUNCTUATION:
            end, following = following.end_byte, following.next_sibling
        return max(end, min(self._comment_end(end), self.end))

    def _comment_end(self, position: int) -> int:
        """Return the end of a comment that stands on the same line after `position`; `position` if there is none."""
        return _comment_end(self.source, self.profile, position)

    def _parts(self) -> Iterator["Element"]:
        position = self.start
        if self.is_definition:
            decorators = self._decorators()
            yield decorators
            position = decorators.end
        node = self.definition if self.is_definition else self.node
        if node.type in self.profile.blocks or node.type in self.profile.lists:
            yield from self._enclosed(node, _flat(node, self.profile), position)
        elif node.type in self.profile.runs or node.type in self.profile.sections:
            yield from self._run(node, position)
        else:
            yield from self._plain(node.children, position)

    def _decorators(self) -> "Element":
        nodes = [child for child in self.node.children if child.type == self.profile.decorator]
        end = nodes[-1].end_byte if nodes and self.node.type == self.profile.wrapper else self.start
        kind = f"{DECORATORS}.{ITEMS}"
        kept = nodes if end > self.start else []
        return Element(self.source, self.profile, self.node, (self.start, end), self.start, kept, kind)

    def _plain(self, children: Sequence[Node], position: int) -> Iterator["Element"]:
        for child in children:
            if child.type in self.profile.comments or child.end_byte <= position or child.end_byte > self.end:
                continue
            if self.profile.has_indented_blocks and child.type in self.profile.blocks:
                end = max(child.end_byte, min(self._comment_end(child.end_byte), self.end))
                yield self._items(child, child.children, (position, end))
                position = end
            else:
                yield Element(self.source, self.profile, child, (child.start_byte, child.end_byte), position)
                position = child.end_byte

    def _items(self, node: Node, children: Sequence[Node], span: tuple[int, int]) -> "Element":
        kept = [child for child in children if _is_entry(child, self.profile)]
        return Element(self.source, self.profile, node, span, span[0], kept, f"{node.type}.{ITEMS}")

    def _enclosed(self, node: Node, children: Sequence[Node], position: int) -> Iterator["Element"]:
        """Yield the opening tokens, the content between them and the closing ones, and the closing ones."""
        named = [index for index, child in enumerate(children) if _is_entry(child, self.profile)]
        is_closed = bool(children) and not children[-1].is_named and children[-1].type not in _PUNCTUATION
        opening = named[0] if named else max(len(children) - is_closed, 0)
        for child in children[:opening]:
            if child.type not in self.profile.comments:
                yield Element(self.source, self.profile, child, (child.start_byte, child.end_byte), position)
                position = child.end_byte
        end = children[-1].start_byte if is_closed and len(children) > opening else self.end
        yield self._items(node, children[opening:], (position, max(end, position)))
        if end < self.end and is_closed:
            last = children[-1]
            yield Element(self.source, self.profile, last, (last.start_byte, last.end_byte), end)

    def _run(self, node: Node, position: int) -> Iterator["Element"]:
        children = node.children
        mark = (self.profile.runs.get(node.type) or self.profile.sections[node.type]).decode()
        at = next((index for index, child in enumerate(children) if child.type == mark), len(children) - 1) + 1
        for child in children[:at]:
            yield Element(self.source, self.profile, child, (child.start_byte, child.end_byte), position)
            position = child.end_byte
        yield from self._enclosed(node, children[at:], position)


def _flat(node: Node, profile: Profile) -> Sequence[Node]:
    """Return the children of a node; for a left-recursive list those of the whole list."""
    children = node.children
    first = next((each for each in children if each.is_named), None)
    if node.type not in profile.separators or first is None or first.type != node.type:
        return children
    at = children.index(first)
    return [*children[:at], *_flat(first, profile), *children[at + 1 :]]


def _is_entry(node: Node, profile: Profile) -> bool:
    return node.is_named and node.type not in profile.comments and node.type not in profile.leads


def _kind(profile: Profile, node: Node) -> str:
    inner = node.child_by_field_name(profile.wrapped) if node.type == profile.wrapper else node
    return _DEFINITION if inner is not None and _defines(profile, inner) else node.type


def _defines(profile: Profile, node: Node) -> bool:
    """Whether a node defines a name; some kinds define one only if they have a name."""
    if node.type not in profile.definitions:
        return False
    naming = profile.naming.get(node.type)
    return naming is None or naming(node) is not None


def _comment_end(source: bytes, profile: Profile, position: int) -> int:
    start = position
    while source[start : start + 1] in (b" ", b"\t"):
        start += 1
    if not source.startswith(profile.comment_mark, start):
        return position
    end = source.find(b"\n", start)
    end = len(source) if end < 0 else end
    return end - 1 if source[end - 1 : end] == b"\r" else end


class FileElement(Element):
    """The content of a whole file, with the syntax tree that it was read from."""

    __slots__ = ("tree",)

    def __init__(self, source: bytes, profile: Profile, tree: Tree) -> None:
        """Make the statements of `source`, which tile it."""
        root = tree.root_node
        nodes = [child for child in root.children if _is_entry(child, profile)]
        super().__init__(source, profile, root, (0, len(source)), 0, nodes, f"{root.type}.{ITEMS}")
        self.tree = tree
