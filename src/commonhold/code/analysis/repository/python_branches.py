"""Python: the names that some statements bind in all cases, as opposed to those bound in one branch only."""

import ast
from collections.abc import Iterable
from typing import Final

from commonhold.code.analysis.scopes import DELETED, bound_names

_LEAVES: Final = ast.Raise | ast.Return | ast.Continue | ast.Break
Names = frozenset[str]


def surely_bound(body: Iterable[ast.stmt]) -> Names:
    """Return the names that are bound once the statements have run to their end."""
    return frozenset[str]().union(*map(_by_statement, body))


def _by_statement(node: ast.stmt) -> Names:
    if isinstance(node, ast.If):
        return _by_either((node.body, node.orelse))
    if isinstance(node, ast.Try):
        handled = _by_either(([*node.body, *node.orelse], *(clause.body for clause in node.handlers)))
        return handled | surely_bound(node.finalbody)
    if isinstance(node, ast.Match):
        return _by_either((*(case.body for case in node.cases), () if not _has_default(node) else node.cases[-1].body))
    if isinstance(node, ast.With | ast.AsyncWith):
        return surely_bound(node.body)
    if isinstance(node, ast.For | ast.AsyncFor | ast.While):
        return surely_bound(node.orelse)
    return frozenset(bound.name for bound in bound_names([node]) if bound.origin != DELETED)


def _by_either(branches: Iterable[Iterable[ast.stmt]]) -> Names:
    """Return the names bound by every branch that continues to the next statement."""
    bodies = [list(branch) for branch in branches]
    found = [surely_bound(body) for body in bodies if not body or not isinstance(body[-1], _LEAVES)]
    return frozenset.intersection(*found) if found else frozenset()


def _has_default(node: ast.Match) -> bool:
    last = node.cases[-1]
    return isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
