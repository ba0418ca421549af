"""Locate the content that an edit started from in the present file."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from commonhold.code.regions.discover import discover
from commonhold.code.regions.encoding import BLANK
from commonhold.code.regions.region import Region, RegionMap, Span, hash_bytes, hash_spans
from commonhold.commits.counted_keys import may_be_another
from commonhold.kernel.keys import Key
from commonhold.reads.content_history import ContentHistory, lines_of
from commonhold.reads.stale_base import Stale


@dataclass(frozen=True, slots=True)
class Origin:
    """The base of an edit: its bytes `data`, and the `span` of the present file that replaced them.

    `index` is the number of that span in a header.
    """

    key: Key
    span: Span
    data: bytes
    index: int | None = None


@dataclass(frozen=True, slots=True)
class _Piece:
    """One span of a header at the base; `number` is its index there, `is_sure` if not only the edit says so."""

    data: bytes
    number: int | None
    is_sure: bool = False


def origin_of(past: ContentHistory, stale: Stale) -> Origin | None:
    """Return the base of an edit of a changed region; None if it is not known for sure.

    It is not known if the key contains a count, and that count may have changed.
    """
    region, source, base = stale.region, stale.source, stale.base
    if region is None or source is None or base is None:
        return None
    kept = past.content(base)
    if not region.key.is_header:
        if may_be_another(past, stale, region, base):
            return None
        if kept is None:
            kept = next(iter(_from_version(past, stale.key.file_path, region, base)), None)
        return None if kept is None else Origin(region.key, region.spans[0], kept)
    if kept is not None and hash_bytes(kept).startswith(base):
        piece: _Piece | None = _Piece(kept, stale.span)
    else:
        piece = _piece_of(_pieces_then(past, source, region, base, kept), stale.span)
    index = None if piece is None else _index_now(source, region, piece)
    return None if piece is None or index is None else Origin(region.key, region.spans[index], piece.data, index)


def _pieces_then(
    past: ContentHistory, source: RegionMap, region: Region, base: str, kept: bytes | None
) -> Sequence[bytes]:
    """Return the pieces of a header at its base; empty if unknown. `kept` is the stored header, its pieces joined."""
    found = _with_one_changed(source, region, base, kept) if kept is not None else None
    return found or _from_version(past, region.key.file_path, region, base)


def _from_version(past: ContentHistory, path: str, region: Region, base: str) -> Sequence[bytes]:
    version = past.version_with(region.key, base)
    if version is None:
        return ()
    then = discover(version, path)
    found = then.by_key.get(region.key)
    return [then.cut(span) for span in found.spans] if found and found.hash.startswith(base) else ()


def _with_one_changed(source: RegionMap, region: Region, base: str, joined: bytes) -> Sequence[bytes] | None:
    """Return the pieces of `joined`, if all but one are the same as the present ones."""
    pieces = [source.cut(span) for span in region.spans]
    ends = list(accumulate(map(len, pieces), initial=0))
    same_before = next((i for i, each in enumerate(pieces) if not joined.startswith(each, ends[i])), len(pieces) - 1)
    for index in range(same_before, -1, -1):
        rest = ends[-1] - ends[index + 1]
        if not joined.endswith(b"".join(pieces[index + 1 :])):
            break
        then = [*pieces[:index], joined[ends[index] : len(joined) - rest], *pieces[index + 1 :]]
        if _hash_of(then).startswith(base):
            return then
    return None


def _hash_of(pieces: Sequence[bytes]) -> str:
    spans: list[Span] = []
    position = 0
    for piece in pieces:
        spans.append((position, position + len(piece)))
        position += len(piece)
    return hash_spans(b"".join(pieces), spans)


def _piece_of(pieces: Sequence[bytes], span: int | None) -> _Piece | None:
    """Return the piece that an edit means: the one it names, or the only one that is not blank."""
    if span is not None:
        return _Piece(pieces[span], span, is_sure=True) if span < len(pieces) else None
    filled = [index for index, piece in enumerate(pieces) if piece.strip(BLANK)]
    return _Piece(pieces[filled[0]], filled[0], is_sure=True) if len(filled) == 1 else None


def _index_now(source: RegionMap, region: Region, piece: _Piece) -> int | None:
    """Return the present index of a piece: the first stays first, any other is matched by likeness."""
    if (piece.is_sure and piece.number == 0) or len(region.spans) == 1:
        return 0
    alike = likeliest(source, region.spans, piece.data)
    if len(alike) == 1:
        return alike[0]
    return piece.number if piece.number in alike else None


def likeliest(source: RegionMap, spans: Sequence[Span], piece: bytes) -> list[int]:
    """Return the indexes of the header spans with most lines of `piece` (blank ones ignored); empty if none has any."""
    wanted = _lines(piece)
    counted = [_lines(source.cut(span)) for span in spans]
    likeness = [2 * (each & wanted).total() / max(1, each.total() + wanted.total()) for each in counted]
    return [index for index, each in enumerate(likeness) if each and each == max(likeness)]


def _lines(data: bytes) -> Counter[str]:
    return Counter(line for line in lines_of(data) if line.strip())
