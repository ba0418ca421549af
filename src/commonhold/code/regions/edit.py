"""Edits of regions, and the candidate text that they make together."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import ClassVar

from commonhold.code.regions.encoding import BLANK, BOM, encoding_of
from commonhold.code.regions.language import LONE_RETURN, Layout
from commonhold.code.regions.languages import language_for, language_named
from commonhold.code.regions.region import Region, RegionMap, Span
from commonhold.code.regions.separators import mended
from commonhold.code.regions.text_conventions import Style, definition_text, header_text
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.keys import Key, Kind, Name
from commonhold.kernel.texts import MARK


@dataclass(frozen=True, slots=True)
class Replace:
    """New text for a region. `span` is an index into `region.spans`, for headers only; None means the one with code."""

    region: Region
    text: str
    span: int | None = None

    @property
    def key(self) -> Key:
        """The key of the region."""
        return self.region.key

    @property
    def parent(self) -> Key | None:
        """The key of the class or file around it; None for a file."""
        return self.region.parent

    @property
    def is_header(self) -> bool:
        """Whether it is a header that gets new text."""
        return self.key.is_header

    @property
    def is_whole_file(self) -> bool:
        """Whether it is the file that gets new text."""
        return self.region.kind is Kind.FILE


@dataclass(frozen=True, slots=True)
class Insert:
    """A new definition, last named in `key`.

    `after` is a sibling, the container's header (before its first definition), or None (at the container's end).
    """

    key: Key
    after: Region | None
    container: Region
    text: str

    is_header: ClassVar = False
    is_whole_file: ClassVar = False

    @property
    def parent(self) -> Key:
        """The key of the container."""
        return self.container.key


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove a definition."""

    region: Region

    is_header: ClassVar = False
    is_whole_file: ClassVar = False

    @property
    def key(self) -> Key:
        """The key of the region."""
        return self.region.key

    @property
    def parent(self) -> Key | None:
        """The key of the class or file around it."""
        return self.region.parent


RegionEdit = Replace | Insert | Delete


@dataclass(frozen=True, slots=True)
class Placed:
    """The place of an edit's text in the candidate, in bytes; empty for a Delete."""

    edit: RegionEdit
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Spliced:
    """A candidate, and the places of the edits, in the order in which the edits were given."""

    source: bytes
    placed: tuple[Placed, ...]


def splice(before: RegionMap, edits: Sequence[RegionEdit]) -> Spliced:
    """Apply edits that all refer to the bytes of `before`.

    Bytes outside them stay, except for blank lines around inserts and deletes, and a last line end. Inserts at one
    anchor keep their order. A definition keeps exactly one line end; an insert gets the blank lines that it lacks; a
    delete leaves no surplus of them. Line ends follow a file that is all LF or all CRLF; the byte order mark stays.

    Raises InputError CHANGESET_INVALID for edits that overlap, have no place, or contain a line end that Python and the
    syntax tree see differently; ENCODING_INVALID for text that the file's encoding cannot represent.
    """
    _refuse_twins(edits)
    style = Style.of(before)
    pieces = sorted((_piece(before, style, index, edit) for index, edit in enumerate(edits)), key=_order)
    _refuse_overlaps(edits, pieces)
    candidate = _Candidate(style, language_named(before.language).layout)
    position = 0
    for piece in _with_blank_lines_cut(before.source, pieces, candidate.layout):
        candidate.keep(before.source[position : piece.start])
        candidate.place(piece)
        position = piece.end
    candidate.keep(before.source[position:])
    placed = tuple(candidate.spots[index] for index in sorted(candidate.spots))
    spliced = Spliced(bytes(candidate.source), placed)
    if separator := candidate.layout.separator:
        spliced = _separated(before, spliced, separator)
    _refuse_other_encoding(before, style, spliced.source, edits)
    return spliced


def _separated(before: RegionMap, made: Spliced, separator: bytes) -> Spliced:
    """Add and remove commas as the changed entries need."""
    seams = {edge for each in made.placed if _changes_entry(before, made, each) for edge in (each.start, each.end)}
    source, spans = mended(made.source, seams, [(each.start, each.end) for each in made.placed], separator)
    placed = (Placed(each.edit, *span) for each, span in zip(made.placed, spans, strict=True))
    return Spliced(source, tuple(placed))


