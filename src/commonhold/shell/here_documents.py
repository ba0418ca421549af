"""Here-documents in a line of shell, rewritten as input files, since the grammar loses the rest of their line. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from commonhold.code.regions.language import parse
from commonhold.code.regions.languages.scripting import SHELL

_PLACE: Final = "/dev/commonhold/here/"
_MOST_ROUNDS: Final = 8
_QUOTED: Final = re.compile(rb"['\"\\]")
_ESCAPED: Final = re.compile(r"\\([$`\\\n])")
_TABS: Final = re.compile(r"^\t+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class HereDocument:
    """A command's input, with `$x` left unexpanded; and the syntax of the expansions in it."""

    text: str
    expanded: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """A line of shell, and the here-documents that its syntax names as files."""

    root: Node
    documents: Sequence[HereDocument]

    def document(self, path: str) -> HereDocument | None:
        """Return the here-document that a path stands for; None if it is a file."""
        number = path.removeprefix(_PLACE)
        is_one = number != path and number.isdecimal() and int(number) < len(self.documents)
        return self.documents[int(number)] if is_one else None


def line_of(text: str) -> Line:
    """Parse a line. Raises BudgetExceededError."""
    source = text.encode("utf-8", "replace")
    documents: list[HereDocument] = []
    root = parse(source, SHELL).root_node
    # Of two here-documents on one line the grammar sees the second once the first is gone.
    for _ in range(_MOST_ROUNDS):
        parts, at = [], 0
        for operator, name, body, end in _redirects(root):
            place = f"<{_PLACE}{len(documents)} ".encode()
            parts += [source[at : operator.start_byte], place, source[name.end_byte : body.start_byte]]
            documents.append(_document(operator, name, body))
            at = end.end_byte
        if not parts:
            break
        source = b"".join((*parts, source[at:]))
        root = parse(source, SHELL).root_node
    return Line(root, documents)


def _redirects(node: Node) -> Iterator[tuple[Node, Node, Node, Node]]:
    """Yield the operator, word, text and end word of each here-document; not of those nested in another."""
    if node.type == "heredoc_redirect":
        found = {child.type: child for child in node.children}
        operator = found.get("<<") or found.get("<<-")
        name, body, end = (found.get(f"heredoc_{part}") for part in ("start", "body", "end"))
        if operator and name and body and end:
            yield operator, name, body, end
    else:
        for child in node.children:
            yield from _redirects(child)


def _document(operator: Node, name: Node, body: Node) -> HereDocument:
    is_quoted = bool(_QUOTED.search(name.text or b""))
    expanded = () if is_quoted else tuple(each for each in body.named_children if each.type != "heredoc_content")
    text = unescaped(body, expanded, _ESCAPED) if not is_quoted else (body.text or b"").decode("utf-8", "replace")
    return HereDocument(_TABS.sub("", text) if operator.type == "<<-" else text, expanded)


def unescaped(node: Node, expanded: Iterable[Node], escaped: re.Pattern[str]) -> str:
    """Return the text of a node without the backslashes that `escaped` matches; expansions in it stay unchanged."""
    text, start = node.text or b"", node.start_byte
    parts, at = [], 0
    for each in expanded:
        parts += [_plain(text[at : each.start_byte - start], escaped), (each.text or b"").decode("utf-8", "replace")]
        at = each.end_byte - start
    return "".join((*parts, _plain(text[at:], escaped)))


def _plain(text: bytes, escaped: re.Pattern[str]) -> str:
    return escaped.sub(lambda match: "" if match[1] == "\n" else match[1], text.decode("utf-8", "replace"))
