"""From a syntax tree to the definitions of a file and the lines that they span."""

import unicodedata
from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node

from commonhold.regions.encoding import BLANK, head_end
from commonhold.regions.language import LONE_RETURN, Language
from commonhold.regions.region import Problem, Span

TOP: Final = -1
_TAB_WIDTH: Final = 8
_INDENT: Final = b" \t\f"


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or class: whole lines, its comments and decorators included.

    `container` is the index of the class around it in the outline, or TOP. `is_inline` says that a class has its body
    on the line of its name.
    """

    name: str
    is_class: bool
    span: Span
    container: int
    is_inline: bool = False


@dataclass(frozen=True, slots=True)
class Break:
    """Where a file stops making sense: the problem, and the start of the first broken line."""

    problem: Problem
    row_start: int


def outline(root: Node, source: bytes, language: Language, first_break: Break | None) -> list[Definition]:
    """All definitions outside functions that end before the break, in file order, a class before its contents."""
    sound_end = first_break.row_start if first_break else len(source)
    walk = _Walk(source, language, sound_end, head_end(source, language))
    stack = [(child, TOP) for child in reversed(root.children)]
    while stack:
        node, container = stack.pop()
        stack.extend(walk.visit(node, container))
    return walk.found


def find_break(root: Node, source: bytes, language: Language) -> Break | None:
    """The first node that is wrong or missing, in file order."""
    if not root.has_error:
        return None
    node = _first_broken(root, language)
    line, column = node.start_point.row + 1, node.start_point.column + 1
    what = f"{node.type!r} is missing" if node.is_missing else "the syntax breaks here"
    problem = Problem("SYNTAX", f"line {line}, column {column}: {what}", (node.start_byte, node.end_byte))
    return Break(problem, line_start(source, node.start_byte))


def lone_return(root: Node, source: bytes, language: Language) -> Problem | None:
    """The first carriage return outside of strings that ends a line for the language, but not in the syntax tree."""
    for match in LONE_RETURN.finditer(source):
        node = root.descendant_for_byte_range(match.start(), match.end())
        while node is not None and node.type != language.text_kind:
            node = node.parent
        if node is None:
            line = source.count(b"\n", 0, match.start()) + 1
            message = f"line {line}: a carriage return without a line feed ends a line here; regions cannot be told"
            return Problem("SYNTAX", message, match.span())
    return None


def _first_broken(root: Node, language: Language) -> Node:
    """The deepest first node with an error; whole statements at the start of an error node are sound."""
    node = root
    while node.has_error:
        is_loose = node.is_error
        broken = next((child for child in node.children if _is_broken(child, language, is_loose=is_loose)), None)
        if broken is None:
            break
        node = broken
    return node


def _is_broken(node: Node, language: Language, *, is_loose: bool) -> bool:
    is_whole = node.type == language.comment_kind or node.type.endswith(language.statement_suffixes)
    return node.has_error or (is_loose and not is_whole)


@dataclass(slots=True)
class _Walk:
    """The state of one walk.

    `code_end` is the end of the last code met, `last_end` the end of the last definition in each container.
    """

    source: bytes
    language: Language
    sound_end: int
    head: int
    code_end: int = 0
    last_end: dict[int, int] = field(default_factory=dict)
    found: list[Definition] = field(default_factory=list)

    def visit(self, node: Node, container: int) -> list[tuple[Node, int]]:
        """Note what `node` is; the children to visit next, last first."""
        kind = node.type
        if kind in self.language.definition_kinds:
            return self._define(node, kind, container)
        if kind in self.language.wrapper_kinds or node.is_error:
            return [(child, container) for child in reversed(node.children)]
        if kind != self.language.comment_kind:
            self.code_end = node.end_byte
        return []

    def _define(self, node: Node, kind: str, container: int) -> list[tuple[Node, int]]:
        inner = (node.child_by_field_name("definition") or node) if kind == self.language.decorated_kind else node
        is_class = inner.type in self.language.class_kinds
        span = self._span(node, container)
        if span is None:
            self.code_end = node.end_byte
            return []
        index = len(self.found)
        self.found.append(Definition(_name(inner), is_class, span, container, is_class and self._is_inline(inner)))
        self.last_end[container] = span[1]
        if is_class:
            return [(child, index) for child in reversed(inner.children)]
        self.code_end = node.end_byte
        return []

    def _span(self, node: Node, container: int) -> Span | None:
        """The whole lines of a definition; None if it shares its first line, or reaches into what is broken."""
        start = max(line_start(self.source, node.start_byte), self.head)
        floor = max(self.head, self.last_end.get(container, 0), self._code_line_end())
        indent = self.source[start : node.start_byte]
        if start < floor or indent.strip(_INDENT):
            return None
        width = _width(indent)
        end = self._tail_end(line_end(self.source, self._last_code(node) - 1), width)
        if end > self.sound_end:
            return None
        limit = len(self.source) if container == TOP else self.found[container].span[1]
        return self._comments_start(start, width, floor), min(end, limit)

    def _code_line_end(self) -> int:
        return line_end(self.source, self.code_end - 1) if self.code_end else 0

    def _last_code(self, node: Node) -> int:
        """The end of the last code in a definition; a comment at the end of its block is judged by lines instead."""
        last: Node | None = node
        while last is not None and last.type in self.language.nested_kinds:
            node, last = last, self._last_child(last)
        return (last or node).end_byte

    def _last_child(self, node: Node) -> Node | None:
        for index in range(node.child_count - 1, -1, -1):
            child = node.child(index)
            if child.type != self.language.comment_kind:
                return child
        return None

    def _comments_start(self, start: int, width: int, floor: int) -> int:
        while start > floor:
            above = max(line_start(self.source, start - 1), floor)
            if self._comment_width(above, start) != width:
                break
            start = above
        return start

    def _tail_end(self, end: int, width: int) -> int:
        if not self.language.next_comment.match(self.source, end):
            return end
        position = end
        while position < len(self.source):
            start, position = position, line_end(self.source, position)
            if self.source[start:position].strip(BLANK):
                if self._comment_width(start, position) <= width:
                    break
                end = position
        return end

    def _comment_width(self, start: int, end: int) -> int:
        """The indent of a line with nothing but a comment; -1 for any other line."""
        line = self.source[start:end]
        text = line.lstrip(_INDENT)
        return _width(line[: len(line) - len(text)]) if text.startswith(self.language.comment_mark) else -1

    def _is_inline(self, node: Node) -> bool:
        body = node.child_by_field_name("body") or node
        return bool(self.source[line_start(self.source, body.start_byte) : body.start_byte].strip(_INDENT))


def _name(node: Node) -> str:
    """The name as Python compares it."""
    name = node.child_by_field_name("name") or node
    return unicodedata.normalize("NFKC", (name.text or b"").decode())


def _width(indent: bytes) -> int:
    return len(indent.rpartition(b"\f")[2].expandtabs(_TAB_WIDTH))


def line_start(source: bytes, position: int) -> int:
    """The start of the line that holds the byte at `position`."""
    return source.rfind(b"\n", 0, position) + 1


def line_end(source: bytes, position: int) -> int:
    """The byte after the line that holds the byte at `position`, its line end included."""
    return source.find(b"\n", position) + 1 or len(source)
