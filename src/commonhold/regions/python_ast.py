"""Python's own syntax trees, for many threads at once.

CPython before 3.11.8 and 3.12.2 counts how deep it is in a tree in one place for all threads
(https://github.com/python/cpython/issues/106905), so a parse can fail because another one is under way. It is repeated.
"""

import ast
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

MOST_TRIES: Final = 100


def parse_module(source: bytes | str) -> ast.Module:
    """As `ast.parse`. Raises SyntaxError, ValueError, RecursionError and MemoryError like it."""
    return _repeated(lambda: ast.parse(source))


def parse_expression(text: str) -> ast.expr:
    """The tree of one expression. Raises like `parse_module`."""
    return _repeated(lambda: ast.parse(text, mode="eval")).body


def _repeated(parse: Callable[[], T]) -> T:
    for _ in range(MOST_TRIES - 1):
        try:
            return parse()
        except SystemError:
            continue
    return parse()
