"""The merge of three elements: it descends into those that both sides changed, as deep as the changes are separate."""

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from commonhold.merging.layout import Element, Shape
from commonhold.merging.pieces import Clash, Piece, settled
from commonhold.merging.prose import merge_prose
from commonhold.merging.record import Edit, Record
from commonhold.merging.sequence_merge import Merging, SequenceMerge
from commonhold.merging.verdict import Reason, Spot
from commonhold.merging.versions import higher_version

_WORD: Final = re.compile(rb"[\w.*]+")
_PLAIN_ELEMENT: Final = re.compile(rb"<[a-z][\w-]*[\s>]")  # of a page, which shows its content in any case


@dataclass(slots=True)
class Structure:
    """One merge, and its notes."""

    record: Record = field(default_factory=Record)

    def merge(self, base: Element, ours: Element, theirs: Element) -> list[Piece]:
        """Return the merged text of three versions of one element."""
        if ours.text == theirs.text or _is_same_set(ours, theirs):
            self.record.changed_alike(base, ours, theirs)
            return [min(ours.text, theirs.text)]
        if base.text in (ours.text, theirs.text):
            return [self._changed_alone(base, ours, theirs)]
        if not base.kind == ours.kind == theirs.kind or not base.shape is ours.shape is theirs.shape:
            return [_clash(base, ours, theirs)]
        if (laid_out := _laid_out_alone(base, ours, theirs)) is not None:
            return [self._laid_out(base, *laid_out, is_ours=laid_out[0] is ours)]
        if base.shape is Shape.LEAF:
            return self._leaf(base, ours, theirs)
        if base.has_body:
            self.record.ours.append(Edit(base, ours, self.record.scope, is_head=True))
            self.record.theirs.append(Edit(base, theirs, self.record.scope, is_head=True))
            self._doubt_conditions(base, ours, theirs)
        inner = Structure(self.record.within(base)) if base.is_definition else self
        return inner._children(base, ours, theirs)  # noqa: SLF001 - the same merge, one level down

    def _changed_alone(self, base: Element, ours: Element, theirs: Element) -> bytes:
        edits, new = (self.record.theirs, theirs) if ours.text == base.text else (self.record.ours, ours)
        edits.append(Edit(base, new, self.record.scope))
        return new.text

    def _laid_out(self, base: Element, names: Element, layout: Element, *, is_ours: bool) -> bytes:
        self._changed_alone(base, *((names, base) if is_ours else (base, names)))
        return _laid_out(names, layout)

    def _doubt_conditions(self, base: Element, ours: Element, theirs: Element) -> None:
        """Doubt a body that one side changed under a condition that the other changed: it may run in other cases."""
        heads = [_parts(each, bodies=False) for each in (base, ours, theirs)]
        bodies = [_parts(each, bodies=True) for each in (base, ours, theirs)]
        is_met = (heads[0] != heads[1] and bodies[0] != bodies[2]) or (heads[0] != heads[2] and bodies[0] != bodies[1])
        if is_met and not base.is_definition and not _PLAIN_ELEMENT.match(ours.text):
            why = f"one side changed when or how often one {base.words} is run, the other changed the code that it runs"
            self.record.doubts.append(Spot(Reason.INTERFERES, why, base.rows, ours.rows, theirs.rows))

    def _leaf(self, base: Element, ours: Element, theirs: Element) -> list[Piece]:
        if not (base.is_prose and ours.is_prose and theirs.is_prose):
            higher = higher_version(base.text, ours.text, theirs.text)
            return [_clash(base, ours, theirs, () if higher is None else (higher,))]
        self.record.notes.append("both sides changed one documentation text")
        return merge_prose(base.text, ours.text, theirs.text, at=(base.start, ours.start, theirs.start))

    def _children(self, base: Element, ours: Element, theirs: Element) -> list[Piece]:
        weave = SequenceMerge(self.record, (base, ours, theirs), self._child(base))
        pieces = weave.pieces()
        if base.shape is Shape.PARTS and not base.has_body and weave.met_apart:
            joined = settled(pieces)
            return [_clash(base, ours, theirs, () if joined is None else (joined,))]
        return pieces

    def _child(self, base: Element) -> Merging:
        """Return how an element's children are merged: the parts of a head are recorded as one edit, not singly."""
        if not base.has_body:
            return self.merge
        muted = Structure(self.record.without_edits())
        return lambda one, ours, theirs: (self if one.holds_body else muted).merge(one, ours, theirs)


def _is_same_set(one: Element, other: Element) -> bool:
    """Whether two versions have the same modifiers, in any order."""
    return one.kind == "modifiers" and one.tokens == other.tokens and not one.text.count(b"@")


def _laid_out_alone(base: Element, ours: Element, theirs: Element) -> tuple[Element, Element] | None:
    """Return, for an import, the version with changed names and the one with only a changed layout; else None."""
    if base.node.type not in base.profile.runs or base.profile.comment_mark in base.text + ours.text + theirs.text:
        return None
    names = [_WORD.findall(each.text) for each in (base, ours, theirs)]
    if names[0] == names[1]:
        return theirs, ours
    return (ours, theirs) if names[0] == names[2] else None


def _laid_out(names: Element, layout: Element) -> bytes:
    """Write the names of one version of an import in the layout of another version."""
    given, shown = (
        next((part.children for part in each.children if part.shape is Shape.LIST), ()) for each in (names, layout)
    )
    between = [layout.source[one.end : other.start] for one, other in pairwise(shown)]
    separator = max(between, key=lambda text: text.count(b"\n"), default=b", ")
    text = separator.join(each.text for each in given)
    return layout.source[layout.start : shown[0].start] + text + layout.source[shown[-1].end : layout.end]


def _parts(element: Element, *, bodies: bool) -> list[bytes]:
    return [each.text for each in element.children if each.holds_body is bodies]


def _clash(base: Element, ours: Element, theirs: Element, joined: tuple[bytes, ...] = ()) -> Clash:
    why = f"both sides changed one {base.words}"
    at = (base.start, ours.start, theirs.start)
    return Clash(base.text, ours.text, theirs.text, Reason.BOTH_CHANGED, why, at, joined)
