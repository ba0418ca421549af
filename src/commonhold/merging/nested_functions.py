"""Find functions that changed inside a changed statement: methods of an object literal, functions of a body."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from commonhold.merging.profile import Profile

# Values that are functions, where an entry of an object or a table gives them a name.
_VALUES: Final = frozenset({"arrow_function", "function_expression", "func_literal", "generator_function", "lambda"})
_ENTRIES: Final = frozenset({"keyed_element", "pair"})
_MEMBERS: Final = frozenset({"method", "method_declaration", "method_definition", "singleton_method"})


def changed_inside(old: Node, new: Node, profile: Profile) -> Iterator[bytes]:
    """Yield the names of functions that stand inside both nodes and differ; those of members begin with a dot."""
    before, after = _texts(old, profile), _texts(new, profile)
    yield from (name for name, texts in after.items() if name in before and before[name] != texts)


def _texts(root: Node, profile: Profile) -> dict[bytes, Counter[bytes]]:
    found: dict[bytes, Counter[bytes]] = {}
    for name, text in _named(root, profile):
        found.setdefault(name, Counter())[text] += 1
    return found


def _named(root: Node, profile: Profile) -> Iterator[tuple[bytes, bytes]]:
    stack = list(root.named_children)
    while stack:
        node = stack.pop()
        name = _name_of(node, profile)
        if name is not None:
            yield name, node.text or b""
        stack += node.named_children


def _name_of(node: Node, profile: Profile) -> bytes | None:
    if node.type in _ENTRIES:
        key, value = _entry(node)
        is_function = value is not None and value.type in _VALUES
        return b"." + key if is_function and key else None
    name = _given_name(node, profile) if node.type in profile.functions else b""
    if not name:
        return None
    return b"." + name if _is_member(node, profile) else name


def _given_name(node: Node, profile: Profile) -> bytes:
    """Return the name of a function without its parameters; in C and C++ it stands inside a declarator."""
    name = node.child_by_field_name("name")
    if name is not None:
        return name.text or b""
    naming = profile.naming.get(node.type)
    found = naming(node) if naming is not None else None
    return (found or "").encode().partition(b"(")[0]


def _entry(node: Node) -> tuple[bytes, Node | None]:
    """Return the key of an entry, without quotes, and its value."""
    key = node.child_by_field_name("key") or node.child_by_field_name("name")
    value = node.child_by_field_name("value")
    if (key is None or value is None) and len(node.named_children) == 2:  # noqa: PLR2004 - a key and a value
        key, value = node.named_children
    if value is not None and value.type == "literal_element":
        value = value.named_child(0)
    return (key.text or b"").strip(b"\"'`:[]") if key is not None else b"", value


def _is_member(node: Node, profile: Profile) -> bool:
    around = node.parent.parent if node.parent is not None else None
    return node.type in _MEMBERS or (around is not None and around.type in profile.classes)
