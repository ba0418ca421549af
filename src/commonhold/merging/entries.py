"""How merged elements are put together again: blank space, comments and separators, each side's as it had them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from commonhold.merging.derives import merged_derives
from commonhold.merging.layout import BLANK, Element, Shape
from commonhold.merging.pieces import Clash, Piece, settled, uncontested
from commonhold.merging.prose import merge_prose

Versions = tuple[Element, Element, Element]


@dataclass(frozen=True, slots=True)
class Entry:
    """One element of the result: what leads to it and what it says. `element` is the version whose style counts."""

    element: Element
    lead: list[Piece]
    body: list[Piece]


def whole_entry(element: Element) -> Entry:
    """An element as one version has it."""
    return Entry(element, [element.lead], [element.text])


def after_gap(entry: Entry, gap: bytes) -> Entry:
    """An entry before which one was left out: the wider of both their blank spaces leads to it."""
    lead = settled(entry.lead)
    is_wider = lead is not None and not lead.strip(BLANK) and gap.count(b"\n") > lead.count(b"\n")
    return replace(entry, lead=[gap]) if is_wider else entry


def merged_space(base: bytes, ours: bytes, theirs: bytes, at: tuple[int, int, int] = (0, 0, 0)) -> list[Piece]:
    """What stands between elements, merged: of two changes of blank space the larger, of comments both."""
    alone = uncontested(base, ours, theirs)
    if alone is not None:
        return [alone]
    if not (ours + theirs).strip(BLANK):
        return [max(ours, theirs, key=lambda text: (len(text), text))]
    derived = merged_derives(base, ours, theirs)
    return [derived] if derived is not None else merge_prose(base, ours, theirs, at=at)


def closing(versions: Versions) -> list[Piece]:
    """What follows the last element, without a separator."""
    base, ours, theirs = (_bare_close(each) for each in versions)
    return merged_space(base, ours, theirs)


def _bare_close(element: Element) -> bytes:
    """What follows the last element, on a line of its own where there is none that it could follow."""
    close = element.close[len(_trailing(element)) :]
    is_alone = element.shape is Shape.BLOCK and not element.children and close.strip(BLANK)
    return element.line_end + close if is_alone and not close.startswith((b"\n", b"\r\n")) else close


def in_block(entries: Sequence[Entry], versions: Versions, kept: set[int]) -> list[Entry]:
    """What was put in first and does not stand there gets the space of what follows it; what opens a file, none.

    `kept` are the identities of the elements that were there before.
    """
    firsts = {id(each.children[0]) for each in versions if each.children}
    put_first = firsts - kept
    after = {id(child): following.lead for each in versions for child, following in pairwise(each.children)}
    spaced: list[Entry] = []
    for index, entry in enumerate(entries):
        if not index:
            spaced.append(_opening(entry) if versions[0].is_file else entry)
        elif _is_blank(entry) and id(entry.element) in (firsts if not _has_line_end(entry, spaced[-1]) else put_first):
            space = after.get(id(entry.element), b"")
            is_wider = b"\n" in space and not space.strip(BLANK)
            spaced.append(replace(entry, lead=[space if is_wider else _broken(entry)]))
        else:
            spaced.append(entry)
    return spaced


def _opening(entry: Entry) -> Entry:
    """The first entry of a file, without the line end that leads to every other."""
    pieces = [*entry.lead, *entry.body]
    first, at = next(((piece, at) for at, piece in enumerate(pieces) if piece != b""), (b"", 0))
    pieces[at] = _unled(first)
    return replace(entry, lead=pieces[: len(entry.lead)], body=pieces[len(entry.lead) :])


def _unled(piece: Piece) -> Piece:
    if isinstance(piece, Clash):
        base, ours, theirs = (_without_line_end(text) for text in (piece.base, piece.ours, piece.theirs))
        return replace(piece, base=base, ours=ours, theirs=theirs)
    return _without_line_end(piece)


def _without_line_end(text: bytes) -> bytes:
    return text.removeprefix(b"\r\n") if text.startswith(b"\r\n") else text.removeprefix(b"\n")


def _is_blank(entry: Entry) -> bool:
    lead = settled(entry.lead)
    return lead is not None and not lead.strip(BLANK) and not isinstance(entry.body[0], Clash)


def _has_line_end(entry: Entry, before: Entry) -> bool:
    """Whether a line, or at least a statement, ends before an entry."""
    last = next((piece for piece in reversed(before.body) if piece != b""), b"")
    is_ended = not isinstance(last, Clash) and last.endswith((b";", b"\n"))
    return is_ended or b"\n" in (settled(entry.lead) or b"")


def _broken(entry: Entry) -> bytes:
    """The blank space before an entry, with a line end in it."""
    lead = settled(entry.lead) or b""
    return lead if b"\n" in lead else entry.element.line_end + lead


def in_list(entries: Sequence[Entry], versions: Versions) -> list[Piece]:
    """Entries between separators; the last has one if the side that changed this has it so."""
    style = _ListStyle(versions)
    pieces: list[Piece] = []
    for index, entry in enumerate(entries):
        pieces += style.lead(entry, is_first=not index)
        is_separated = index < len(entries) - 1 or style.has_trailing or style.is_lone(entries)
        pieces += _separated(entry, style.separator(entry.element)) if is_separated else entry.body
    return pieces + closing(versions)


def _separated(entry: Entry, separator: bytes) -> list[Piece]:
    """An entry with its separator; one that may not be there takes it along."""
    match entry.body:
        case [Clash(base, ours, theirs) as clash] if not (base and ours and theirs):
            base, ours, theirs = (text + separator if text else text for text in (base, ours, theirs))
            joined = tuple(text + separator for text in clash.joined)
            return [replace(clash, base=base, ours=ours, theirs=theirs, joined=joined)]
        case _:
            return [*entry.body, separator]


@dataclass(frozen=True)
class _ListStyle:
    """How three versions of a list set off their entries."""

    versions: Versions

    @property
    def has_trailing(self) -> bool:
        """Whether the last entry has a separator after it, as the side has it that changed this."""
        base, ours, theirs = (bool(_trailing(each)) for each in self.versions)
        return theirs if ours == base else ours

    def is_lone(self, entries: Sequence[Entry]) -> bool:
        """Whether it is the separator alone that makes a list of what is left."""
        return len(entries) == 1 and self.versions[0].list_kind in self.versions[0].profile.lone

    def separator(self, element: Element) -> bytes:
        """The separator after an entry, with the comment that stands on its line."""
        known = self._separators.get(id(element))
        return known or self._usual_separator or self.versions[0].separator

    @cached_property
    def _usual_separator(self) -> bytes:
        """Where a separator may stand on the line of the entry after it, the one that most entries have."""
        if self.versions[0].list_kind not in self.versions[0].profile.separators:
            return b""
        return max(self._separators.values(), key=len, default=b"")

    @cached_property
    def _separators(self) -> dict[int, bytes]:
        return {id(child): text for version in self.versions for child, text in _separators(version)}

    def lead(self, entry: Entry, *, is_first: bool) -> list[Piece]:
        """What leads to an entry; one that came to stand first, or does no more, takes on the usual space."""
        lead = settled(entry.lead)
        if lead is None or lead.strip(BLANK):
            return entry.lead
        was_first = id(entry.element) in self._firsts
        if is_first:
            return entry.lead if was_first else [self._first_lead(lead)]
        if self._usual_lead is None:
            return [lead if not was_first or b"\n" in lead else b" "]
        is_on_own_line = b"\n" in self._usual_lead and b"\n" not in lead
        return [self._usual_lead] if was_first or is_on_own_line else entry.lead

    @cached_property
    def _firsts(self) -> dict[int, bytes]:
        return {id(each.children[0]): each.children[0].lead for each in self.versions if each.children}

    def _first_lead(self, lead: bytes) -> bytes:
        return next((each for each in self._firsts.values() if not each.strip(BLANK)), lead)

    @cached_property
    def _usual_lead(self) -> bytes | None:
        """How entries after the first are set off: on lines of their own, if one version has it so."""
        leads = Counter(child.lead for each in self.versions for child in each.children[1:])
        blank = [(b"\n" in text, count, text) for text, count in leads.items() if not text.strip(BLANK)]
        return max(blank)[2] if blank else None


def _separators(element: Element) -> Iterator[tuple[Element, bytes]]:
    children: Iterable[Element] = element.children
    for child, following in pairwise(children):
        yield child, element.source[child.end : following.lead_start]
    if element.children:
        yield element.children[-1], _trailing(element)


def _trailing(element: Element) -> bytes:
    """The separator after the last entry of a list, with a comment that stands on its line; empty if there is none."""
    close, profile = element.close, element.profile
    if element.shape is not Shape.LIST or not element.children or not close.lstrip(BLANK).startswith(element.separator):
        return b""
    end = close.index(element.separator) + len(element.separator)
    line = close[end:].partition(b"\n")[0].removesuffix(b"\r")
    return close[: end + len(line)] if line.strip().startswith(profile.comment_mark) else close[:end]
