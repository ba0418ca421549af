"""Read syntax trees: the children of a node, expressions as text, annotations as the one class that they name."""

import ast
from collections.abc import Iterator
from typing import Final

from commonhold.code.regions.python_ast import UNREADABLE, parse_expression

# Fields that hold no names and no statements, or no nodes at all.
_MARKS: Final = frozenset(
    {"ctx", "op", "ops", "kind", "type_comment", "type_ignores", "id", "attr", "arg", "module", "level", "asname"}
)


class _Fields(dict[type, tuple[str, ...]]):
    """The fields to visit, by the kind of node."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        names = () if kind is ast.Constant else kind._fields
        self[kind] = tuple(name for name in names if name not in _MARKS)
        return self[kind]


_FIELDS: Final = _Fields()


def parts_of(node: ast.AST) -> list[ast.AST]:
    """Return the direct children of a node, in order, without operators and contexts; faster than `ast` does."""
    found: list[ast.AST] = []
    kind = type(node)
    for name in _FIELDS[kind] if kind is not ast.AST else node._fields:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all nodes below it, in no particular order."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending += parts_of(current)


def dotted(node: ast.AST | None) -> str:
    """Return `a.b.c` as text; empty for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def without_none(annotation: ast.expr) -> ast.expr | None:
    """Return the annotation, parsed if it is a string, without `None` and `Optional`; None if it is not one class."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = parse_expression(annotation.value.strip())
        except UNREADABLE:
            return None
    if isinstance(annotation, ast.Subscript) and dotted(annotation.value).rpartition(".")[2] == "Optional":
        return without_none(annotation.slice)
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        sides = [side for side in (annotation.left, annotation.right) if not _is_none(side)]
        return without_none(sides[0]) if len(sides) == 1 else None
    return annotation


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
