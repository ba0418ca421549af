"""Lists in which one side gave every entry another shape, and the other added an entry of the old shape."""

from collections.abc import Sequence
from typing import Final

from commonhold.merging.layout import TOKEN, Element, Shape
from commonhold.merging.script import Script

_FEW: Final = 2  # so many entries show that all have one shape
_LISTED: Final = frozenset({"block_sequence", "enum_body"})


def got_another_shape(holder: Element, reshaping: Script, adding: Script) -> Element | None:
    """Return an entry that one side added to a list of which the other side reshaped every entry; None without one.

    A new shape has more or fewer tokens, by the same number in every entry: each got one more field, for example.
    """
    if holder.shape is not Shape.LIST and holder.list_kind not in _LISTED:
        return None
    old = holder.children
    if len(old) < _FEW or None in reshaping.kept:
        return None
    growth = {_size(now) - _size(was) for was, now in zip(old, reshaping.kept, strict=True) if now is not None}
    if len(growth) != 1 or 0 in growth:
        return None
    added: Sequence[Element] = [each for hunk in adding.hunks if hunk.is_insertion for each in hunk.new]
    return added[0] if added else None


def _size(entry: Element) -> int:
    return len(TOKEN.findall(entry.text))
