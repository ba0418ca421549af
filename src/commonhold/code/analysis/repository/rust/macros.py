"""The content of a macro call's brackets: tokens, read as far as they look like calls, paths and names.

The expansion of the macro is unknown. An argument list is counted by its commas; if a closure or a generic may contain
some of those, the count is not trusted.
"""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from commonhold.code.analysis.chains import CALLED, INSTANCE, UNKNOWN, Chain
from commonhold.code.analysis.interface import CallShape
from commonhold.code.analysis.references import Use
from commonhold.code.analysis.repository.rust.expressions import SELF_TYPE, type_of_scope
from commonhold.code.analysis.repository.syntax import OUTSIDE, Scope, Walk, shape

_GROUP: Final = "token_tree"
_OPENING: Final = b"("
_JOINS: Final = frozenset({".", "::"})
_DOUBTFUL: Final = frozenset({"|", "||", "<", "=>", "..", "$"})
_NAMES: Final = frozenset({"identifier", "self", "super", "crate", "type_identifier"})
_LONGEST: Final = 10


def read_tokens(walk: Walk, group: Node, scope: Scope) -> None:
    """Record the uses in the tokens of one pair of brackets; groups inside are visited in turn."""
    steps: Chain = ()
    joined = False
    tokens = group.children[1:-1]
    for index, token in enumerate(tokens):
        kind = token.type
        if kind in _NAMES:
            following = tokens[index + 1] if index + 1 < len(tokens) else None
            called = _count(following) if following is not None and _is_list(walk, following) else None
            _note(walk, token, steps if joined else None, scope, called)
            steps = _extended(walk, token, steps, scope, joined=joined)
        elif kind == _GROUP:
            steps = (*steps, CALLED) if steps else UNKNOWN
        elif kind not in _JOINS:
            steps = ()
        joined = kind in _JOINS
    walk.push([token for token in tokens if token.type == _GROUP], scope)


def _extended(walk: Walk, token: Node, steps: Chain, scope: Scope, *, joined: bool) -> Chain:
    text = walk.text(token)
    if joined:
        return (*steps, text) if steps and len(steps) < _LONGEST else UNKNOWN
    if text in ("self", SELF_TYPE):
        of = type_of_scope(scope)
        return of if text == SELF_TYPE or of == UNKNOWN else (*of, INSTANCE)
    return UNKNOWN if text in ("crate", "super") else (text,)


def _note(walk: Walk, token: Node, before: Chain | None, scope: Scope, called: CallShape | None) -> None:
    if token.type in ("self", "super", "crate") or walk.text(token) == SELF_TYPE:
        return
    plain = Use.NAME if before is None else Use.ATTRIBUTE
    chain = before if before is None else before or OUTSIDE
    walk.use(token, Use.CALL if called else plain, scope, chain, called)


def _is_list(walk: Walk, token: Node) -> bool:
    return token.type == _GROUP and walk.source.startswith(_OPENING, token.start_byte)


def _count(group: Node) -> CallShape:
    """Return the shape of a call by the commas between its brackets."""
    tokens = [each.type for each in group.children[1:-1]]
    if not tokens:
        return shape(0)
    if not _DOUBTFUL.isdisjoint(tokens):
        return shape(0, has_star=True)
    return shape(tokens.count(",") + (tokens[-1] != ","))


def tokens_of(node: Node) -> Iterator[Node]:
    """Yield the group of tokens of a macro call."""
    return (each for each in node.children if each.type == _GROUP)
