"""Additions that both sides made alike to one block or list, at one point or at two, and statements that both moved."""

from collections.abc import Collection, Sequence
from typing import Final

from tree_sitter import Node

from commonhold.merging.joined_additions import hangs_on_its_place
from commonhold.merging.layout import BLANK, Element, Shape
from commonhold.merging.pieces import Clash
from commonhold.merging.profile import Order
from commonhold.merging.script import Script
from commonhold.merging.verdict import Reason

Run = Sequence[Element]

_IMPORTED: Final = frozenset({"import_clause", "named_imports", "scoped_use_list", "use_list"})

_KEYED: Final = frozenset({"pair", "block_mapping_pair"})
_VISIBILITIES: Final = frozenset({b"private", b"protected", b"public", b"private_class_method", b"module_function"})


def covering(ours: Run, theirs: Run) -> Run | None:
    """Return the run that contains the other, in the same order; None if neither does."""
    small, large = sorted((ours, theirs), key=len)
    left = iter(each.said for each in large)
    return large if all(any(said == each.said for said in left) for each in small) else None


def is_needed_once(element: Element, holder: Element) -> bool:
    """Whether a second copy of an element in `holder` adds nothing: an import or a keyed entry."""
    profile = holder.profile
    if element.node.type in profile.imports or holder.list_kind in {*profile.runs, *profile.imports}:
        return True
    if holder.shape is Shape.LIST:
        return element.name is not None and profile.lists.get(holder.list_kind) is Order.FREE
    return element.node.type in _KEYED


def joined_parts(ours: Run, theirs: Run) -> tuple[bytes, ...]:
    """Return both additions to one head, in both orders: `implements A` and `implements B` as one list, else each."""
    first, second = (run[0].source[run[0].start : run[-1].end] for run in (ours, theirs))
    lead, after = ours[0].lead, ours[-1].source[ours[-1].end :]
    space = after[: len(after) - len(after.lstrip(BLANK))] or b" "
    one, other = ((*text.split(maxsplit=1), b"", b"")[:2] for text in (first, second))
    lists: tuple[bytes, ...] = ()
    if one[0] == other[0] and one[0].isalpha() and one[1] and other[1]:
        word = lead + one[0] + b" "
        lists = word + one[1] + b", " + other[1], word + other[1] + b", " + one[1]
    return (*lists, lead + first + space + second, lead + second + space + first)


def added_apart(both: Collection[bytes], scripts: Sequence[Script]) -> list[tuple[Element, Element]]:
    """Return the elements that both sides added alike at different points: that of ours and that of theirs.

    `both` are the texts of elements that both sides have more often than the base.
    """
    if not both:
        return []
    ours, theirs = (
        {each.text: ((hunk.start, hunk.stop), each) for hunk in script.hunks for each in hunk.new if each.text in both}
        for script in scripts
    )
    return [(ours[text][1], theirs[text][1]) for text in ours if text in theirs and ours[text][0] != theirs[text][0]]


def as_clash(second: Element, *, is_ours: bool) -> Clash:
    """Return a clash for the second copy of an element that both sides added: to be left out, or kept."""
    shown = second.text.decode(errors="replace").partition("\n")[0]
    text = second.whole
    texts = (text, b"") if is_ours else (b"", text)
    why = f"both sides added {shown!r}, in different places"
    at = (0, second.lead_start if is_ours else 0, 0 if is_ours else second.lead_start)
    return Clash(b"", *texts, Reason.SAME_NAME, why, at, (b"", text))


def move_across_each_other(base: Element, scripts: Sequence[Script]) -> bool:
    """Whether both sides moved statements, so that a stretch of the block has another order on each side."""
    ours, theirs = (_moves(base, script) for script in scripts)
    return any(first < stop and start < last for first, last in ours for start, stop in theirs)


def _moves(base: Element, script: Script) -> list[tuple[int, int]]:
    """Return the stretches of base elements over which a side moved a statement, definitions and imports left out."""
    lost = {
        old.text: index
        for index, (old, kept) in enumerate(zip(base.children, script.kept, strict=True))
        if kept is None and hangs_on_its_place(old)
    }
    found = ((lost[each.text], hunk.start) for hunk in script.hunks for each in hunk.new if each.text in lost)
    return [(min(pair), max(pair) + 1) for pair in found]


def opens_part(element: Element) -> bool:
    """Whether an element sets the visibility of the members that follow it."""
    return element.node.type == "access_specifier" or element.text in _VISIBILITIES


def is_include(element: Element) -> bool:
    """Whether an element includes a file, which shows no names by which to find its uses."""
    return element.node.type == "preproc_include"


def as_set(holder: Element, base: Run, ours: Run, theirs: Run) -> list[Element] | None:
    """Return the imported names that both sides kept, and those that they added; None if they changed more."""
    has_comments = any(each.lead.strip(BLANK) for each in (*base, *ours, *theirs))
    if holder.shape is not Shape.LIST or has_comments or not _is_list_of_imports(holder):
        return None
    texts = [{each.text for each in run} for run in (base, ours, theirs)]
    lost = [texts[0] - side for side in texts[1:]]
    added = [side - texts[0] for side in texts[1:]]
    if all(lost) and all(added) and lost[0] & lost[1]:
        return None
    wanted = (texts[0] - lost[0] - lost[1]) | added[0] | added[1]
    both = {each.text: each for each in (*theirs, *ours)}
    order = dict.fromkeys(each.text for each in (*base, *ours, *theirs))
    return [both[text] for text in order if text in wanted]


def _is_list_of_imports(holder: Element) -> bool:
    around: Node | None = holder.node
    while around is not None and around.type not in holder.profile.imports:
        around = around.parent if around.type in _IMPORTED else None
    return around is not None
