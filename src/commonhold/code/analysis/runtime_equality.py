"""Whether two versions of a file behave alike at run time: annotations do not count."""

import ast

from commonhold.code.regions.python_ast import UNREADABLE, parse_module


def differ_at_run_time(before: bytes, after: bytes) -> bool:
    """Whether anything besides annotations, comments and layout differs. Text that Python does not parse differs."""
    try:
        return _erased(before) != _erased(after)
    except UNREADABLE:
        return before != after


def _erased(source: bytes) -> str:
    tree = parse_module(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            node.annotation = ast.Constant(None)
    return ast.dump(tree)
