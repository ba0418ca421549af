"""Names that a merge declares and no longer uses, where that is an error: each side took away another use."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from commonhold.merging.layout import FileElement

_IMPORTED: Final = "import_spec"
_DECLARING: Final = {"short_var_declaration": "left", "var_spec": "name"}
_FUNCTIONS: Final = frozenset({"function_declaration", "method_declaration"})
_WORD: Final = re.compile(rb"\w+")

Name = tuple[bytes, bytes]


def unused_names(merged: FileElement, versions: tuple[FileElement, FileElement, FileElement]) -> list[bytes]:
    """Return the imports and local variables that only the merge does not use; none in languages that allow it."""
    if not merged.profile.node_effects.must_be_used:
        return []
    unused = {*_unused(merged)}
    for each in versions[1:] if unused else ():
        unused -= {*_unused(each)}
    return sorted(name for _, name in unused)


def _unused(element: FileElement) -> Iterator[Name]:
    """Yield the unused names, each with that of the function that declares it."""
    words = Counter(_WORD.findall(element.source))
    for node in _below(element.tree.root_node, frozenset({_IMPORTED})):
        name, path = node.child_by_field_name("name"), node.child_by_field_name("path")
        text = (name.text if name is not None else None) or ((path.text or b"") if path is not None else b"")
        named = _WORD.findall(text)
        if named and named[-1] != b"_" and b"." not in text and words[named[-1]] == 1:
            yield b"", named[-1]
    for function in _below(element.tree.root_node, _FUNCTIONS):
        inside = Counter(_WORD.findall(function.text or b""))
        of = function.child_by_field_name("name")
        for node in _below(function, frozenset(_DECLARING)):
            for declared in node.children_by_field_name(_DECLARING[node.type]):
                for each in (declared, *declared.named_children):
                    if each.type == "identifier" and inside[each.text or b""] == 1 and each.text != b"_":
                        yield (of.text or b"") if of is not None else b"", each.text or b""


def _below(root: Node, kinds: frozenset[str]) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in kinds:
            yield node
        stack += node.named_children
