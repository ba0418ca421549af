"""Alternatives of which one holds at a time: members of a union, variants of an enumeration, branches by a constant.

Their order means nothing, if nothing counts or compares them and no two can hold at once.
"""

import re
from collections.abc import Iterable
from typing import Final

from tree_sitter import Node

from commonhold.merging.layout import Element, Shape
from commonhold.merging.script import script

MEMBERS: Final = frozenset({"enum_variant_list", "union_type"})
# Derived implementations that do not depend on the order of variants.
_BLIND: Final = frozenset({b"Clone", b"Copy", b"Debug", b"Default", b"Eq", b"Error", b"Hash", b"PartialEq"})
_DERIVED: Final = re.compile(rb"\bderive\s*\(([^)]*)\)")
_NUMBERED: Final = re.compile(rb"\brepr\s*\(|\bas\s+[iu](?:8|16|32|64|128|size)\b|\bdiscriminant\b|\btransmute\b")
_BRANCHES: Final = frozenset({"case_clause", "expression_case", "match_arm", "switch_case"})
_CONSTANT: Final = re.compile(rb"(?:-?\d+|\"[^\"\\\n]*\"|'[^'\\\n]*'|(?:\w+(?:::|\.))+[A-Z]\w*)")
_HELD: Final = re.compile(rb"\A((?:\w+::)+[A-Z]\w*)\s*(?:\([\w\s,.&]*\)|\{[\w\s,.&:]*\})\Z")
_LEAVING: Final = re.compile(rb"\b(?:break|return|throw|continue)\b[^;{}]*;?\s*\}?\s*\Z")
_FALLING: Final = re.compile(rb"\bfallthrough\b")


def counts_members(holder: Element, new: Iterable[Element]) -> bool:
    """Whether the order of members in a list, `new` ones included, can be observed: by numbers, or by comparison."""
    if holder.list_kind != "enum_variant_list":
        return False
    definition = holder.node.parent
    if definition is None or any(b"=" in each.text for each in (*holder.children, *new)):
        return True
    marks = b"\n".join(_attributes(definition))
    derived = {each.rpartition(b"::")[2].strip() for found in _DERIVED.findall(marks) for each in found.split(b",")}
    return not derived - {b""} <= _BLIND or _NUMBERED.search(holder.source) is not None


def _attributes(definition: Node) -> Iterable[bytes]:
    before = definition.prev_sibling
    while before is not None and before.type in {"attribute_item", "line_comment", "block_comment"}:
        if before.type == "attribute_item":
            yield before.text or b""
        before = before.prev_sibling


def only_got_members(old: Element, new: Element) -> bool:
    """Whether a definition gained only members of its union or enumeration."""
    if old.text == new.text:
        return True
    if old.shape is Shape.LIST and new.shape is Shape.LIST and old.list_kind in MEMBERS:
        hunks = script(old, new).hunks
        kept = zip(old.children, script(old, new).kept, strict=True)
        return all(each.is_insertion for each in hunks) and all(now and now.text == was.text for was, now in kept)
    if old.shape is not Shape.PARTS or new.shape is not Shape.PARTS or len(old.children) != len(new.children):
        return False
    return all(only_got_members(one, other) for one, other in zip(old.children, new.children, strict=True))


def are_distinct_branches(mine: Iterable[Element], others: Iterable[Element]) -> bool:
    """Whether no value can take a branch of both runs: each branch stands for constants of its own."""
    ours, theirs = ([_constants(each) for each in run] for run in (mine, others))
    if None in ours or None in theirs:
        return False
    one, other = ({each for found in run for each in found or ()} for run in (ours, theirs))
    kinds = {(each[:1] in b"\"'", each[:1].isdigit() or each[:1] == b"-", _path(each)) for each in one | other}
    return len(kinds) == 1 and not {each.strip(b"\"'") for each in one} & {each.strip(b"\"'") for each in other}


def _path(constant: bytes) -> bytes:
    return constant.rpartition(b"::")[0] or constant.rpartition(b".")[0]


def _constants(branch: Element) -> list[bytes] | None:
    """Return the constants of a branch; None if it may stand for more, or a branch falls through into the next."""
    node = branch.node
    if node.type not in _BRANCHES or _goes_on(node) or _goes_on(node.prev_named_sibling):
        return None
    pattern = node.child_by_field_name("pattern") or node.child_by_field_name("value")
    found = [pattern] if pattern is not None else [each for each in node.named_children if each.type == "case_pattern"]
    if not found or any(each.type in {"if_clause", "guard"} for each in node.named_children):
        return None
    mark = b"," if node.type == "expression_case" else b"|"
    texts = [part.strip() for each in found for part in (each.text or b"").split(mark)]
    if node.type == "match_arm":  # a variant differs from all others, whatever it holds
        texts = [_HELD.sub(rb"\1", text) for text in texts]
    return texts if all(_CONSTANT.fullmatch(text) for text in texts) else None


def _goes_on(node: Node | None) -> bool:
    """Whether control may fall through from a branch into the next one."""
    if node is None or node.type not in _BRANCHES:
        return False
    text = node.text or b""
    return _FALLING.search(text) is not None or (node.type == "switch_case" and not _LEAVING.search(text))
