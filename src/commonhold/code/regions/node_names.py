"""Read the names that syntax nodes define."""

import json
import re
from collections.abc import Callable, Iterable
from typing import Final

from tree_sitter import Node

_MOST_READ: Final = 600
_QUALIFIER: Final = re.compile(r"(?:\w+(?:\.|::|\\))+(?=\w)|^(?:::|\\)")
_SPACE: Final = re.compile(r"\s+")
_SPACE_AT_SIGN: Final = re.compile(r"\s*([^\w\s])\s*")
_SEPARATOR: Final = re.compile(r"\s*(?:\.|::|\\)\s*")


def text_of(node: Node) -> str:
    """Return the text of a node, as much of it as a name can need."""
    return (node.text or b"")[:_MOST_READ].decode(errors="replace")


def field_name(node: Node) -> str | None:
    """Return the name in the field that most grammars have for it."""
    name = node.child_by_field_name("name")
    return text_of(name) if name is not None else None


def path_name(node: Node) -> str | None:
    """Return a name of several parts, with colons between them."""
    name = field_name(node)
    return None if name is None else colons(name)


def colons(name: str) -> str:
    """Return a qualified name as one part of a key: `A.B` and `A::B` become `A:B`."""
    return _SEPARATOR.sub(":", name).strip(":")


def fixed(name: str) -> Callable[[Node], str]:
    """Return a function that gives all nodes of a kind one name."""
    return lambda _: name


def unquoted(text: str) -> str:
    """Return the text between a pair of quotes; the text itself without quotes."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'`" else text


def json_text(node: Node) -> str:
    """Return the value of a JSON string."""
    text = text_of(node)
    try:
        return str(json.loads(text))
    except ValueError:
        return unquoted(text)


def first_of(node: Node, *kinds: str) -> Node | None:
    """Return the first child of one of some kinds."""
    return next((child for child in node.children if child.type in kinds), None)


def child_of(*kinds: str) -> Callable[[Node], Node | None]:
    """Return a function that finds the first child of some kinds."""
    return lambda node: first_of(node, *kinds)


def itself(node: Node) -> Node:
    """Return the node."""
    return node


def has(node: Node, *kinds: str) -> bool:
    """Whether a node has a child of one of some kinds."""
    return first_of(node, *kinds) is not None


def plain_type(text: str) -> str:
    """Return a type without the packages of its parts and without needless space."""
    return _SPACE.sub(" ", _SPACE_AT_SIGN.sub(r"\1", _QUALIFIER.sub("", text))).strip().replace("...", "[]")


def with_types(name: str, types: Iterable[str]) -> str:
    """Return a name with the types of its parameters, which distinguish overloads."""
    return f"{name}({','.join(plain_type(each) for each in types)})"
