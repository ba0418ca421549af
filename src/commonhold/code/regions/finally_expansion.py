"""How much Python's compiler multiplies a source: it copies the code under `finally` once for each way out.

The ways out of nested blocks multiply each other, so that a kilobyte of them can keep the compiler, and with it the
interpreter lock, for minutes. Nothing else in the language is known to do so.
"""

import ast
import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

import tree_sitter

from commonhold.code.regions.budget import BudgetExceededError
from commonhold.code.regions.language import grammar_of, parse
from commonhold.code.regions.languages import PYTHON
from commonhold.code.regions.python_ast import UNREADABLE, parse_module

_WAY_OUT: Final = re.compile(rb"\b(?:return|break|continue)\b")
# A hundred thousand statements are compiled in a tenth of a second.
_MOST_STATEMENTS: Final = 100_000
_BYTES_A_STATEMENT: Final = 8
# The compiler refuses blocks that are nested more deeply.
_MOST_NESTED: Final = 20
_WAYS_OUT: Final = (ast.Return, ast.Break, ast.Continue)
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_PARTS: Final = ("body", "handlers", "orelse", "cases")


def multiplies(source: bytes) -> bool:
    """Whether copies turn a source into so many statements that compiling it blocks others.

    Never raises: a text that does not parse is not compiled either.
    """
    count = source.count(b"finally")
    if not count:
        return False
    most = _MOST_STATEMENTS + len(source)
    ways_out = len(_WAY_OUT.findall(source)) + 2
    # Few files come near the limit by their words, and fewer by their blocks; only those are examined.
    if ways_out ** min(count, _MOST_NESTED) * len(source) // _BYTES_A_STATEMENT <= most:
        return False
    if _copied_bytes(source) // _BYTES_A_STATEMENT <= most:
        return False
    try:
        tree = parse_module(source)
    except UNREADABLE:
        return False
    return _compiled(tree.body)[0] > most


_Block = tuple[int, int, int]
"""Where a `try` statement with `finally` begins, where that clause begins, and where both end."""


@cache
def _clauses() -> tree_sitter.Query:
    ways_out = "[(return_statement) (break_statement) (continue_statement)] @out"
    return tree_sitter.Query(grammar_of(PYTHON), f"(try_statement (finally_clause) @final) {ways_out}")


def _copied_bytes(source: bytes) -> float:
    """Return the length of a source with its copies, as its syntax tree shows them; infinite if that is not sound."""
    try:
        root = parse(source, PYTHON).root_node
        if root.has_error:
            return math.inf
        found = tree_sitter.QueryCursor(_clauses()).captures(root)
        around = ((each.parent, each) for each in found.get("final", ()))
        blocks = sorted((outer.start_byte, each.start_byte, each.end_byte) for outer, each in around if outer)
        return _copied(0, len(source), blocks, sorted(each.start_byte for each in found.get("out", ())))[0]
    except (BudgetExceededError, RecursionError):
        return math.inf


def _copied(start: int, end: int, blocks: Sequence[_Block], ways_out: Sequence[int]) -> tuple[int, int]:
    """Return how many bytes the compiler makes of those from `start` to `end`, and with how many ways out.

    `blocks` are those in them, `ways_out` all of the source; both are sorted.
    """
    size, out = end - start, _between(ways_out, start, end)
    at = 0
    while at < len(blocks):
        first, final, last = blocks[at]
        middle = bisect_left(blocks, (final, 0, 0), at + 1)
        after = bisect_left(blocks, (last, 0, 0), middle)
        own, own_out = _copied(first, final, blocks[at + 1 : middle], ways_out)
        copy, copy_out = _copied(final, last, blocks[middle:after], ways_out)
        # Once for each way out, once for the end, once for an exception.
        size += own + (own_out + 2) * copy - (last - first)
        out += own_out + (own_out + 2) * copy_out - _between(ways_out, first, last)
        at = after
    return size, out


def _between(places: Sequence[int], start: int, end: int) -> int:
    return bisect_left(places, end) - bisect_left(places, start)


def _compiled(body: Iterable[ast.AST]) -> tuple[int, int]:
    """Return how many statements the compiler makes of some, and how many ways out of them there are then."""
    statements = ways_out = 0
    pending = [*body]
    while pending:
        node = pending.pop()
        statements += 1
        ways_out += isinstance(node, _WAYS_OUT)
        if isinstance(node, _DEFINITIONS):
            statements += _compiled(node.body)[0]
        elif isinstance(node, ast.Try | ast.TryStar) and node.finalbody:
            own, out = _compiled([*node.body, *node.handlers, *node.orelse])
            final, final_out = _compiled(node.finalbody)
            # Once for each way out, once for the end, once for an exception.
            statements += own + (out + 2) * final
            ways_out += out + (out + 2) * final_out
        else:
            pending.extend(child for part in _PARTS for child in getattr(node, part, ()))
    return statements, ways_out
