"""Python's own syntax trees, for many threads at once.

CPython before 3.11.8 and 3.12.2 counts how deep it is in a tree in one place for all threads
(https://github.com/python/cpython/issues/106905), so a parse can fail because another one is under way. It is repeated.
"""

import ast
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

MOST_TRIES: Final = 100
UNREADABLE: Final = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What a text raises that Python cannot parse."""


def parse_module(source: bytes | str) -> ast.Module:
    """As `ast.parse`. Raises UNREADABLE like it."""
    return repeated(lambda: ast.parse(source))


def parse_expression(text: str) -> ast.expr:
    """The tree of one expression. Raises like `parse_module`."""
    return repeated(lambda: ast.parse(text, mode="eval")).body


def repeated(parse: Callable[[], T]) -> T:
    """What `parse` gives, which makes a tree, and is disturbed by no other thread that makes one."""
    for _ in range(MOST_TRIES - 1):
        try:
            return parse()
        except SystemError:
            continue
    return parse()
