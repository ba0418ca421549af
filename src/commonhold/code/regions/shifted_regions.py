"""Move the regions of a file after a change inside one function, which leaves the others unchanged.

So they are moved instead of found again. The syntax trees show that a change is of this kind: outside of the function
they are the same, and it still begins and ends in the same place.
"""

from tree_sitter import Node, Tree

from commonhold.code.regions.incremental_parse import Change, space_end
from commonhold.code.regions.indented import defined_in, end_of_definition
from commonhold.code.regions.language import Language
from commonhold.code.regions.region import Region, RegionMap, Span, hash_bytes

Steps = list[tuple[str, int, int, int]]
"""A node and those around it: kind, first byte, end, number of children."""


def shifted(
    before: RegionMap, after: bytes, language: Language, change: Change, trees: tuple[Tree, Tree]
) -> RegionMap | None:
    """Return the regions of `after`; None if they must be found from scratch.

    `trees` are that of `before`, edited by the change, and that of `after`.
    """
    edited, tree = trees
    if before.tree is None or before.problems or tree.root_node.has_error or b"\r" in after:
        return None
    region = next((each for each in before.regions if each.is_body and _is_around(each.spans[0], change)), None)
    if region is None or not _is_like_before(before, before.tree, after, tree, language, change):
        return None
    # The trees may differ from the last character before the change up to the next word, see `edited`.
    start = min(region.start, len(after[: change.start].rstrip()) - 1)
    end = space_end(after, change.moved(region.end))
    if not all(start <= each.start_byte and each.end_byte <= end for each in edited.changed_ranges(tree)):
        return None
    regions = tuple(_moved(each, after, change) for each in before.regions)
    ends = {key: change.moved(position) for key, position in before.body_ends.items()}
    return RegionMap(before.path, before.language, after, regions, body_ends=ends, tree=tree)


def _is_around(span: Span, change: Change) -> bool:
    return span[0] <= change.start and change.old_end <= span[1]


def _is_like_before(
    before: RegionMap, old_tree: Tree, after: bytes, tree: Tree, language: Language, change: Change
) -> bool:
    """Whether the outermost function around the change has the same name, place and end as before."""
    old = _function_around(old_tree.root_node, before.source, (change.start, change.old_end), language)
    new = _function_around(tree.root_node, after, (change.start, change.new_end), language)
    name = _name_of(old, before.source)
    if old is None or new is None or name is None or name != _name_of(new, after):
        return False
    moved = [(kind, start, change.moved(end), count) for kind, start, end, count in _steps(old)]
    end = change.moved(end_of_definition(old, before.source, language))
    return moved == _steps(new) and end == end_of_definition(new, after, language)


def _function_around(root: Node, source: bytes, span: Span, language: Language) -> Node | None:
    """Return the outermost function around the changed lines; their indent and last line end may lie outside of it."""
    text = source[slice(*span)]
    start = span[0] + (len(text) - len(text.lstrip()) if text.strip() else 0)
    end = span[0] + (len(text.rstrip()) or len(text))
    node, found = root.descendant_for_byte_range(start, max(start, end - 1)), None
    while node is not None:
        if node.type in language.rules and defined_in(node).type not in language.class_kinds:
            found = node
        node = node.parent
    return found


def _name_of(function: Node | None, source: bytes) -> tuple[int, bytes] | None:
    """Return the place and the text of a function's name."""
    name = defined_in(function).child_by_field_name("name") if function else None
    return None if name is None else (name.start_byte, source[name.start_byte : name.end_byte])


def _steps(node: Node | None) -> Steps:
    found: Steps = []
    while node is not None:
        # In a function the children are those of its signature and its body, around it they are its siblings.
        found.append((node.type, node.start_byte, node.end_byte, node.child_count))
        node = node.parent
    return found


def _moved(region: Region, after: bytes, change: Change) -> Region:
    if region.end < change.start or (region.start >= change.old_end == change.new_end):
        return region
    spans = tuple((change.moved(start), change.moved(end)) for start, end in region.spans)
    content_hash = region.hash
    if len(spans) == 1 and _is_around(region.spans[0], change):
        content_hash = hash_bytes(after[slice(*spans[0])])
    return Region(region.key, region.kind, region.parent, spans, content_hash)
