"""The definitions of a language with indented blocks: Python."""

from dataclasses import dataclass, field

from tree_sitter import Node, Tree

from commonhold.code.regions.breaks import find_break, lone_return
from commonhold.code.regions.encoding import BLANK, head_end
from commonhold.code.regions.language import Language, parse
from commonhold.code.regions.lines import INDENT, line_end, line_start, width_of
from commonhold.code.regions.outline import TOP, Break, Definition, Outline
from commonhold.code.regions.region import Span


def outline_indented(source: bytes, language: Language, old: Tree | None = None) -> Outline:
    """Return the definitions outside functions; `old` is an edited tree of the former bytes to reuse."""
    tree = parse(source, language, old)
    if old is not None and tree.root_node.has_error:
        # Error recovery may differ in a reused tree; equality with a fresh one matters more than speed.
        tree = parse(source, language)
    return outline_of(tree, source, language)


def outline_of(tree: Tree, source: bytes, language: Language) -> Outline:
    """Return the definitions outside functions in the tree of a text."""
    if found := lone_return(tree.root_node, source, language):
        return Outline(problem=found, is_whole=True)
    first_break = find_break(tree.root_node, source, language)
    definitions = _definitions(tree.root_node, source, language, first_break)
    return Outline(definitions, first_break.problem if first_break else None, tree=tree)


def _definitions(root: Node, source: bytes, language: Language, first_break: Break | None) -> list[Definition]:
    """Return all definitions outside functions that end before the break, in file order, containers first."""
    sound_end = first_break.row_start if first_break else len(source)
    walk = _Walk(source, language, sound_end, head_end(source, language))
    stack = [(child, TOP) for child in reversed(root.children)]
    while stack:
        node, container = stack.pop()
        stack.extend(walk.visit(node, container))
    return walk.found


def defined_in(node: Node) -> Node:
    """Return the definition inside a decorated one; any other itself."""
    return node.child_by_field_name("definition") or node


def end_of_definition(node: Node, source: bytes, language: Language) -> int:
    """Return the end of the lines of a definition, if no container ends earlier."""
    walk = _Walk(source, language, len(source), 0)
    width = width_of(source[line_start(source, node.start_byte) : node.start_byte])
    return walk.tail_end(line_end(source, walk.last_code(node) - 1), width)


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
        """Record `node`; return the children to visit next, last first."""
        kind = node.type
        if kind in self.language.rules:
            return self._define(node, container)
        if kind in self.language.wrapper_kinds or node.is_error:
            return [(child, container) for child in reversed(node.children)]
        if kind not in self.language.comment_kinds:
            self.code_end = node.end_byte
        return []

    def _define(self, node: Node, container: int) -> list[tuple[Node, int]]:
        inner = defined_in(node)
        is_class = inner.type in self.language.class_kinds
        span = self._span(node, container)
        if span is None:
            self.code_end = node.end_byte
            return []
        index = len(self.found)
        rule = self.language.rules[inner.type]
        body_end = None if is_class and self._is_inline(inner) else span[1]
        self.found.append(Definition(rule.name(inner) or "", rule.kind, span, container, body_end))
        self.last_end[container] = span[1]
        if is_class:
            return [(child, index) for child in reversed(inner.children)]
        self.code_end = node.end_byte
        return []

    def _span(self, node: Node, container: int) -> Span | None:
        """Return the whole lines of a definition; None if it shares its first line, or extends into the broken part."""
        start = max(line_start(self.source, node.start_byte), self.head)
        floor = max(self.head, self.last_end.get(container, 0), self._code_line_end())
        indent = self.source[start : node.start_byte]
        if start < floor or indent.strip(INDENT):
            return None
        width = width_of(indent)
        end = self.tail_end(line_end(self.source, self.last_code(node) - 1), width)
        if end > self.sound_end:
            return None
        limit = len(self.source) if container == TOP else self.found[container].span[1]
        return self._comments_start(start, width, floor), min(end, limit)

    def _code_line_end(self) -> int:
        return line_end(self.source, self.code_end - 1) if self.code_end else 0

    def last_code(self, node: Node) -> int:
        """Return the end of the last code in a definition; for a comment at the end of its block, the lines decide."""
        last: Node | None = node
        while last is not None and last.type in self.language.nested_kinds:
            children = (last.child(index) for index in range(last.child_count - 1, -1, -1))
            node, last = last, next((each for each in children if each.type not in self.language.comment_kinds), None)
        return (last or node).end_byte

    def _comments_start(self, start: int, width: int, floor: int) -> int:
        while start > floor:
            above = max(line_start(self.source, start - 1), floor)
            if self._commentwidth_of(above, start) != width:
                break
            start = above
        return start

    def tail_end(self, end: int, width: int) -> int:
        if not self.language.next_comment.match(self.source, end):
            return end
        position = end
        while position < len(self.source):
            start, position = position, line_end(self.source, position)
            if self.source[start:position].strip(BLANK):
                if self._commentwidth_of(start, position) <= width:
                    break
                end = position
        return end

    def _commentwidth_of(self, start: int, end: int) -> int:
        """Return the indent of a line with only a comment; -1 for any other line."""
        line = self.source[start:end]
        text = line.lstrip(INDENT)
        return width_of(line[: len(line) - len(text)]) if text.startswith(self.language.comment_mark) else -1

    def _is_inline(self, node: Node) -> bool:
        body = node.child_by_field_name("body") or node
        return bool(self.source[line_start(self.source, body.start_byte) : body.start_byte].strip(INDENT))