def _changes_entry(before: RegionMap, made: Spliced, placed: Placed) -> bool:
    edit = placed.edit
    if not isinstance(edit, Replace):
        return True
    is_entry = not edit.is_header and not edit.is_whole_file
    return is_entry and made.source[placed.start : placed.end] != before.cut(edit.region.spans[0])


def text_of(map: RegionMap, region: Region, span: int | None = None) -> str:  # noqa: A002 - the word of the domain
    """Return a region's text (or that of one span), decoded, without a byte order mark; a header's spans are joined.

    Raises InputError ENCODING_INVALID for bytes that are not in the file's encoding.
    """
    data = map.bytes_of(region) if span is None else map.cut(region.spans[span])
    encoding = encoding_of(map.source, language_for(map.path, map.source))
    try:
        return encoding.decode(data)
    except UnicodeError as error:
        raise InputError(
            Code.ENCODING_INVALID,
            f"{map.path} is not valid {encoding.codec}: {error}",
            hint="lease the whole file and work on its bytes",
            fields={"path": map.path, "encoding": encoding.codec},
        ) from error


@dataclass(frozen=True, slots=True)
class _Piece:
    """The bytes [start, end) of the old source are replaced by `data`; `index` is the edit's place in the sequence."""

    index: int
    edit: RegionEdit
    start: int
    end: int
    data: bytes
    depth: int = 0


def _order(piece: _Piece) -> tuple[int, int, int, int]:
    """Sort by place; at one place: empty spans, inserts from the innermost class outward, replaced text."""
    if isinstance(piece.edit, Insert):
        return piece.start, 1, -piece.depth, piece.index
    return piece.start, 0 if piece.start == piece.end else 2, 0, piece.index


def _piece(before: RegionMap, style: Style, index: int, edit: RegionEdit) -> _Piece:
    if isinstance(edit, Insert):
        _refuse_lone_returns(before, edit)
        anchor = _anchor(before, edit)
        data = style.bytes_of(definition_text(edit.text, has_line_end=True))
        return _Piece(index, edit, anchor, anchor, data, len(edit.container.key.names))
    if isinstance(edit, Delete):
        if not edit.region.is_definition:
            raise _invalid(f"{edit.key} is no definition and cannot be deleted", "replace its text instead")
        return _Piece(index, edit, *edit.region.spans[0], b"")
    start, end = replaced_span(before, edit)
    return _Piece(index, edit, start, end, _replacement(before, style, edit, (start, end)))


def replaced_span(before: RegionMap, edit: Replace) -> Span:
    """Return the bytes of `before` that an edit replaces. Raises InputError CHANGESET_INVALID if that is ambiguous."""
    region = edit.region
    if edit.span is None:
        return _only_span_with_code(before, region) if edit.is_header else region.spans[0]
    if not edit.is_header:
        raise _invalid(f"{region.key} has no numbered spans", "leave out the span; only headers have several")
    if not 0 <= edit.span < len(region.spans):
        raise _invalid(f"{region.key} has no span {edit.span}", f"its spans are 0 to {len(region.spans) - 1}")
    return region.spans[edit.span]


def _only_span_with_code(before: RegionMap, region: Region) -> Span:
    texts = map(before.cut, region.spans)
    filled = [index for index, text in enumerate(texts) if text.removeprefix(BOM).strip(BLANK)]
    if len(filled) > 1:
        raise _invalid(
            f"{region.key} has {len(filled)} spans with text; say which one the edit replaces",
            f"give the span, one of {', '.join(map(str, filled))}",
            spans=[[index, *region.spans[index]] for index in filled],
        )
    return region.spans[filled[0] if filled else 0]


def _replacement(before: RegionMap, style: Style, edit: Replace, span: Span) -> bytes:
    """Return the bytes for a replaced span; the present ones if they already spell the text."""
    old = before.cut(span)
    if style.text_of(old) == edit.text:  # several spellings may decode to one text
        return old
    _refuse_lone_returns(before, edit)
    bom = style.encoding.bom if span[0] == 0 else b""
    if edit.is_whole_file:
        return bom + style.declared_by(edit.text).bytes_of(edit.text)
    is_followed = span[1] < len(before.source)
    if edit.is_header:
        return bom + style.bytes_of(header_text(edit.text, style.text_of(old), has_line_end=is_followed))
    return style.bytes_of(definition_text(edit.text, has_line_end=is_followed or old.endswith(b"\n")))


