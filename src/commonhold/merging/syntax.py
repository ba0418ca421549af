"""Questions about a syntax node that several rules of merging ask: its tree, its text, the name that it declares."""

from tree_sitter import Node


def root_of(node: Node) -> Node:
    """Return the root of the tree that a node stands in."""
    while node.parent is not None:
        node = node.parent
    return node


def text_of(node: Node | None) -> bytes:
    """Return the text of a node; empty if there is none."""
    return (node.text or b"") if node is not None else b""


def field_text(node: Node, field: str) -> bytes:
    """Return the text of a child by the name of its field; empty if there is none."""
    return text_of(node.child_by_field_name(field))


def innermost(declarator: Node) -> Node:
    """Return the declarator, within others as C nests them, that is only a name or an operator."""
    while (inner := declarator.child_by_field_name("declarator")) is not None:
        declarator = inner
    return declarator


def declared_name(definition: Node) -> Node | None:
    """Return the node that names a definition, below all of its declarators; None if it has no name."""
    found = definition.child_by_field_name("name") or definition.child_by_field_name("declarator")
    return innermost(found) if found is not None else None
