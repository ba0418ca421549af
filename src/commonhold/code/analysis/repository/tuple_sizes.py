"""Numbers of items: how many a function of Python returns in a tuple, into how many names a call of it is unpacked."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from commonhold.code.analysis.expressions import dotted, walk
from commonhold.code.analysis.interface import FunctionNode, has_yield, last_name, source_of
from commonhold.code.analysis.references import Reference

TAKES: Final = "takes {} items"
_GIVES: Final = "gives {} items"
_GIVEN: Final = re.compile(r"gives (\d+) items")
_UNPACKING: Final = re.compile(rb"^[^=\n#]*,[^=\n#]*=[^=]", re.MULTILINE)
_TRANSPARENT: Final = frozenset({"cache", "classmethod", "final", "lru_cache", "override", "staticmethod"})
_INNER: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def items_given(node: FunctionNode) -> frozenset[str]:
    """Return a modifier that says how many items a function returns in a tuple; none if that is not sure."""
    if not isinstance(node.body[-1], ast.Return | ast.If | ast.Try | ast.With | ast.Raise) or has_yield(node.body):
        return frozenset()
    if not {last_name(source_of(each)) for each in node.decorator_list} <= _TRANSPARENT:
        return frozenset()
    counts = set(map(_length, _returned(node.body)))
    return frozenset({_GIVES.format(*counts)}) if len(counts) == 1 and None not in counts else frozenset()


def with_unpacking(uses: Sequence[Reference], tree: ast.AST, text: bytes) -> Sequence[Reference]:
    """Return the uses, each call that is unpacked at once with the number of items that it must return."""
    if not _UNPACKING.search(text):
        return uses
    counts = {
        (call.lineno, dotted(call.func).rpartition(".")[2]): TAKES.format(count)
        for statement in walk(tree)
        if isinstance(statement, ast.Assign)
        for call in [statement.value.value if isinstance(statement.value, ast.Await) else statement.value]
        for count in map(_length, statement.targets)
        if isinstance(call, ast.Call) and count is not None
    }
    taken = [counts.get((use.line, use.name)) if use.shape is not None else None for use in uses]
    return [
        replace(use, expects=(*use.expects, each)) if each is not None else use
        for use, each in zip(uses, taken, strict=True)
    ]


def _returned(body: Iterable[ast.AST]) -> Iterator[ast.expr | None]:
    stack = [*body]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Return):
            yield node.value
        elif not isinstance(node, _INNER):
            stack += ast.iter_child_nodes(node)


def _length(node: ast.expr | None) -> int | None:
    """Return the number of items of a tuple that is written out; None for all other expressions."""
    is_listed = isinstance(node, ast.Tuple | ast.List) and not any(isinstance(each, ast.Starred) for each in node.elts)
    return len(node.elts) if is_listed and isinstance(node, ast.Tuple | ast.List) else None


def count_in(modifiers: Iterable[str]) -> str:
    """Return the number of items that a modifier of a function says it returns; empty if none does."""
    return next((found[1] for found in map(_GIVEN.fullmatch, modifiers) if found), "")
