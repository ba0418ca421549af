"""Find the place from which the syntax of a file is broken."""

from collections.abc import Iterator

from tree_sitter import Node

from commonhold.code.regions.language import LONE_RETURN, Language
from commonhold.code.regions.lines import line_start
from commonhold.code.regions.outline import Break
from commonhold.code.regions.region import Problem


def find_break(root: Node, source: bytes, language: Language) -> Break | None:
    """Return the first node that is an error or missing, in file order."""
    if not root.has_error:
        return None
    node = _first_broken(root, language)
    return Break(problem_at(node), line_start(source, node.start_byte))


def problem_at(node: Node) -> Problem:
    """Return the problem at a node that is an error, or missing."""
    line, column = node.start_point.row + 1, node.start_point.column + 1
    what = f"{node.type!r} is missing" if node.is_missing else "the syntax breaks here"
    return Problem("SYNTAX", f"line {line}, column {column}: {what}", (node.start_byte, node.end_byte))


def errors(root: Node) -> Iterator[Node]:
    """Yield the nodes that are errors or missing, in file order; those inside of another error are left out."""
    stack = [root] if root.has_error else []
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            yield node
        elif node.has_error:
            stack.extend(reversed(node.children))


def find_imbalance(root: Node, source: bytes, language: Language) -> Break | None:
    """Return the first bracket that has no partner; if a language has no brackets, the first error."""
    for node in errors(root):
        loose = _unpaired(node, language)
        if loose is not None:
            # A bracket missing at the end is reported on the line with the last code.
            at = len(source[: loose.start_byte].rstrip()) if loose.is_missing else loose.start_byte
            return Break(problem_at(node), line_start(source, at))
    return None


def _unpaired(node: Node, language: Language) -> Node | None:
    """Return the first token of an error that opens and is never closed, or closes without an opening one."""
    if not language.brackets or node.is_missing:
        return node if not language.brackets or node.type in language.brackets else None
    opened: list[Node] = []
    for token in _tokens(node):
        change = language.brackets.get(token.type, 0)
        if change > 0:
            opened.append(token)
        elif change < 0 and not opened:
            return token
        elif change < 0:
            opened.pop()
    return opened[0] if opened else None


def _tokens(node: Node) -> Iterator[Node]:
    """Yield the loose tokens of an error; whole nodes in it are sound, except for missing parts."""
    for child in node.children:
        if child.is_error:
            yield from _tokens(child)
        else:
            yield child


def lone_return(root: Node, source: bytes, language: Language) -> Problem | None:
    """Return the first carriage return outside of strings that ends a line for the language, but not in the tree."""
    for match in LONE_RETURN.finditer(source):
        node = root.descendant_for_byte_range(match.start(), match.end())
        while node is not None and node.type != language.text_kind:
            node = node.parent
        if node is None:
            line = source.count(b"\n", 0, match.start()) + 1
            message = (
                f"line {line}: a carriage return without a line feed ends a line here, so the regions cannot be found"
            )
            return Problem("SYNTAX", message, match.span())
    return None


def _first_broken(root: Node, language: Language) -> Node:
    """Return the deepest first node with an error; whole statements at the start of an error node are sound."""
    node = root
    while node.has_error:
        is_loose = node.is_error
        broken = next((child for child in node.children if _is_broken(child, language, is_loose=is_loose)), None)
        if broken is None:
            break
        node = broken
    return node


def _is_broken(node: Node, language: Language, *, is_loose: bool) -> bool:
    is_whole = node.type in language.comment_kinds or node.type.endswith(language.statement_suffixes)
    return node.has_error or (is_loose and not is_whole)
