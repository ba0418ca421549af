"""Imports that one side removed and that may give names, unlisted, to new code of the other side.

An `#include`, a `using` of C# and an import of Swift give all names of a file or a module, a `use` of a trait in Rust
gives its methods. The removing side shows that none of the names that it still writes needs the import.
"""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from commonhold.merging.changed_rows import WORD, changed_rows
from commonhold.merging.layout import FileElement
from commonhold.merging.verdict import Reason, Spot

_GIVING: Final = {
    "c": "preproc_include",
    "cpp": "preproc_include using_declaration",
    "csharp": "using_directive",
    "java": "import_declaration",
    "rust": "use_declaration",
    "swift": "import_declaration",
}
_ALIAS: Final = re.compile(rb"\A(?:global\s+)?using\s+\w+\s*=")
_DECLARING: Final = re.compile(r"declar|definition|parameter|specifier\Z|enumerator\Z|_item\Z|pattern\Z")
_NAMING: Final = frozenset({"declarator", "left", "name", "pattern"})
_BY_PATH: Final = re.compile(rb"\b\w+\s*::\s*\w+|^\s*#\s*include.*", re.MULTILINE)
_METHOD: Final = "field_identifier"


def needs_removed_import(language: str, base: FileElement, ours: FileElement, theirs: FileElement) -> Iterator[Spot]:
    """Yield a spot for each side that removed an import which may give a name to new code of the other side."""
    kinds = _GIVING.get(language, "").split()
    if not kinds:
        return
    for at, (removing, using) in enumerate(((ours, theirs), (theirs, ours))):
        gone = changed_rows(base.source, removing.source)[0]
        kept = {each.text for each in removing.node.named_children if each.type in kinds}
        imports = (each for each in gone.nodes(base.node) if each.type in kinds and each.text not in kept)
        removed = next((each for each in imports if not _lists_its_names(each, language)), None)
        is_space = removed is not None and removed.type == "using_declaration"
        needed = (
            _new_name(base, using, removing, is_by_method=language == "rust", is_by_path=is_space)
            if removed is not None
            else None
        )
        if removed is not None and needed is not None:
            shown = [(each.text or b"").decode(errors="replace").strip() for each in (removed, needed)]
            why = f"one side took away {shown[0]!r}, which may give the name {shown[1]!r} to the other's new code"
            row = needed.start_point.row
            yield Spot(Reason.DANGLING, why, **{"ours" if at else "theirs": (row, row + 1)})


def _new_name(
    base: FileElement, using: FileElement, removing: FileElement, *, is_by_method: bool, is_by_path: bool
) -> Node | None:
    """Return a name that new code uses, that the file does not declare, and that the other side does not write."""
    leaves = [
        each
        for each in changed_rows(base.source, using.source)[1].nodes(using.node)
        if not each.named_child_count and each.type.endswith("identifier")
    ]
    if not leaves:
        return None
    written = removing.source if not is_by_path else _BY_PATH.sub(b"", removing.source)
    known = {*WORD.findall(written), *(each.text or b"" for each in leaves if _is_declared(each))}
    return next(
        (each for each in leaves if each.text not in known and (not is_by_method or each.type == _METHOD)),
        None,
    )


def _lists_its_names(removed: Node, language: str) -> bool:
    """Whether an import says which names it gives: an alias does, and in Java all that do not end in a star."""
    return _ALIAS.match(removed.text or b"") is not None or (language == "java" and b"*" not in (removed.text or b""))


def _is_declared(leaf: Node) -> bool:
    """Return whether a name stands where it is declared, not used."""
    node, around = leaf, leaf.parent
    while around is not None and around.type.endswith("_declarator"):
        node, around = around, around.parent
    if node is not leaf and around is not None and around.child_by_field_name("value") is not node:
        return True
    if around is None or not _DECLARING.search(around.type):
        return False
    index = next((at for at, each in enumerate(around.children) if each.id == node.id), -1)
    return around.field_name_for_child(index) in _NAMING
