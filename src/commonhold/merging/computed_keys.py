"""Entries of a mapping whose keys may be equal, though their texts differ: one is a variable, computed or spread."""

import re
from collections.abc import Sequence
from typing import Final

from tree_sitter import Node

from commonhold.merging.layout import Element

_MAPPINGS: Final = frozenset({"dictionary", "hash", "literal_value", "object"})
_SPREADS: Final = frozenset({"dictionary_splat", "hash_splat_argument", "spread_element"})
_COMPUTED: Final = frozenset({"computed_property_name", "constant", "identifier"})
_LITERAL: Final = re.compile(rb"[\w\"'`:-]")


def keys_may_meet(holder: Element, mine: Sequence[Element], others: Sequence[Element]) -> bool:
    """Whether a new entry of one side may have the key of a new entry of the other, as only running code knows."""
    if holder.list_kind not in _MAPPINGS or not mine or not others:
        return False
    return any(
        any(each.node.type in _SPREADS for each in one)
        or (any(map(_has_computed_key, one)) and any(map(_has_literal_key, other)))
        for one, other in ((mine, others), (others, mine))
    )


def _has_computed_key(entry: Element) -> bool:
    """Whether the key of an entry is a variable or computed; that of an enumeration's member is neither."""
    key = _key(entry)
    return key is not None and not _COMPUTED.isdisjoint({key.type, *(each.type for each in key.named_children)})


def _has_literal_key(entry: Element) -> bool:
    key = _key(entry)
    return key is not None and _LITERAL.match(key.text or b"") is not None and not _has_computed_key(entry)


def _key(entry: Element) -> Node | None:
    return entry.node.child_by_field_name("key") or next(iter(entry.node.named_children), None)
