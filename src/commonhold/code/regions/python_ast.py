"""Python's own syntax trees, for many threads at once.

CPython before 3.11.8 and 3.12.2 counts the depth in a tree in one place for all threads
(https://github.com/python/cpython/issues/106905), so a parse can fail because another one is running. It is then
repeated.
"""

import ast
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

MOST_TRIES: Final = 100
UNREADABLE: Final = (SyntaxError, ValueError, RecursionError, MemoryError)
"""The errors for a text that Python cannot parse."""


def parse_module(source: bytes | str) -> ast.Module:
    """Parse as `ast.parse` does. Raises UNREADABLE like it."""
    return repeated(lambda: ast.parse(source))


def parse_expression(text: str) -> ast.expr:
    """Return the tree of one expression. Raises like `parse_module`."""
    return repeated(lambda: ast.parse(text, mode="eval")).body


def repeated(parse: Callable[[], T]) -> T:
    """Return the result of `parse`, which makes a tree; repeat it if another thread's parse disturbed it."""
    for _ in range(MOST_TRIES - 1):
        try:
            return parse()
        except SystemError:
            continue
    return parse()
