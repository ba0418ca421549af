"""The merge of three elements: into what both sides changed, as deep as the structure shows that they do not meet."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from commonhold.merging.effects import Effects, effects_of
from commonhold.merging.layout import BLANK, Element, Shape
from commonhold.merging.pieces import Clash, Piece, clashes_in, settled
from commonhold.merging.profile import Order, Profile
from commonhold.merging.prose import merge_prose
from commonhold.merging.script import Hunk, Script, script
from commonhold.merging.verdict import Reason

Scope = tuple[Element, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """What one side alone did: `old` gave way to `new` (None: nothing), inside the definitions `scope` of the base.

    `is_head` says that only what stands before the body counts; the body was looked into.
    """

    old: Element | None
    new: Element | None
    scope: Scope
    is_head: bool = False


@dataclass(slots=True)
class Entry:
    """One element of the result: what leads to it, what it says, and what follows it in a list (None: nothing)."""

    element: Element
    lead: list[Piece]
    body: list[Piece]


@dataclass(slots=True)
class Structure:
    """One merge. `ours` and `theirs` are what either side changed alone, `notes` what was joined."""

    profile: Profile
    ours: list[Edit] = field(default_factory=list)
    theirs: list[Edit] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    scope: Scope = ()

    def merge(self, base: Element, ours: Element, theirs: Element) -> list[Piece]:
        """The text of three versions of one element, merged."""
        if ours.text == theirs.text:
            return [ours.text]
        if ours.text == base.text:
            self.theirs.append(Edit(base, theirs, self.scope))
            return [theirs.text]
        if theirs.text == base.text:
            self.ours.append(Edit(base, ours, self.scope))
            return [ours.text]
        if not base.kind == ours.kind == theirs.kind or not base.shape is ours.shape is theirs.shape:
            return [_clash(base, ours, theirs)]
        if base.shape is Shape.LEAF:
            return self._leaf(base, ours, theirs)
        if base.is_definition:
            return self._in_scope(base, ours, theirs)
        return self._children(base, ours, theirs)

    def _in_scope(self, base: Element, ours: Element, theirs: Element) -> list[Piece]:
        outer, self.scope = self.scope, (*self.scope, base)
        try:
            return self._children(base, ours, theirs)
        finally:
            self.scope = outer

    def _leaf(self, base: Element, ours: Element, theirs: Element) -> list[Piece]:
        if not (base.is_prose and ours.is_prose and theirs.is_prose):
            return [_clash(base, ours, theirs)]
        self.notes.append("both sides changed one documentation text")
        return merge_prose(base.text, ours.text, theirs.text, at=(base.start, ours.start, theirs.start))

    def _children(self, base: Element, ours: Element, theirs: Element) -> list[Piece]:
        weave = Weave(self, base, ours, theirs)
        pieces = weave.pieces()
        if base.has_body:
            scope = self.scope[:-1] if base.is_definition else self.scope
            self.ours += [Edit(base, ours, scope, is_head=True)]
            self.theirs += [Edit(base, theirs, scope, is_head=True)]
        if base.shape is Shape.PARTS and not base.has_body and weave.met_apart:
            joined = settled(pieces)
            return [_clash(base, ours, theirs, (joined,) if joined is not None else ())]
        return pieces


class Weave:
    """The merge of what three elements hold."""

    def __init__(self, structure: Structure, base: Element, ours: Element, theirs: Element) -> None:
        self._structure = structure
        self._profile = structure.profile
        self._base, self._ours, self._theirs = base, ours, theirs
        self._our_script, self._their_script = script(base, ours), script(base, theirs)
        self._touched: tuple[set[int], set[int]] = (set(), set())

    @property
    def met_apart(self) -> bool:
        """Whether the sides changed different children: alone each is right, together nobody knows."""
        ours, theirs = self._touched
        return ours != theirs

    def pieces(self) -> list[Piece]:
        """The merged children, put together as the element has them."""
        self._note_touched()
        entries = self._entries()
        close = self._closing()
        if self._base.shape is Shape.LIST:
            return _listed(entries, self._versions(), close)
        if self._base.shape is Shape.BLOCK:
            _mend_leads(entries, self._base.start == 0 and self._base.lead_start == 0)
        return [piece for entry in entries for piece in (*entry.lead, *entry.body)] + close

    def _versions(self) -> tuple[Element, Element, Element]:
        return self._base, self._ours, self._theirs

    def _note_touched(self) -> None:
        for script_, touched in zip((self._our_script, self._their_script), self._touched, strict=True):
            for index, (old, new) in enumerate(zip(self._base.children, script_.kept, strict=True)):
                if new is None or new.text != old.text:
                    touched.add(index)
            for hunk in script_.hunks:
                touched.add(-1 - hunk.start)

    def _entries(self) -> list[Entry]:
        entries: list[Entry] = []
        position, count = 0, len(self._base.children)
        while True:
            entries += self._inserted(position)
            if position == count:
                return entries
            stop = self._group_end(position)
            entries += self._kept(position) if stop is None else self._group(position, stop)
            position = position + 1 if stop is None else stop

    # Insertions

    def _inserted(self, position: int) -> list[Entry]:
        ours, theirs = (_insertion(each, position) for each in (self._our_script, self._their_script))
        if not ours or not theirs:
            self._note_new(self._structure.ours, ours)
            self._note_new(self._structure.theirs, theirs)
            return [*self._placed(ours, self._our_script, is_ours=True), *self._placed(theirs, self._their_script, is_ours=False)]
        if [each.text for each in ours] == [each.text for each in theirs]:
            return self._placed(ours, self._our_script, is_ours=True)
        return self._both_inserted(ours, theirs)

    def _note_new(self, edits: list[Edit], new: Iterable[Element]) -> None:
        edits.extend(
            Edit(None, each, self._structure.scope) for each in new if not self._base.has_body or each.holds_body
        )

    def _both_inserted(self, ours: Sequence[Element], theirs: Sequence[Element]) -> list[Entry]:
        same = {each.text for each in ours} & {each.text for each in theirs}
        rest = [each for each in theirs if each.text not in same]
        mine = [each for each in ours if each.text not in same]
        clash = self._why_not_both(ours, theirs, same, mine, rest)
        if clash:
            first, second = _run_text(ours), _run_text(theirs)
            at = (self._point(), ours[0].lead_start, theirs[0].lead_start)
            reason, why = clash
            return [Entry(ours[0], [], [Clash(b"", first, second, reason, why, at)])]
        self._note_new(self._structure.ours, mine)
        self._note_new(self._structure.theirs, rest)
        self._structure.notes.append(f"both sides added to one {_words(self._base.kind)}")
        return [_whole_entry(each) for each in self._ordered(ours, rest)]

    def _point(self) -> int:
        return self._base.start

    def _ordered(self, ours: Sequence[Element], theirs: Sequence[Element]) -> list[Element]:
        """In an order that does not depend on who is asked: positional entries first, then by text."""
        runs = sorted((list(ours), list(theirs)), key=self._rank)
        return [each for run in runs for each in run]

    def _rank(self, run: Sequence[Element]) -> tuple[int, list[bytes]]:
        """What counts on its place goes first, what has no place any more goes last."""
        place = 0
        if self._base.shape is Shape.LIST:
            is_unplaced = any(each.node.type in self._profile.keyword_only_marks for each in run)
            place = 2 if is_unplaced else int(all(map(_is_optional, run)))
        return place, [each.text for each in run]

    def _why_not_both(
        self,
        ours: Sequence[Element],
        theirs: Sequence[Element],
        same: set[bytes],
        mine: Sequence[Element],
        rest: Sequence[Element],
    ) -> tuple[Reason, str] | None:
        names = {each.name for each in mine if each.name} & {each.name for each in rest if each.name}
        if names:
            name = min(names).decode(errors="replace")
            return Reason.SAME_NAME, f"both sides added {name!r}, each in its own way"
        if any(not _is_set_like(each, self._profile, self._base) for each in ours if each.text in same):
            return Reason.ORDER_MATTERS, "both sides added some of the same lines at one point, among others"
        if self._base.shape is Shape.LIST:
            return self._why_not_listed(mine, rest)
        if self._base.shape is Shape.PARTS:
            return Reason.BOTH_CHANGED, f"both sides added a part to one {_words(self._base.kind)}"
        return _why_order_matters(mine, rest, self._profile)

    def _why_not_listed(self, mine: Sequence[Element], rest: Sequence[Element]) -> tuple[Reason, str] | None:
        order = _order_of(self._base, self._profile)
        if order is Order.FREE or not mine or not rest:
            return None
        if order is Order.NAMED and (all(map(_is_optional, mine)) or all(map(_is_optional, rest))):
            return None
        return Reason.ORDER_MATTERS, f"both sides added entries to one {_words(self._base.kind)}, where order counts"

    # Kept by both

    def _kept(self, index: int) -> list[Entry]:
        base = self._base.children[index]
        ours, theirs = self._our_script.kept[index], self._their_script.kept[index]
        assert ours is not None and theirs is not None  # noqa: S101, PT018 - a group holds what either side lost
        body = self._merged(base, ours, theirs)
        lead = _merge_leads(base, ours, theirs)
        return [Entry(_styled(base, ours, theirs), lead, body)]

    def _merged(self, base: Element, ours: Element, theirs: Element) -> list[Piece]:
        """The parts of a head are no edits of their own: the head is one."""
        structure = self._structure
        if not self._base.has_body or base.holds_body:
            return structure.merge(base, ours, theirs)
        edits = structure.ours, structure.theirs
        structure.ours, structure.theirs = [], []
        try:
            return structure.merge(base, ours, theirs)
        finally:
            structure.ours, structure.theirs = edits

    # Gone or replaced

    def _group_end(self, position: int) -> int | None:
        """Where the base elements end that one side replaced from `position`, with all that meets them; None if none."""
        stop = position
        hunks = [hunk for each in (self._our_script, self._their_script) for hunk in each.hunks if not hunk.is_insertion]
        grown = True
        while grown:
            grown = False
            for hunk in hunks:
                meets = hunk.start == position if stop == position else hunk.start < stop and hunk.stop > position
                if meets and hunk.stop > stop:
                    stop, grown = hunk.stop, True
        return stop if stop > position else None

    def _group(self, start: int, stop: int) -> list[Entry]:
        base = self._base.children[start:stop]
        ours = self._side(self._our_script, start, stop)
        theirs = self._side(self._their_script, start, stop)
        if _texts(ours) == _texts(theirs):
            return [_whole_entry(each) for each in ours]
        if _texts(theirs) == _texts(self._unmoved(base, self._our_script, start)) and not self._moved_in(self._our_script, start, stop):
            self._note_replaced(self._structure.ours, base, ours)
            return self._placed(ours, self._our_script, is_ours=True)
        if _texts(ours) == _texts(self._unmoved(base, self._their_script, start)) and not self._moved_in(self._their_script, start, stop):
            self._note_replaced(self._structure.theirs, base, theirs)
            return self._placed(theirs, self._their_script, is_ours=False)
        return self._moved_away(start, stop) or self._torn(base, ours, theirs)

    def _moved_in(self, script_: Script, start: int, stop: int) -> bool:
        return any(start <= index < stop for index in script_.moved)

    def _unmoved(self, base: Sequence[Element], script_: Script, start: int) -> list[Element]:
        return [each for index, each in enumerate(base, start) if index not in script_.moved]

    def _moved_away(self, start: int, stop: int) -> list[Entry] | None:
        """Nothing, where all that is gone stands elsewhere now and the other side only changed it."""
        for mover, other in ((self._our_script, self._their_script), (self._their_script, self._our_script)):
            is_moved = all(index in mover.moved and other.kept[index] is not None for index in range(start, stop))
            is_bare = not any(start <= hunk.start < stop and hunk.new for hunk in mover.hunks)
            if is_moved and is_bare:
                return []
        return None

    def _torn(self, base: Sequence[Element], ours: Sequence[Element], theirs: Sequence[Element]) -> list[Entry]:
        if not ours or not theirs:
            kept = ours or theirs
            if set(_texts(kept)) <= set(_texts(base)):
                # Both took something away, and neither changed what the other left.
                return []
            reason, why = Reason.CHANGED_AND_DELETED, "one side changed what the other deleted"
        else:
            reason, why = Reason.BOTH_CHANGED, "both sides changed the same lines"
        first = (ours or theirs or base)[0]
        runs = [_run_text(each) for each in (base, ours, theirs)]
        at = tuple(each[0].lead_start if each else 0 for each in (base, ours, theirs))
        return [Entry(first, [], [Clash(runs[0], runs[1], runs[2], reason, why, (at[0], at[1], at[2]))])]

    def _side(self, script_: Script, start: int, stop: int) -> list[Element]:
        """What a side has instead of the base elements [start, stop), in its order."""
        found: list[Element] = []
        for index in range(start, stop):
            for hunk in script_.hunks:
                if hunk.start == index and (index > start or not hunk.is_insertion):
                    found += hunk.new
            kept = script_.kept[index]
            if kept is not None:
                found.append(kept)
        return found

    def _note_replaced(self, edits: list[Edit], base: Sequence[Element], new: Sequence[Element]) -> None:
        edits.extend(Edit(each, None, self._structure.scope) for each in base)
        self._note_new(edits, new)

    # Where definitions were moved

    def _placed(self, new: Sequence[Element], script_: Script, *, is_ours: bool) -> list[Entry]:
        return [self._moved_here(each, script_, is_ours=is_ours) or _whole_entry(each) for each in new]

    def _moved_here(self, element: Element, script_: Script, *, is_ours: bool) -> Entry | None:
        index = script_.origin(element)
        if index is None:
            return None
        base = self._base.children[index]
        other = (self._their_script if is_ours else self._our_script).kept[index]
        if other is None:
            return Entry(element, [element.lead], [_clash_moved(base, element, is_ours=is_ours)])
        pair = (element, other) if is_ours else (other, element)
        return Entry(element, [element.lead], self._structure.merge(base, *pair))

    def _closing(self) -> list[Piece]:
        base, ours, theirs = (_bare_close(each, self._profile) for each in self._versions())
        return _merged_space(base, ours, theirs)


def _insertion(script_: Script, position: int) -> tuple[Element, ...]:
    return next((hunk.new for hunk in script_.hunks if hunk.start == hunk.stop == position), ())


def _texts(elements: Iterable[Element]) -> list[bytes]:
    return [each.text for each in elements]


def _run_text(elements: Sequence[Element]) -> bytes:
    """The bytes of elements that stand together, separators and all."""
    if not elements:
        return b""
    if elements[0].source is elements[-1].source:
        return elements[0].source[elements[0].lead_start : elements[-1].end]
    return b"".join(each.whole for each in elements)


def _whole_entry(element: Element) -> Entry:
    return Entry(element, [element.lead], [element.text])


def _words(kind: str) -> str:
    return kind.partition(".")[0].replace("_", " ")


def _clash(base: Element, ours: Element, theirs: Element, joined: tuple[bytes, ...] = ()) -> Clash:
    why = f"both sides changed one {_words(base.kind)}"
    at = (base.start, ours.start, theirs.start)
    return Clash(base.text, ours.text, theirs.text, Reason.BOTH_CHANGED, why, at, joined)


def _clash_moved(base: Element, element: Element, *, is_ours: bool) -> Clash:
    texts = (element.text, b"") if is_ours else (b"", element.text)
    at = (base.start, element.start, element.start)
    return Clash(base.text, *texts, Reason.CHANGED_AND_DELETED, "one side moved what the other deleted", at)


def _is_optional(element: Element) -> bool:
    """Whether an entry of a list may be left out, so that no other entry counts on its place."""
    return element.node.type in element.profile.optional_entries


def _is_set_like(element: Element, profile: Profile, base: Element) -> bool:
    """Whether it makes no difference to have it once or twice."""
    if base.shape is Shape.LIST:
        return base.kind.partition(".")[0] in profile.runs or element.name is not None
    return element.node.type in profile.imports or element.is_definition


def _order_of(base: Element, profile: Profile) -> Order:
    kind = base.kind.partition(".")[0]
    return profile.lists.get(kind, Order.FREE if kind in profile.imports else Order.FIXED)


def _why_order_matters(
    mine: Sequence[Element], rest: Sequence[Element], profile: Profile
) -> tuple[Reason, str] | None:
    """Whether two runs of statements cannot stand in either order."""
    if not mine or not rest:
        return None
    if any(each.node.type in profile.clauses for each in (*mine, *rest)):
        return Reason.ORDER_MATTERS, "both sides added a branch at one point"
    one, other = (effects_of([each.node for each in run], profile) for run in (mine, rest))
    shared = (one.defines & (other.defines | other.uses)) | (other.defines & one.uses)
    if shared:
        return Reason.INTERFERES, f"what both sides added at one point shares {_shown(shared)}"
    if one.is_exit or other.is_exit:
        return Reason.ORDER_MATTERS, "what one side added at the same point may leave before the other's is reached"
    if one.acts and other.acts:
        return Reason.ORDER_MATTERS, "both sides added calls at one point, and their order may matter"
    return None


def _shown(names: Iterable[bytes]) -> str:
    return ", ".join(sorted(name.decode(errors="replace").lstrip(".") for name in names))


# Leads: blank space and comments


def _styled(base: Element, ours: Element, theirs: Element) -> Element:
    """The version whose separators count: the one that changed them."""
    return theirs if ours.whole == base.whole else ours


def _merge_leads(base: Element, ours: Element, theirs: Element) -> list[Piece]:
    at = (base.lead_start, ours.lead_start, theirs.lead_start)
    return _merged_space(base.lead, ours.lead, theirs.lead, at)


def _merged_space(base: bytes, ours: bytes, theirs: bytes, at: tuple[int, int, int] = (0, 0, 0)) -> list[Piece]:
    if ours in (base, theirs):
        return [theirs]
    if theirs == base:
        return [ours]
    if not (ours + theirs).strip(BLANK):
        return [max(ours, theirs, key=lambda text: (len(text), text))]
    return merge_prose(base, ours, theirs, at=at)


def _mend_leads(entries: Sequence[Entry], is_file: bool) -> None:  # noqa: FBT001
    """What stood first and does no more gets the blank space of what follows it; what comes to stand first loses it."""
    for index, entry in enumerate(entries):
        lead = settled(entry.lead)
        if lead is None or lead.strip(BLANK) or (isinstance(entry.body[0] if entry.body else b"", Clash)):
            continue
        if index and b"\n" not in lead:
            entry.lead = [_next_lead(entry.element)]
        elif not index and is_file:
            entry.lead = [lead.lstrip(b"\r\n")]


def _next_lead(element: Element) -> bytes:
    """The blank space after an element in its own version."""
    rest = element.source[element.end :]
    space = rest[: len(rest) - len(rest.lstrip(BLANK))]
    return space if b"\n" in space else b"\n"


# Lists


def _bare_close(element: Element, profile: Profile) -> bytes:
    """What follows the last entry, without its separator."""
    if element.shape is not Shape.LIST:
        return element.close
    after = _trailing(element, profile)
    return element.close[len(after) :]


def _trailing(element: Element, profile: Profile) -> bytes:
    """The separator after the last entry, with what stands on its line; empty if there is none."""
    close = element.close
    bare = close.lstrip(BLANK)
    if not element.children or not bare.startswith(profile.separator):
        return b""
    at = close.index(profile.separator) + len(profile.separator)
    line_end = close.find(b"\n", at)
    rest = close[at : line_end if line_end >= 0 else len(close)]
    return close[: at + len(rest)] if rest.strip().startswith(profile.comment_mark) else close[:at]


def _listed(entries: Sequence[Entry], versions: tuple[Element, Element, Element], close: list[Piece]) -> list[Piece]:
    profile = versions[0].profile
    after = {id(child): text for version in versions for child, text in _separators(version, profile)}
    base, ours, theirs = (_trailing(each, profile) for each in versions)
    trailing = theirs if bool(ours) == bool(base) else ours
    pieces: list[Piece] = []
    for index, entry in enumerate(entries):
        pieces += _lead_in_list(entry, index, versions)
        pieces += entry.body
        if index < len(entries) - 1:
            pieces.append(after.get(id(entry.element)) or profile.separator)
        elif trailing:
            pieces.append(after.get(id(entry.element)) or profile.separator)
    return pieces + close


def _separators(element: Element, profile: Profile) -> Iterable[tuple[Element, bytes]]:
    children = element.children
    for child, following in zip(children, children[1:], strict=False):
        yield child, element.source[child.end : following.lead_start]
    if children:
        yield children[-1], _trailing(element, profile)


def _lead_in_list(entry: Entry, index: int, versions: tuple[Element, Element, Element]) -> list[Piece]:
    lead = settled(entry.lead)
    if lead is None or lead.strip(BLANK):
        return entry.lead
    own = next((each for each in versions if each.source is entry.element.source), versions[0])
    was_first = bool(own.children) and own.children[0] is entry.element
    if index == 0:
        return entry.lead if was_first else [_first_lead(versions, lead)]
    usual = _usual_lead(versions)
    if was_first and usual is None:
        return [lead if b"\n" in lead else b" "]
    if usual is not None and (was_first or (b"\n" in usual) > (b"\n" in lead)):
        return [usual]
    return entry.lead


def _first_lead(versions: tuple[Element, Element, Element], lead: bytes) -> bytes:
    firsts = [each.children[0].lead for each in versions if each.children]
    return firsts[0] if firsts and not firsts[0].strip(BLANK) else lead


def _usual_lead(versions: tuple[Element, Element, Element]) -> bytes | None:
    """How entries after the first are set off: on lines of their own, if one version has it so."""
    leads = [child.lead for each in versions for child in each.children[1:] if not child.lead.strip(BLANK)]
    return max(leads, key=lambda text: (b"\n" in text, leads.count(text), text), default=None)
