"""Find the errors of a syntax tree that are new."""

from collections.abc import Sequence

from tree_sitter import Node

from commonhold.code.regions.breaks import errors, problem_at
from commonhold.code.regions.budget import BudgetExceededError
from commonhold.code.regions.language import Language, parse
from commonhold.code.regions.lines import line_end, line_start
from commonhold.code.regions.region import PARSE_BUDGET, Problem, Span


def new_error(before: bytes | None, after: bytes, language: Language) -> Problem | None:
    """Return the first error in `after` that has no counterpart in `before`.

    An unchanged line keeps its error; so does an edited one, as long as there are not more errors. A file whose syntax
    takes too much work to read is an error like any other, and if `before` is one, all errors may be old.
    """
    try:
        found = list(errors(parse(after, language).root_node))
    except BudgetExceededError as error:
        is_old = before is not None and _exceeds(before, language)
        return None if is_old else Problem(PARSE_BUDGET, str(error), (0, len(after)))
    if not found or before is None:
        return problem_at(found[0]) if found else None
    try:
        old = list(errors(parse(before, language).root_node))
    except BudgetExceededError:
        return None
    new, gone = _unmatched(before, old, after, found)
    old_window, new_window = _windows(before, after)
    spare = sum(_meets(node, old_window) for node in gone)
    for node in new:
        if not spare or not _meets(node, new_window):
            return problem_at(node)
        spare -= 1
    return None


def _exceeds(source: bytes, language: Language) -> bool:
    try:
        parse(source, language)
    except BudgetExceededError:
        return True
    return False


def _unmatched(before: bytes, old: Sequence[Node], after: bytes, new: Sequence[Node]) -> tuple[list[Node], list[Node]]:
    """Return the new errors without an old one of the same kind on the same line, and the remaining old ones."""
    left: dict[tuple[str, bytes], list[Node]] = {}
    for node in old:
        left.setdefault(_sign(before, node), []).append(node)
    unmatched: list[Node] = []
    for node in new:
        same = left.get(_sign(after, node))
        if same:
            same.pop()
        else:
            unmatched.append(node)
    return unmatched, [node for nodes in left.values() for node in nodes]


def _sign(source: bytes, node: Node) -> tuple[str, bytes]:
    at = node.start_byte
    return f"{node.type}{node.is_missing}", source[line_start(source, at) : line_end(source, at)].strip()


def _windows(before: bytes, after: bytes) -> tuple[Span, Span]:
    """Return the bytes from the first line that differs to the last."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    head = next((index for index, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), None)
    if head is None:
        head = min(len(old), len(new))
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    start = sum(map(len, old[:head]))
    ends = (sum(map(len, lines[: len(lines) - tail])) for lines in (old, new))
    old_end, new_end = ends
    return (start, old_end), (start, new_end)


def _meets(node: Node, window: Span) -> bool:
    return window[0] <= node.start_byte <= window[1]
