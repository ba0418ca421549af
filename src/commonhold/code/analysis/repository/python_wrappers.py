"""Decorators of Python that leave a function as its callers know it."""

import ast

from commonhold.code.analysis.expressions import walk
from commonhold.code.analysis.interface import FunctionNode, has_yield, last_name, source_of


def hands_on(node: FunctionNode) -> bool:
    """Whether a function, as a decorator, wraps its only argument in one that is called alike and returns the same.

    The wrapper takes `*args, **kwargs` and no more, and each of its results is that of one call with just these.
    """
    args, last = node.args, node.body[-1]
    taken = [*args.posonlyargs, *args.args]
    if len(taken) != 1 or args.vararg or args.kwarg or args.kwonlyargs or isinstance(node, ast.AsyncFunctionDef):
        return False
    if not isinstance(last, ast.Return) or not isinstance(last.value, ast.Name):
        return False
    inner = [each for each in node.body if isinstance(each, ast.FunctionDef)]
    is_only = len(inner) == 1 and inner[0].name == last.value.id and not _rebinds(node, inner[0])
    return is_only and _passes_on(inner[0], taken[0].arg)


def _rebinds(node: FunctionNode, inner: ast.FunctionDef) -> bool:
    """Whether something besides the wrapper's definition and its documentation happens."""
    others = [each for each in node.body[:-1] if each is not inner]
    return not all(isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in others)


def _passes_on(wrapper: ast.FunctionDef, function: str) -> bool:
    args = wrapper.args
    if not (args.vararg and args.kwarg) or args.posonlyargs or args.args or args.kwonlyargs:
        return False
    if has_yield(wrapper.body) or any(last_name(source_of(each)) != "wraps" for each in wrapper.decorator_list):
        return False
    call = f"{function}(*{args.vararg.arg}, **{args.kwarg.arg})"
    names = _holding(wrapper, call)
    results = [each.value for each in walk(wrapper) if isinstance(each, ast.Return)]
    is_ended = isinstance(wrapper.body[-1], ast.Return | ast.With | ast.Try)
    return is_ended and bool(results) and all(_is(value, call) or _source(value) in names for value in results)


def _holding(wrapper: ast.FunctionDef, call: str) -> frozenset[str]:
    """Return the local names that are bound once, to the result of the call."""
    nodes = [*walk(wrapper)]
    stored = [each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    assigned = (each for each in nodes if isinstance(each, ast.Assign) and _is(each.value, call))
    names = (target.id for each in assigned for target in each.targets if isinstance(target, ast.Name))
    return frozenset(name for name in names if stored.count(name) == 1)


def _is(value: ast.expr | None, call: str) -> bool:
    return isinstance(value, ast.Call) and _source(value) == call


def _source(value: ast.expr | None) -> str:
    """Return the normalised source of an expression; empty if there is none."""
    return source_of(value) if value is not None else ""
