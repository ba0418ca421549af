"""The definitions of a language whose syntax tree shows where they end: by braces, by words, by depth."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node, Tree

from commonhold.code.regions.breaks import errors, find_imbalance, problem_at
from commonhold.code.regions.encoding import BLANK, head_end
from commonhold.code.regions.language import Language, Rule, parse
from commonhold.code.regions.lines import INDENT, line_end, line_start, width_of
from commonhold.code.regions.node_names import first_of
from commonhold.code.regions.outline import TOP, Definition, Outline, tidy
from commonhold.code.regions.region import Problem, Span
from commonhold.kernel.keys import CONTAINERS

_OPENER: Final = "("
# Written code never nests a definition so deeply; a long chain would be walked once for each of its parts.
_MOST_SHELLS: Final = 20


def outline_nested(source: bytes, language: Language, _: Tree | None = None) -> Outline:
    """Return the definitions that are whole lines and end before the first bracket without a partner."""
    root = parse(source, language).root_node
    found_break = find_imbalance(root, source, language)
    problem = found_break.problem if found_break else first_problem(root)
    walk = _Walk(source, language, found_break.row_start if found_break else len(source), head_end(source, language))
    stack = [(child, TOP) for child in reversed(root.children)]
    while stack:
        node, container = stack.pop()
        stack.extend(walk.visit(node, container))
    return Outline(walk.found, problem, body_end=walk.file_end(root))


def first_problem(root: Node) -> Problem | None:
    """Return the first error of a tree."""
    return next((problem_at(node) for node in errors(root)), None)


@dataclass(slots=True)
class _Walk:
    """The state of one walk.

    `code_end` is the end of the last code met, `leads` are the comments and attributes met since; `last_end` is the
    end of the last definition in each container, `depths` how deeply each definition lies.
    """

    source: bytes
    language: Language
    sound_end: int
    head: int
    code_end: int = 0
    leads: list[Node] = field(default_factory=list)
    last_end: dict[int, int] = field(default_factory=dict)
    depths: dict[int, int] = field(default_factory=lambda: {TOP: 0})
    found: list[Definition] = field(default_factory=list)

    def file_end(self, root: Node) -> int | None:
        """Return where definitions can be added at the end of a file that is one body, such as JSON."""
        body = first_of(root, self.language.file_body) if self.language.file_body else None
        return self._body_end(root, root, body, (0, len(self.source))) if body is not None else None

    def visit(self, node: Node, container: int) -> Sequence[tuple[Node, int]]:
        """Record `node`; return the children to visit next, last first."""
        kind = node.type
        if kind in self.language.lead_kinds or self._is_comment(node):
            self.leads.append(node)
            return ()
        inner = self._unwrapped(node)
        rule = self.language.rules.get(inner.type)
        while rule is not None:
            name = rule.name(inner)
            if name is not None:
                return self._define(node, inner, rule, name, container)
            rule = rule.otherwise
        if kind in self.language.wrapper_kinds or node.is_error:
            return [(child, container) for child in reversed(node.children)]
        return self._pass(node)

    def _pass(self, node: Node) -> Sequence[tuple[Node, int]]:
        """Record that `node` is code of its surroundings."""
        if node.end_byte > node.start_byte:
            self.code_end = self._trimmed(node.end_byte)
            self.leads.clear()
        return ()

    def _unwrapped(self, node: Node) -> Node:
        """Return the node that carries the definition in `node`; a node with several in brackets carries none."""
        for _ in range(_MOST_SHELLS):
            if node.type not in self.language.shell_kinds:
                break
            inner = next((child for child in node.children if self._is_inner(child)), None)
            if inner is None or any(child.type == _OPENER for child in node.children):
                break
            node = inner
        return node

    def _is_inner(self, node: Node) -> bool:
        return node.type in self.language.rules or node.type in self.language.shell_kinds

    def _define(self, node: Node, inner: Node, rule: Rule, name: str, container: int) -> Sequence[tuple[Node, int]]:
        depth = self.depths[container]
        span = self._span(node, inner, container) if depth < self.language.max_depth else None
        if span is None:
            return self._pass(node)
        index = len(self.found)
        self.leads.clear()
        self.last_end[container] = span[1]
        if rule.kind not in CONTAINERS:
            self.found.append(Definition(tidy(name), rule.kind, span, container))
            return self._pass(node)
        body = rule.body(inner)
        self.found.append(Definition(tidy(name), rule.kind, span, container, self._body_end(node, inner, body, span)))
        self.depths[index] = depth + 1
        if body is None:
            return self._pass(node)
        self.code_end = max(self.code_end, self._trimmed(body.start_byte))
        return [(child, index) for child in reversed(body.children)]

    def _span(self, node: Node, inner: Node, container: int) -> Span | None:
        """Return the whole lines of a definition; None if it shares a line, or extends into the broken part."""
        floor = max(self.head, self.last_end.get(container, 0), self._code_line_end())
        own = self._first_own(node)
        start = max(line_start(self.source, own), self.head)
        # A container begins with a line of its own.
        if container != TOP and start <= self.found[container].span[0]:
            return None
        if start < floor or self.source[start:own].strip(INDENT):
            return None
        closing = self._closing(node)
        last = self._last_code(inner) if inner.end_byte == node.end_byte else node.end_byte
        code_end = self._trimmed(closing.end_byte if closing else last)
        end = line_end(self.source, code_end - 1)
        if code_end <= own or not self.language.tail.fullmatch(self.source, code_end, end):
            return None
        if self.language.open_kinds:
            end = self._tail_end(end, width_of(self.source[start:own]))
        if end > self.sound_end:
            return None
        return self._comments_start(start, own, floor), end

    def _first_own(self, node: Node) -> int:
        """Return the start of the definition with its attributes, and with the text between them."""
        kinds = self.language.lead_kinds
        while self.leads and self.leads[0].start_byte < self.head:
            self.leads.pop(0)
        own = next((index for index, lead in enumerate(self.leads) if lead.type in kinds), None)
        if own is None:
            return node.start_byte
        start = self.leads[own].start_byte
        del self.leads[own:]
        return start

    def _comments_start(self, start: int, own: int, floor: int) -> int:
        """Return the start of the comments that stand directly above, at the same indent."""
        width = width_of(self.source[start:own])
        for lead in reversed(self.leads):
            above = max(line_start(self.source, lead.start_byte), self.head)
            indent = self.source[above : lead.start_byte]
            last = self._trimmed(lead.end_byte)
            is_alone = not (indent + self.source[last:start]).strip(BLANK) and line_end(self.source, last - 1) == start
            if above < floor or not is_alone or width_of(indent) != width:
                break
            start = above
        return start

    def _code_line_end(self) -> int:
        return line_end(self.source, self.code_end - 1) if self.code_end else 0

    def _last_code(self, node: Node) -> int:
        """Return the end of the last code in a definition, without comments at the end if it lacks a last token."""
        last: Node | None = node
        while last is not None and last.type in self.language.open_kinds:
            node, last = last, next((each for each in reversed(last.children) if self._is_code(each)), None)
        return (last or node).end_byte

    def _is_code(self, node: Node) -> bool:
        return node.start_byte < node.end_byte and node.type not in self.language.comment_kinds

    def _is_comment(self, node: Node) -> bool:
        return node.type in self.language.comment_kinds and not self.language.loose_comment.match(
            self.source, node.start_byte, node.end_byte
        )

    def _closing(self, node: Node) -> Node | None:
        """Return the node that follows a definition and belongs to it."""
        following = node.next_sibling if self.language.closing_kinds else None
        return following if following is not None and following.type in self.language.closing_kinds else None

    def _tail_end(self, end: int, width: int) -> int:
        """Return the end of the comment lines below that are indented more deeply."""
        position = end
        while position < len(self.source):
            start, position = position, line_end(self.source, position)
            line = self.source[start:position]
            text = line.lstrip(INDENT)
            if text.startswith(self.language.comment_mark) and width_of(line[: len(line) - len(text)]) > width:
                end = position
            elif text.strip(BLANK):
                break
        return end

    def _trimmed(self, position: int) -> int:
        """Return the end of the last byte before a position that is not blank."""
        while position and self.source[position - 1] in BLANK:
            position -= 1
        return position

    def _body_end(self, node: Node, inner: Node, body: Node | None, span: Span) -> int | None:
        """Return where members can be added: above the line that ends the body."""
        lasts = (each.children[-1] for each in (body, inner, node) if each is not None and each.child_count)
        last = self._closing(node) or next((each for each in lasts if each.type in self.language.closers), None)
        if last is None:
            return span[1] if body is not None and body.type in self.language.open_kinds else None
        start = line_start(self.source, last.start_byte)
        is_alone = start > span[0] and not self.source[start : last.start_byte].strip(INDENT)
        return start if is_alone and start > node.start_byte else None
