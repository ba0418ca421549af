"""The order in which a class of C++ makes its members: that of their declarations, not that of the constructor's list.

If one side changed that order and the other wrote how members are made, a value may be read before it is there.
"""

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from commonhold.merging.changed_rows import changed_rows
from commonhold.merging.given_names import names_given_by
from commonhold.merging.layout import FileElement
from commonhold.merging.verdict import Reason, Spot


def initialised_otherwise(base: FileElement, ours: FileElement, theirs: FileElement) -> Iterator[Spot]:
    """Yield a spot for each side that put members in another order, if the other wrote how members are made."""
    if not (base.profile.node_effects.declared_first and base.profile.has_overloads):
        return
    for side, other in ((ours, theirs), (theirs, ours)):
        come = changed_rows(base.source, other.source)[1]
        row = next((each.start_point.row for each in come.nodes(other.node) if _makes_a_member(each)), None)
        if row is not None and _are_reordered(_orders(base.node), _orders(side.node)):
            why = "one side put the members of a class in another order, and the other wrote how members are made"
            rows = {"theirs" if side is ours else "ours": (row, row + 1)}
            yield Spot(Reason.INTERFERES, why, **rows)


def _makes_a_member(node: Node) -> bool:
    is_given = node.type == "field_declaration" and node.child_by_field_name("default_value") is not None
    return is_given or node.type == "field_initializer_list"


def _orders(root: Node) -> dict[bytes, Sequence[bytes]]:
    """Return the members of each class of a file in their order."""
    found: dict[bytes, Sequence[bytes]] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        stack += node.named_children
        name = node.parent.child_by_field_name("name") if node.parent is not None else None
        if node.type == "field_declaration_list" and name is not None:
            found[name.text or b""] = [each for child in node.named_children for each in names_given_by(child)]
    return found


def _are_reordered(before: dict[bytes, Sequence[bytes]], after: dict[bytes, Sequence[bytes]]) -> bool:
    """Whether members that some class has in both versions stand in another order."""
    for name in before.keys() & after.keys():
        old, new = before[name], after[name]
        if [each for each in old if each in new] != [each for each in new if each in old]:
            return True
    return False
