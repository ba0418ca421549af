"""Write merged elements as text again: blank space, comments and separators are kept as each side has them."""

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
    """One element of the result: its lead and its body. `element` is the version whose style counts."""

    element: Element
    lead: list[Piece]
    body: list[Piece]


def whole_entry(element: Element) -> Entry:
    """Return an element as one version has it."""
    return Entry(element, [element.lead], [element.text])


def after_gap(entry: Entry, gap: bytes) -> Entry:
    """Return an entry before which one was left out: its lead is the wider of their two blank spaces."""
    lead = settled(entry.lead)
    is_wider = lead is not None and not lead.strip(BLANK) and gap.count(b"\n") > lead.count(b"\n")
    return replace(entry, lead=[gap]) if is_wider else entry


def merged_space(base: bytes, ours: bytes, theirs: bytes, at: tuple[int, int, int] = (0, 0, 0)) -> list[Piece]:
    """Merge the text between elements: of two changes of blank space the larger is kept, of comments both."""
    alone = uncontested(base, ours, theirs)
    if alone is not None:
        return [alone]
    if not (ours + theirs).strip(BLANK):
        return [max(ours, theirs, key=lambda text: (len(text), text))]
    derived = merged_derives(base, ours, theirs)
    return [derived] if derived is not None else merge_prose(base, ours, theirs, at=at)


def closing(versions: Versions) -> list[Piece]:
    """Return the text after the last element, without a separator."""
    base, ours, theirs = (_bare_close(each) for each in versions)
    return merged_space(base, ours, theirs)


def _bare_close(element: Element) -> bytes:
    """Return the text after the last element, on a new line if there is no element before it."""
    close = element.close[len(_trailing(element)) :]
    is_alone = element.shape is Shape.BLOCK and not element.children and close.strip(BLANK)
    return element.line_end + close if is_alone and not close.startswith((b"\n", b"\r\n")) else close


def in_block(entries: Sequence[Entry], versions: Versions, kept: set[int]) -> list[Entry]:
    """Adjust the blank space before the entries of a block.

    An entry that a side put first, and that is not first now, gets the space of the element that follows it there. The
    first entry of a file loses its leading line end. A directive of C contains the end of its line: an entry that stood
    below one may need a line end now. `kept` are the identities of the elements that were there before.
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
        elif _is_blank(entry) and _leans_on_line_end(entry) and not _ends_line(spaced[-1]):
            spaced.append(replace(entry, lead=[_broken(entry)]))
        else:
            spaced.append(entry)
    return spaced


def _opening(entry: Entry) -> Entry:
    """Return the first entry of a file without the leading line end that every other entry has."""
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
    return _ends_line(before, b";") or b"\n" in (settled(entry.lead) or b"")


def _ends_line(entry: Entry, *others: bytes) -> bool:
    """Whether an entry ends with a line end, or with one of `others`."""
    last = next((piece for piece in reversed(entry.body) if piece != b""), b"")
    return not isinstance(last, Clash) and last.endswith((b"\n", *others))


def _leans_on_line_end(entry: Entry) -> bool:
    """Whether an entry begins a line because, in its version, the element before it contains the line end."""
    at = entry.element.lead_start
    return entry.element.source[at - 1 : at] == b"\n" and b"\n" not in (settled(entry.lead) or b"")


def _broken(entry: Entry) -> bytes:
    """Return the blank space before an entry, with a line end in it."""
    lead = settled(entry.lead) or b""
    return lead if b"\n" in lead else entry.element.line_end + lead


def in_list(entries: Sequence[Entry], versions: Versions) -> list[Piece]:
    """Join entries with separators; whether the last has one is decided by the side that changed this."""
    style = _ListStyle(versions)
    pieces: list[Piece] = []
    for index, entry in enumerate(entries):
        pieces += style.lead(entry, is_first=not index)
        is_separated = index < len(entries) - 1 or style.has_trailing or style.is_lone(entries)
        pieces += _separated(entry, style.separator(entry.element)) if is_separated else entry.body
    return pieces + closing(versions)


def _separated(entry: Entry, separator: bytes) -> list[Piece]:
    """Add the separator to an entry; if a side of a clash lacks the entry, the separator goes into the clash."""
    match entry.body:
        case [Clash(base, ours, theirs) as clash] if not (base and ours and theirs):
            base, ours, theirs = (text + separator if text else text for text in (base, ours, theirs))
            joined = tuple(text + separator for text in clash.joined)
            return [replace(clash, base=base, ours=ours, theirs=theirs, joined=joined)]
        case _:
            return [*entry.body, separator]


@dataclass(frozen=True)
class _ListStyle:
    """How three versions of a list separate and indent their entries."""

    versions: Versions

    @property
    def has_trailing(self) -> bool:
        """Whether the last entry has a separator after it, as in the side that changed this."""
        base, ours, theirs = (bool(_trailing(each)) for each in self.versions)
        return theirs if ours == base else ours

    def is_lone(self, entries: Sequence[Entry]) -> bool:
        """Whether only the separator makes the remaining text a list, as in a tuple of one."""
        return len(entries) == 1 and self.versions[0].list_kind in self.versions[0].profile.lone

    def separator(self, element: Element) -> bytes:
        """Return the separator after an entry, with the comment that stands on its line."""
        known = self._separators.get(id(element))
        return known or self._usual_separator or self.versions[0].separator

    @cached_property
    def _usual_separator(self) -> bytes:
        """The longest separator of the versions, if one may stand on the line of the next entry; else empty."""
        if self.versions[0].list_kind not in self.versions[0].profile.separators:
            return b""
        return max(self._separators.values(), key=len, default=b"")

    @cached_property
    def _separators(self) -> dict[int, bytes]:
        return {id(child): text for version in self.versions for child, text in _separators(version)}

    def lead(self, entry: Entry, *, is_first: bool) -> list[Piece]:
        """Return the lead of an entry; one that is newly first, or no longer first, takes on the usual space."""
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
        """The usual lead of entries after the first: a line of their own, if one version has it so."""
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
    """Return the separator after the last entry of a list, with a comment on its line; empty if there is none."""
    close, profile = element.close, element.profile
    if element.shape is not Shape.LIST or not element.children or not close.lstrip(BLANK).startswith(element.separator):
        return b""
    end = close.index(element.separator) + len(element.separator)
    line = close[end:].partition(b"\n")[0].removesuffix(b"\r")
    return close[: end + len(line)] if line.strip().startswith(profile.comment_mark) else close[:end]
