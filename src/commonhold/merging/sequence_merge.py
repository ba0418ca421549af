"""The merge of the children of three elements: those that each side kept, inserted and removed, one after the other."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final

from commonhold.merging.computed_keys import keys_may_meet
from commonhold.merging.entries import Entry, Versions, after_gap, closing, in_block, in_list, merged_space, whole_entry
from commonhold.merging.entry_shapes import got_another_shape
from commonhold.merging.interference import is_function
from commonhold.merging.joined_additions import hangs_on_its_place, in_one_order, is_free, may_be_placed, why_not_both
from commonhold.merging.layout import BLANK, Element, Shape
from commonhold.merging.order_sensitivity import does_something, placed
from commonhold.merging.pieces import Clash, Piece, settled
from commonhold.merging.record import Edit, Record
from commonhold.merging.repetition import (
    added_apart,
    as_clash,
    as_set,
    covering,
    is_include,
    is_needed_once,
    joined_parts,
    move_across_each_other,
    opens_part,
)
from commonhold.merging.script import Script, script
from commonhold.merging.verdict import Reason, Spot

_ACCESSORS: Final = frozenset({"get", "set"})
_OVERLOAD: Final = re.compile(rb"\boverload\b")

Merging = Callable[[Element, Element, Element], list[Piece]]


class SequenceMerge:
    """One merge of children. `merge` merges those that all three have."""

    def __init__(self, record: Record, versions: Versions, merge: Merging) -> None:
        """Merge the children of base, ours and theirs."""
        self._record = record
        self._versions = versions
        self._merge = merge
        self._base = versions[0]
        self._ours, self._theirs = (script(self._base, side) for side in versions[1:])
        self._count = len(self._base.children)

    @property
    def met_apart(self) -> bool:
        """Whether the sides changed different children: each is right alone, but their combination is unproved."""
        return self._ours.touched != self._theirs.touched

    @cached_property
    def _counts(self) -> tuple[Counter[bytes], ...]:
        """How often each text stands among the children of base, ours and theirs."""
        return tuple(Counter(each.text for each in version.children) for version in self._versions)

    @cached_property
    def _added_by_both(self) -> frozenset[bytes]:
        """The texts of children that both sides have more often than the base; none among unlike parts."""
        if self._base.shape is Shape.PARTS:
            return frozenset()
        base, ours, theirs = self._counts
        return frozenset((ours - base).keys() & (theirs - base).keys())

    def pieces(self) -> list[Piece]:
        """Return the merged children, joined in the style of the element."""
        if name := self._added_twice():
            why = f"both sides added {name.decode(errors='replace')!r}, each in its own way"
            base, ours, theirs = self._versions
            at = (base.start, ours.start, theirs.start)
            return [Clash(base.text, ours.text, theirs.text, Reason.SAME_NAME, why, at)]
        entries = self._each_once(self._entries())
        self._doubt_clauses()
        self._doubt_doubles(entries)
        self._doubt_order()
        self._doubt_includes()
        self._doubt_moved()
        self._doubt_redefined()
        self._doubt_overloads()
        self._doubt_keys()
        self._doubt_places()
        self._doubt_shapes()
        self._doubt_exits()
        if self._base.shape is Shape.LIST:
            return in_list(entries, self._versions)
        if self._base.shape is Shape.BLOCK:
            entries = in_block(entries, self._versions, self._kept_ids)
        return [piece for entry in entries for piece in (*entry.lead, *entry.body)] + closing(self._versions)

    def _doubt_includes(self) -> None:
        """Doubt a new include if most of the file, maybe its users, is gone: an include shows no names to check."""
        for side, other in ((self._versions[1], self._versions[2]), (self._versions[2], self._versions[1])):
            if 2 * len(other.text) > len(self._base.text):
                continue
            known = {each.text for each in self._base.children}
            if any(is_include(each) and each.text not in known for each in side.children):
                why = "one side includes a file, and the other took away most of the code that it may be for"
                self._record.doubts.append(Spot(Reason.INTERFERES, why, *(each.rows for each in self._versions)))

    @property
    def _kept_ids(self) -> set[int]:
        return {id(each) for side in (self._ours, self._theirs) for each in side.kept if each is not None}

    def _doubt_clauses(self) -> None:
        """Doubt branches that both sides added, even far apart: which one is taken depends on those before it."""
        ours, theirs = (
            {hunk.start: each for hunk in side.hunks for each in hunk.new if each.node.type in each.profile.clauses}
            for side in (self._ours, self._theirs)
        )
        if ours and theirs and ours.keys() != theirs.keys():
            why = "both sides added a branch to one statement, and which is taken hangs on their order"
            first, second = next(iter(ours.values())), next(iter(theirs.values()))
            self._record.doubts.append(Spot(Reason.ORDER_MATTERS, why, ours=first.rows, theirs=second.rows))

    def _doubt_shapes(self) -> None:
        """Doubt an entry that one side added to a list, if the other side gave all entries another shape."""
        for side, other in ((self._ours, self._theirs), (self._theirs, self._ours)):
            added = got_another_shape(self._base, side, other)
            if added is not None:
                why = f"one side gave every entry of one {self._base.words} another shape, and the other added an entry"
                rows = {"theirs" if side is self._ours else "ours": added.rows}
                self._record.doubts.append(Spot(Reason.INTERFERES, why, **rows))

    def _doubt_places(self) -> None:
        """Doubt positional members that each side orders in its own way; record elements to which both added."""
        base, ours, theirs = (placed(each) for each in self._versions)
        if None not in (base, ours, theirs) and len({base, ours, theirs}) == len(self._versions):
            why = f"both sides changed which members have a place in one {self._base.words}, and in what order"
            self._record.doubts.append(Spot(Reason.ORDER_MATTERS, why, *(each.rows for each in self._versions)))
        if self._base.shape is not Shape.PARTS:
            new = [{each.said for hunk in side.hunks for each in hunk.new} for side in (self._ours, self._theirs)]
            self._record.grown += [self._base] if new[0] - new[1] and new[1] - new[0] else []

    def _doubt_keys(self) -> None:
        """Doubt entries of a mapping whose keys may be equal: one side added a key that only running code knows."""
        ours, theirs = (
            [each for hunk in side.hunks for each in hunk.new if side.origin(each) is None]
            for side in (self._ours, self._theirs)
        )
        if keys_may_meet(self._base, ours, theirs):
            why = f"both sides added to one {self._base.words}, and a key of one may be that of the other"
            self._record.doubts.append(Spot(Reason.SAME_NAME, why, ours=ours[0].rows, theirs=theirs[0].rows))

    def _doubt_exits(self) -> None:
        """Doubt an exit that one side added or removed before code of the other: that runs in other cases then."""
        may_end = self._base.is_file or any(map(is_function, self._record.scope))
        if self._base.shape is not Shape.BLOCK or not may_end:
            return
        for side, other in ((self._ours, self._theirs), (self._theirs, self._ours)):
            last = [(hunk.stop, each) for hunk in other.hunks for each in hunk.new if does_something(each)]
            first = next(side.exits(), None) if last else None
            if first is not None and last[-1][0] > first[0]:
                why = (
                    "one side may leave earlier than before, and then skips the code that the other changed "
                    "further down"
                )
                pair = (first[1], last[-1][1]) if side is self._ours else (last[-1][1], first[1])
                self._record.doubts.append(Spot(Reason.INTERFERES, why, ours=pair[0].rows, theirs=pair[1].rows))
            lost = next(side.lost_exits(), None)
            changed = (index if index >= 0 else -1 - index for index in other.touched)
            if lost is not None and any(index > lost[0] for index in changed):
                why = (
                    "one side no longer leaves before code that the other changed, which is reached in more cases then"
                )
                self._record.doubts.append(Spot(Reason.INTERFERES, why, base=lost[1].rows))

    def _each_once(self, entries: Sequence[Entry]) -> list[Entry]:
        """Leave out the second copy of an element that both sides added alike at different points, or leave it open."""
        pairs = added_apart(self._added_by_both, (self._ours, self._theirs))
        twins = {id(each): each is pair[0] for pair in pairs for each in pair}
        seen: set[bytes] = set()
        kept: list[Entry] = []
        gap = b""
        for entry in entries:
            is_ours = twins.get(id(entry.element))
            if is_ours is None or entry.element.text not in seen:
                seen |= {entry.element.text} if is_ours is not None else set()
                kept.append(after_gap(entry, gap))
                gap = b""
            elif is_needed_once(entry.element, self._base) and not entry.element.lead.strip(BLANK):
                gap = entry.element.lead
            else:
                kept.append(Entry(entry.element, [], [as_clash(entry.element, is_ours=is_ours)]))
        return kept

    def _doubt_doubles(self, entries: Sequence[Entry]) -> None:
        """Doubt equal texts that both sides added, one of them in place of another element: one may be enough."""
        if not self._added_by_both:
            return
        _, ours, theirs = self._counts
        now = Counter(settled(entry.body) for entry in entries)
        added = (text for text in self._added_by_both if now[text] > max(ours[text], theirs[text]))
        doubled = min(added, default=None)
        if doubled is not None:
            shown = doubled.decode(errors="replace").partition("\n")[0]
            why = f"both sides added {shown!r}, in different places"
            first, second = (
                next(each for each in side.children if each.text == doubled) for side in self._versions[1:]
            )
            self._record.doubts.append(Spot(Reason.SAME_NAME, why, ours=first.rows, theirs=second.rows))

    def _doubt_order(self) -> None:
        """Doubt the order of statements that both moved, and members below which the other set a visibility."""
        if self._base.shape is Shape.PARTS or is_free(self._base, self._base.children):
            return
        if move_across_each_other(self._base, (self._ours, self._theirs)):
            why = f"both sides moved parts of one {self._base.words}, and their order may matter"
            self._record.doubts.append(Spot(Reason.ORDER_MATTERS, why, *(each.rows for each in self._versions)))
        for side, other in ((self._ours, self._theirs), (self._theirs, self._ours)):
            parts = [hunk.start for hunk in side.hunks if any(map(opens_part, hunk.new))]
            if parts and any(hunk.new and hunk.start >= parts[0] for hunk in other.hunks):
                why = "one side added members below which the other began a part of another visibility"
                self._record.doubts.append(Spot(Reason.ORDER_MATTERS, why, *(each.rows for each in self._versions)))

    def _doubt_moved(self) -> None:
        """Doubt the position of an element that one side moved and the other deleted or doubled."""
        if not any(None in side.kept for side in (self._ours, self._theirs)):
            return
        base, *counts = self._counts
        ours, theirs = (self._ours, counts[0]), (self._theirs, counts[1])
        for (side, kept), (other, left) in ((ours, theirs), (theirs, ours)):
            pairs = enumerate(zip(side.old, side.kept, other.kept, strict=True))
            moved = {
                old.text
                for index, (old, here, there) in pairs
                if index not in side.moved
                and here is None
                and base[old.text] <= kept[old.text]
                and (left[old.text] > base[old.text] or (there is None and left[old.text] < base[old.text]))
            }
            new = next((each for hunk in side.hunks for each in hunk.new if each.text in moved), None)
            if new is not None:
                why = f"one side moved an entry of one {self._base.words} that the other deleted or doubled"
                rows = {"ours" if side is self._ours else "theirs": new.rows}
                self._record.doubts.append(Spot(Reason.CHANGED_AND_DELETED, why, **rows))

    def _doubt_redefined(self) -> None:
        """Doubt a second definition of a name if the other side changed the first, which it replaces."""
        if not self._base.profile.last_definition_counts:
            return
        for side, other in ((self._ours, self._theirs), (self._theirs, self._ours)):
            new = (each for hunk in side.hunks for each in hunk.new if each.is_definition and side.origin(each) is None)
            plain = [each for each in new if not _is_one_of_several(each)]
            pairs = zip(other.old, other.kept, strict=True) if plain else ()
            changed = {old.name for old, now in pairs if old.is_definition and now is not None and now.text != old.text}
            for each in (each for each in plain if each.name in changed):
                shown = (each.name or b"").decode(errors="replace")
                why = f"one side defined {shown!r} once more, and the other changed the first definition"
                rows = {"ours" if side is self._ours else "theirs": each.rows}
                self._record.doubts.append(Spot(Reason.SAME_NAME, why, **rows))

    def _doubt_overloads(self) -> None:
        """Doubt new overloads of a function if the other side changed its head: they declare it as it was."""
        for side, other in ((self._ours, self._theirs), (self._theirs, self._ours)):
            new = [each for hunk in side.hunks for each in hunk.new if _is_overload(each)]
            pairs = zip(other.old, other.kept, strict=True) if new else ()
            changed = {
                old.name for old, now in pairs if now is not None and old.is_definition and _head(old) != _head(now)
            }
            for each in (each for each in new if each.name in changed):
                shown = (each.name or b"").decode(errors="replace")
                why = f"one side added an overload of {shown!r}, and the other changed how to call it"
                rows = {"ours" if side is self._ours else "theirs": each.rows}
                self._record.doubts.append(Spot(Reason.INTERFERES, why, **rows))

    def _added_twice(self) -> bytes | None:
        """Return the first name of an entry that both sides put into a list, at different points."""
        if self._base.shape is not Shape.LIST:
            return None
        ours, theirs = (
            {
                (hunk.start, each.name, each.text if is_needed_once(each, self._base) else b"")
                for hunk in side.hunks
                for each in hunk.new
                if each.name
            }
            for side in (self._ours, self._theirs)
        )
        mine, others = ({(name, text) for _, name, text in side} for side in (ours - theirs, theirs - ours))
        alike = {name for name, text in mine & others if text}
        return min({name for name, _ in mine} & {name for name, _ in others} - alike, default=None)

    def _entries(self) -> list[Entry]:
        entries, position = self._inserted(0), 0
        while position < self._count:
            stop = self._group_end(position)
            if stop == position:
                entries += self._kept(position)
            else:
                self._doubt_edges(position, stop)
                entries += self._group(position, stop)
            position = max(stop, position + 1)
            entries += self._inserted(position)
        return entries

    def _doubt_edges(self, start: int, stop: int) -> None:
        """Doubt an insertion right beside a rewritten element: it may belong to the element that was there before."""
        for side, other in ((self._ours, self._theirs), (self._theirs, self._ours)):
            new = side.side(start, stop)
            beside = [each for each in (*other.insertion(start), *other.insertion(stop)) if hangs_on_its_place(each)]
            if new and beside and side.loses_any(start, stop):
                why = "one side added something right beside text that the other rewrote"
                first, second = (new[0], beside[0]) if side is self._ours else (beside[0], new[0])
                self._record.doubts.append(Spot(Reason.BOTH_CHANGED, why, ours=first.rows, theirs=second.rows))

    # Insertions

    def _inserted(self, position: int) -> list[Entry]:
        ours, theirs = self._ours.insertion(position), self._theirs.insertion(position)
        before = self._base.children[:position]
        if not ours or not theirs or _said(ours) == _said(theirs):
            if not (ours and theirs):
                self._note_new(self._record.ours, ours)
                self._note_new(self._record.theirs, theirs)
            return self._placed(ours, self._ours) or self._placed(theirs, self._theirs)
        return self._both_inserted(ours, theirs, before)

    def _note_new(self, edits: list[Edit], new: Sequence[Element]) -> None:
        """Record new elements; the parts of a head are not recorded as edits of their own."""
        self._record.replaced(edits, (), [each for each in new if not self._base.has_body or each.holds_body])

    def _both_inserted(
        self, ours: Sequence[Element], theirs: Sequence[Element], before: Sequence[Element]
    ) -> list[Entry]:
        larger = covering(ours, theirs)
        if larger is not None:
            return self._covered(ours, theirs, larger)
        same = {*_said(ours)} & {*_said(theirs)}
        mine, others = ([each for each in run if each.said not in same] for run in (ours, theirs))
        shared = [each for each in ours if each.said in same]
        refusal = why_not_both(self._base, mine, others, shared, before)
        if refusal:
            at = (self._base.start, ours[0].lead_start, theirs[0].lead_start)
            clash = Clash(b"", _run(ours), _run(theirs), *refusal, at, self._in_both_orders(ours, theirs))
            return [Entry(ours[0], [], [clash])]
        if self._record.scope and may_be_placed(self._base, mine) and may_be_placed(self._base, others):
            self._record.shifted.append((self._record.scope, len(before)))
        self._note_new(self._record.ours, mine)
        self._note_new(self._record.theirs, others)
        self._record.notes.append(f"both sides added to one {self._base.words}")
        if not mine or not others:  # one side has all elements of the other, in another order
            return [whole_entry(each) for each in (ours if mine else theirs)]
        return [whole_entry(each) for each in [*shared, *in_one_order(self._base, mine, others)]]

    def _covered(self, ours: Sequence[Element], theirs: Sequence[Element], larger: Sequence[Element]) -> list[Entry]:
        """Return the insertion of one side that contains the other side's insertion at that point, and more."""
        left = iter(_said(theirs if larger is ours else ours))
        wanted = next(left, None)
        more: list[Element] = []
        for each in larger:
            if each.said == wanted:
                wanted = next(left, None)
            else:
                more.append(each)
        self._note_new(self._record.ours if larger is ours else self._record.theirs, more)
        self._record.notes.append(f"one side added to one {self._base.words} all that the other added, and more")
        return self._placed(larger, self._ours if larger is ours else self._theirs)

    def _in_both_orders(self, ours: Sequence[Element], theirs: Sequence[Element]) -> tuple[bytes, ...]:
        """Return the texts of two runs, joined as their list or head requires; none if text cannot join them."""
        first, second = _run(ours), _run(theirs)
        if self._base.shape is Shape.PARTS:
            return joined_parts(ours, theirs)
        if self._base.shape is not Shape.LIST:
            return ()
        separator = self._base.separator
        return first + separator + second, second + separator + first

    # Kept elements

    def _kept(self, index: int) -> list[Entry]:
        base = self._base.children[index]
        ours, theirs = self._ours.kept[index] or base, self._theirs.kept[index] or base
        at = (base.lead_start, ours.lead_start, theirs.lead_start)
        lead = merged_space(base.lead, ours.lead, theirs.lead, at)
        styled = theirs if ours.whole == base.whole else ours
        if self._base.shape is Shape.BLOCK and lead != [styled.lead]:
            styled = next((each for each in (ours, theirs) if lead == [each.lead]), styled)
        return [Entry(styled, lead, self._merge(base, ours, theirs))]

    # Removed and replaced elements

    def _group_end(self, position: int) -> int:
        """Return the end of the base elements replaced from `position` on, with all that overlap them."""
        stop, grown = position, position
        while True:
            for side in (self._ours, self._theirs):
                grown = max([grown, *(side.stop_at(index) for index in range(position, max(stop, position + 1)))])
            if grown == stop:
                return stop
            stop = grown

    def _group(self, start: int, stop: int) -> list[Entry]:
        base = self._base.children[start:stop]
        ours, theirs = self._ours.side(start, stop), self._theirs.side(start, stop)
        if _said(ours) == _said(theirs):
            for one, first, second in zip(base, ours, theirs, strict=False):
                self._record.changed_alike(one, first, second)
            return [whole_entry(each) for each in ours]
        for side, other, new, left, edits in (
            (self._ours, self._theirs, ours, theirs, self._record.ours),
            (self._theirs, self._ours, theirs, ours, self._record.theirs),
        ):
            if side.moves_none(start, stop) and _said(left) == _said(base):
                self._record.replaced(edits, base, new)
                return self._placed(new, side)
            if side.moves_all(start, stop) and not other.loses_any(start, stop):
                return []
        return self._torn(base, ours, theirs)

    def _torn(self, base: Sequence[Element], ours: Sequence[Element], theirs: Sequence[Element]) -> list[Entry]:
        whole = as_set(self._base, base, ours, theirs)
        if whole is not None:
            for edits, run in ((self._record.ours, ours), (self._record.theirs, theirs)):
                texts, known = {each.text for each in run}, {each.text for each in base}
                gone = [each for each in base if each.text not in texts]
                self._record.replaced(edits, gone, [each for each in run if each.text not in known])
            return [whole_entry(each) for each in whole]
        if ours and theirs:
            reason, why = Reason.BOTH_CHANGED, "both sides changed the same lines"
        elif {*_said(ours or theirs)} <= {*_said(base)}:
            return []  # both removed elements, and neither changed those that the other kept
        else:
            reason, why = Reason.CHANGED_AND_DELETED, "one side changed text that the other deleted"
        runs = [_run(each) for each in (base, ours, theirs)]
        first, second, third = (each[0].lead_start if each else 0 for each in (base, ours, theirs))
        joined = self._in_both_orders(ours, theirs) if ours and theirs else ()
        clash = Clash(runs[0], runs[1], runs[2], reason, why, (first, second, third), joined)
        return [Entry((*ours, *theirs)[0], [], [clash])]

    # Moved elements

    def _placed(self, new: Sequence[Element], side: Script) -> list[Entry]:
        return [self._moved_here(each, side) or whole_entry(each) for each in new]

    def _moved_here(self, element: Element, side: Script) -> Entry | None:
        index = side.origin(element)
        if index is None:
            return None
        base = self._base.children[index]
        is_ours = side is self._ours
        other = (self._theirs if is_ours else self._ours).kept[index]
        if other is None:
            texts = (element.text, b"") if is_ours else (b"", element.text)
            why = "one side moved text that the other deleted or moved elsewhere"
            at = (base.start, element.start, element.start)
            return Entry(element, [element.lead], [Clash(base.text, *texts, Reason.CHANGED_AND_DELETED, why, at)])
        pair = (element, other) if is_ours else (other, element)
        return Entry(element, [element.lead], self._merge(base, *pair))


def _said(elements: Sequence[Element]) -> list[bytes]:
    return [each.said for each in elements]


def _run(elements: Sequence[Element]) -> bytes:
    """Return the bytes of adjacent elements of one version, with the separators."""
    return elements[0].lead + elements[0].source[elements[0].start : elements[-1].end] if elements else b""


def _head(element: Element) -> list[bytes]:
    return [each.text for each in element.children if not each.holds_body]


def _is_overload(element: Element) -> bool:
    """Whether an element only declares how to call a function that stands below it."""
    is_decorated = element.is_definition and element.node.type == element.profile.wrapper
    return is_decorated and any(_OVERLOAD.search(each.text or b"") for each in element.node.children[:-1])


def _is_one_of_several(element: Element) -> bool:
    """Whether an element may belong to others of its name: it is an accessor, or has decorators."""
    is_decorated = element.node.type == element.profile.wrapper
    return is_decorated or any(child.type in _ACCESSORS for child in element.definition.children)
