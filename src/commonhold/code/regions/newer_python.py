"""Rewrite newer Python as older Python, to find out whether a text is only too new for the running one.

Each line stays on its line. The result is only for parsing: it has another meaning when it runs.
"""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from commonhold.code.regions.budget import BudgetExceededError
from commonhold.code.regions.language import parse
from commonhold.code.regions.languages.python import PYTHON
from commonhold.code.regions.python_ast import UNREADABLE, parse_expression

_TEMPLATE: Final = re.compile(rb"(?<![\w])([rR]?)[tT]([rR]?)(?=['\"])")  # 3.14: t"…"
_LAZY: Final = re.compile(rb"^([ \t]*)lazy[ \t]+(?=(?:import|from)\b)", re.MULTILINE)  # 3.15
_ALIAS: Final = re.compile(rb"^([ \t]*)type[ \t]+(?=\w+[ \t]*[\[=])", re.MULTILINE)  # 3.12: type X = …
_CATCH: Final = re.compile(
    rb"^([ \t]*except\*?[ \t]+)([^:()#\n]+,[^:()#\n]+?)([ \t]*:)", re.MULTILINE
)  # 3.14: except A, B:
_PARAMETERS: Final = re.compile(rb"^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+\w+[ \t]*(?=\[)", re.MULTILINE)  # 3.12
_ALIASED: Final = re.compile(rb"^[ \t]*\w+[ \t]*(?=\[)", re.MULTILINE)
_LETTERS: Final = re.compile(rb"(?:def|class|type)[ \t]+\w+[ \t]*[\[=]|except[^:\n]*,|\blazy[ \t]|[fFtT][rR]?['\"]")
_MOST_PARAMETERS: Final = 2_000


def as_older_python(source: bytes) -> bytes | None:
    """Return the text in the syntax of Python 3.11; None if nothing in it is newer. Never raises."""
    if not _LETTERS.search(source):
        return None
    text = _TEMPLATE.sub(rb"\1f\2", source)
    text = _LAZY.sub(rb"\1", text)
    text = _CATCH.sub(rb"\1(\2)\3", text)
    text = _without_parameters(text, _PARAMETERS)
    aliased = _ALIAS.sub(rb"\1", text)
    text = _without_parameters(aliased, _ALIASED) if aliased != text else text
    text = _with_plain_strings(text)
    return text if text != source else None


def _without_parameters(text: bytes, heads: re.Pattern[bytes]) -> bytes:
    """Return the text without the brackets behind matches of `heads`; for an alias only if an assignment follows."""
    pieces, position = list[bytes](), 0
    for head in heads.finditer(text):
        end = _closing(text, head.end())
        follows = text[end : end + 3].strip()[:1] if end else b""
        if head.start() >= position and follows in ((b"=",) if heads is _ALIASED else (b"(", b":")):
            pieces += [text[position : head.end()], b"\\\n" * text.count(b"\n", head.end(), end)]
            position = end
    return b"".join((*pieces, text[position:]))


def _closing(text: bytes, start: int) -> int:
    """Return the place behind the bracket that closes the one at `start`; 0 if there is none near."""
    depth = 0
    for at in range(start, min(len(text), start + _MOST_PARAMETERS)):
        depth += {91: 1, 93: -1}.get(text[at], 0)
        if not depth:
            return at + 1
    return 0


def _with_plain_strings(text: bytes) -> bytes:
    """Return the text with plain strings for f-strings that only 3.12 and newer read: these allow any expression."""
    try:
        root = parse(text, PYTHON).root_node
    except BudgetExceededError:
        return text
    pieces, position = list[bytes](), 0
    for node in _formatted(root):
        own = text[node.start_byte : node.end_byte]
        if not _is_readable(own) and _is_sound(node):
            pieces += [text[position : node.start_byte], b"'''", b"\n" * own.count(b"\n"), b"'''"]
            position = node.end_byte
    return b"".join((*pieces, text[position:]))


def _formatted(root: Node) -> Iterator[Node]:
    """Yield the outermost f-strings."""
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type == "string" and b"f" in (node.children[0].text or b"").lower():
            yield node
        else:
            pending += reversed(node.children)


def _is_readable(text: bytes) -> bool:
    try:
        parse_expression(f"({text.decode()})")
    except UNREADABLE:
        return False
    return True


def _is_sound(node: Node) -> bool:
    """Whether all expressions in an f-string are valid, even if only in a newer Python."""
    if node.has_error:
        return False
    inside = [each for each in node.children if each.type == "interpolation"]
    expressions = [each.child_by_field_name("expression") for each in inside]
    return all(each is not None and _is_expression(each.text or b"") for each in expressions)


def _is_expression(text: bytes) -> bool:
    return _is_readable(text) or _is_readable(_with_plain_strings(text))
