"""Whether a call passes arguments by position to a function with new parameters, so that they may be misplaced."""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from commonhold.merging.layout import Element

_BY_NAME: Final = frozenset({"dictionary_splat", "hash_splat_argument", "keyword_argument"})
_SPREAD: Final = frozenset(
    {"list_splat", "splat_argument", "spread_element", "variadic_argument", "variadic_unpacking"}
)


def reaches(code: Node, scope: tuple[Element, ...], place: int) -> bool:
    """Whether a call of the innermost function of `scope` in `code` may pass its parameter at `place`, counted from 0.

    The place counts the receiver of a method, if the function may be one.
    """
    names = {each.name for each in scope[-2:]}
    return any(_places(call) + (len(scope) > 1) > place for call in _calls(code, names))


def _calls(node: Node, names: set[bytes | None]) -> Iterator[Node]:
    called = node.child_by_field_name("function")
    if called is not None and (called.text or b"").rpartition(b".")[2] in names:
        yield node
    for child in node.named_children:
        yield from _calls(child, names)


def _places(call: Node) -> float:
    """Return how many arguments a call passes by position; more than any function takes if that is unknown."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None or any(each.type in _SPREAD for each in arguments.named_children):
        return float("inf")
    return sum(1 for each in arguments.named_children if each.type not in _BY_NAME and each.type != "comment")