def _anchor(before: RegionMap, edit: Insert) -> int:
    container, after = edit.container, edit.after
    if not container.is_container or len(before.regions) == 1:
        raise _invalid(f"{container.key} takes no definitions", "insert into a container, or replace the whole file")
    if container.key in before.inline_classes:
        raise _invalid(
            f"{container.key} has its body on the line of its name", f"replace {container.key} with its new text"
        )
    if after is None:
        return _body_end(before, container)
    if after.parent != container.key:
        raise _invalid(f"{after.key} does not lie directly in {container.key}", "name a sibling, or leave out `after`")
    return _before_first_definition(before, edit) if after.key.is_header else after.end


def _body_end(before: RegionMap, container: Region) -> int:
    """Return the place after a container's last member: above the line that ends it, if it has one."""
    return before.body_ends.get(container.key, container.end)


def _before_first_definition(before: RegionMap, edit: Insert) -> int:
    """Return the start of the container's first definition at the text's indent (none under `if`), else its end."""
    indent = _indent(edit.text.removeprefix(MARK).encode(errors="replace"))
    return next(
        (
            region.start
            for region in before.regions
            if region.parent == edit.parent and region.is_definition and _indent(before.bytes_of(region)) == indent
        ),
        _body_end(before, edit.container),
    )


def _indent(data: bytes) -> bytes:
    """Return the white space before the first other character."""
    return data[: len(data) - len(data.lstrip(BLANK))].rpartition(b"\n")[2]


def _refuse_twins(edits: Iterable[RegionEdit]) -> None:
    """Refuse two inserts under one name; an intended second definition is named with its number, `x~2`."""
    seen: dict[Key, Insert] = {}
    for edit in edits:
        if isinstance(edit, Insert):
            name = edit.key.names[-1]
            plain = edit.container.key.child(Name(name.text, name.ordinal if name.ordinal > 1 else 0))
            if plain in seen:
                keys = [str(seen[plain].key), str(edit.key)]
                raise _invalid(
                    f"the inserts of {keys[0]} and {keys[1]} define the same name",
                    f"insert one of them, or name a second definition that is meant {plain}~2",
                    keys=keys,
                )
            seen[plain] = edit


def _refuse_lone_returns(before: RegionMap, edit: Replace | Insert) -> None:
    """Refuse lone carriage returns: Python ends a line at them, the syntax tree does not, so their programs differ."""
    language = language_for(before.path, before.source)
    if language is None or not language.text_kind or not LONE_RETURN.search(edit.text.encode(errors="replace")):
        return
    raise _invalid(
        f"the text for {edit.key} has a carriage return without a line feed, at which {language.name} ends a line",
        r"end lines with a line feed; in a string, write \r",
    )


def _refuse_overlaps(edits: Sequence[RegionEdit], pieces: Sequence[_Piece]) -> None:
    replaced = {edit.key: edit for edit in edits if not isinstance(edit, Insert)}
    for edit in edits:
        around = edit.parent.upward() if edit.parent else ()
        if clash := next((replaced[key] for key in around if key in replaced), None):
            raise _overlap(clash, edit)
    for left, right in pairwise(pieces):
        same = left.start == right.start and left.end == right.end and not isinstance(right.edit, Insert)
        if left.end > right.start or (same and not isinstance(left.edit, Insert)):
            raise _overlap(left.edit, right.edit)


def _with_blank_lines_cut(source: bytes, pieces: Sequence[_Piece], layout: Layout) -> list[_Piece]:
    """Extend deletions upward over surplus blank lines; deletions in a row count as one."""
    cut: list[_Piece] = []
    for index, piece in enumerate(pieces):
        floor = cut[-1].end if cut else 0
        start = piece.start
        if isinstance(piece.edit, Delete):
            follows_delete = bool(cut) and isinstance(cut[-1].edit, Delete)
            continues = follows_delete and not source[floor:start].strip(BLANK)
            start = floor if continues else _cut_start(source, floor, pieces, index, layout)
        cut.append(replace(piece, start=start))
    return cut


def _cut_start(source: bytes, floor: int, pieces: Sequence[_Piece], index: int, layout: Layout) -> int:
    """Return where the deletion of a piece begins, so that the longer of the two runs of blank lines is left."""
    end, ceiling = _run_end(source, pieces, index)
    start = pieces[index].start
    starts = [each for each in _blank_lines_above(source, start) if each >= floor]
    code_start = _code_start(source, end, ceiling)
    blank_below = source.count(b"\n", end, code_start)
    is_last = ceiling == code_start == len(source) or bool(layout.closes.match(source, code_start, ceiling))
    size = len(starts) if is_last else min(len(starts), blank_below)
    return starts[-size] if size else start


