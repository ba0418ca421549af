"""How much Python's compiler multiplies a source: it copies the code under `finally` once for each way out.

The ways out of nested blocks multiply each other, so that a kilobyte of them can keep the compiler, and with it the
interpreter lock, for minutes. Nothing else in the language is known to do so.
"""

import ast
import re
from collections.abc import Iterable
from typing import Final

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
    # Few files come near the limit by their words; only those are examined.
    if ways_out ** min(count, _MOST_NESTED) * len(source) // _BYTES_A_STATEMENT <= most:
        return False
    try:
        tree = parse_module(source)
    except UNREADABLE:
        return False
    return _compiled(tree.body)[0] > most


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