def _blank_lines_above(source: bytes, position: int) -> list[int]:
    """Return the starts of the blank lines that end at `position`, first to last."""
    code_end = _code_end(source, position)
    has_code = code_end > len(BOM) or source[:code_end] not in (b"", BOM)
    ends = [code_end + match.end() for match in re.finditer(b"\n", source[code_end:position])]
    return ends[:-1] if has_code else [code_end, *ends][:-1]


def _code_start(source: bytes, position: int, limit: int) -> int:
    """Return the first byte from a position on that is not blank, or the limit."""
    while position < limit and source[position] in BLANK:
        position += 1
    return position


def _code_end(source: bytes | bytearray, position: int) -> int:
    """Return the end of the last byte before a position that is not blank."""
    while position and source[position - 1] in BLANK:
        position -= 1
    return position


def _run_end(source: bytes, pieces: Sequence[_Piece], index: int) -> tuple[int, int]:
    """Return the end of the deletions that begin with a piece, and the start of the edit after them."""
    end = pieces[index].end
    for piece in islice(pieces, index + 1, None):
        if not isinstance(piece.edit, Delete) or source[end : piece.start].strip(BLANK):
            return end, piece.start
        end = piece.end
    return end, len(source)


@dataclass(slots=True)
class _Candidate:
    """The new source as it grows.

    `owed` is the number of blank lines required before the next line of code, `spots` the places of the edits by their
    index.
    """

    style: Style
    layout: Layout
    source: bytearray = field(default_factory=bytearray)
    owed: int = 0
    spots: dict[int, Placed] = field(default_factory=dict)

    def keep(self, data: bytes) -> None:
        """Append bytes of the old source."""
        blank = len(data) - len(data.lstrip(BLANK))
        lead = data[:blank].count(b"\n")
        if blank == len(data):
            self.owed = max(0, self.owed - lead)
        else:
            if not self.layout.closes.match(data, blank):
                self._blank_lines(self.owed - lead)
            self.owed = 0
        self.source += data

    def place(self, piece: _Piece) -> None:
        """Append the text of an edit; an insert begins a line, below the blank lines that it lacks."""
        if isinstance(piece.edit, Insert):
            wanted = self.layout.nested if piece.data[:1] in (b" ", b"\t") else self.layout.top
            if bytes(self.source[: len(BOM) + 1]) not in (b"", BOM) and not self.source.endswith(b"\n"):
                self._blank_lines(1)
            self._blank_lines(self._lacking(max(wanted, self.owed)))
            self.source += piece.data
            self.owed = wanted
        else:
            self.keep(piece.data)
        self.spots[piece.index] = Placed(piece.edit, len(self.source) - len(piece.data), len(self.source))

    def _lacking(self, wanted: int) -> int:
        """Return how many blank lines an insert lacks; none at the file's start or below a line that opens a block."""
        end = _code_end(self.source, len(self.source))
        line = bytes(self.source[self.source.rfind(b"\n", 0, end) + 1 : end])
        if line in (b"", BOM) or self.layout.opens.search(line):
            return 0
        return wanted - (self.source.count(b"\n", end) - 1)

    def _blank_lines(self, count: int) -> None:
        self.source += (self.style.line_end or "\n").encode() * max(0, count)


def _refuse_other_encoding(before: RegionMap, style: Style, candidate: bytes, edits: Iterable[RegionEdit]) -> None:
    """Refuse an edit of the encoding line, which would change the meaning of all other bytes."""
    encoding = encoding_of(candidate, language_for(before.path, candidate))
    is_whole = any(edit.is_whole_file for edit in edits)
    if is_whole or encoding.codec == style.encoding.codec or candidate.isascii():
        return
    raise InputError(
        Code.ENCODING_INVALID,
        f"the edit declares {encoding.codec}, but {before.path} is written in {style.encoding.codec}",
        hint="replace the whole file to change its encoding",
        fields={"path": before.path, "encoding": style.encoding.codec},
    )


def _overlap(left: RegionEdit, right: RegionEdit) -> InputError:
    keys = [str(left.key), str(right.key)]
    return _invalid(f"the edits of {keys[0]} and {keys[1]} overlap", "make one edit of both", keys=keys)


def _invalid(message: str, hint: str, **fields: object) -> InputError:
    return InputError(Code.CHANGESET_INVALID, message, hint=hint, fields=fields)
