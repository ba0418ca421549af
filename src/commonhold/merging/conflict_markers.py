"""Write an unsettled merge as a text with standard conflict markers around whole lines."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from commonhold.merging.align import equal_ends
from commonhold.merging.pieces import Clash, Piece
from commonhold.merging.prose import lines_of
from commonhold.merging.verdict import Lines, Sides, Spot

_LINE_END: Final = re.compile(rb"\n")
_LINE_ENDS: Final = (b"\r\n", b"\n")


@dataclass(slots=True)
class _Block:
    """Lines that are the same in all three (`ours` alone is filled), or a conflict."""

    base: bytearray
    ours: bytearray
    theirs: bytearray
    is_conflict: bool

    def extend(self, text: bytes) -> None:
        """Add text that is the same in all three."""
        self.base += text
        self.ours += text
        self.theirs += text


def marked(pieces: Sequence[Piece], sides: Sides) -> bytes:
    """Return the text, with each clash widened to whole lines and marked."""
    return b"".join(_shown(block, sides) for block in _blocks(_on_lines(pieces)))


def _on_lines(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the same text: pieces that began with the previous line's end now end with their own line's end."""
    turned: list[Piece] = [b"", *(piece for piece in pieces if piece != b"")]
    for index in range(1, len(turned) - 1):
        before, piece, following = turned[index - 1 : index + 2]
        if not isinstance(piece, Clash) or isinstance(following, Clash) or isinstance(before, Clash):
            continue
        texts = [text for text in (piece.base, piece.ours, piece.theirs) if text]
        line_end = next((end for end in _LINE_ENDS if following.startswith(end)), b"")
        if line_end and texts and all(text.startswith(line_end) for text in texts):
            turned[index - 1] = before + line_end
            turned[index] = _turned(piece, line_end)
            turned[index + 1] = following[len(line_end) :]
    return turned


def _turned(clash: Clash, line_end: bytes) -> Clash:
    base, ours, theirs = (
        text[len(line_end) :] + line_end if text else text for text in (clash.base, clash.ours, clash.theirs)
    )
    return replace(clash, base=base, ours=ours, theirs=theirs)


def _blocks(pieces: Sequence[Piece]) -> list[_Block]:
    blocks = [_Block(bytearray(), bytearray(), bytearray(), is_conflict=False)]
    for piece in pieces:
        if isinstance(piece, Clash):
            _open(blocks)
            blocks[-1].base += piece.base
            blocks[-1].ours += piece.ours
            blocks[-1].theirs += piece.theirs
        elif blocks[-1].is_conflict and not _ends_in_line(blocks[-1]):
            line_end = piece.find(b"\n") + 1 or len(piece)
            blocks[-1].extend(piece[:line_end])
            if piece[line_end:]:
                blocks.append(_Block(bytearray(), bytearray(piece[line_end:]), bytearray(), is_conflict=False))
        elif blocks[-1].is_conflict:
            blocks.append(_Block(bytearray(), bytearray(piece), bytearray(), is_conflict=False))
        else:
            blocks[-1].ours += piece
    return blocks


def _ends_in_line(block: _Block) -> bool:
    return all(not text or text.endswith(b"\n") for text in (block.base, block.ours, block.theirs))


def _open(blocks: list[_Block]) -> None:
    """Begin a conflict at the start of the present line."""
    last = blocks[-1]
    if last.is_conflict:
        return
    start = last.ours.rfind(b"\n") + 1
    head = bytes(last.ours[start:])
    del last.ours[start:]
    blocks.append(_Block(bytearray(head), bytearray(head), bytearray(head), is_conflict=True))


def _shown(block: _Block, sides: Sides) -> bytes:
    if not block.is_conflict:
        return bytes(block.ours)
    ours, theirs = lines_of(bytes(block.ours)), lines_of(bytes(block.theirs))
    head, tail = equal_ends(ours, theirs)
    mine, others = (b"".join(lines[head : len(lines) - tail]) for lines in (ours, theirs))
    return b"".join((*ours[:head], _conflict(mine, others, sides), *ours[len(ours) - tail :]))


def _conflict(ours: bytes, theirs: bytes, sides: Sides) -> bytes:
    line_end = b"\r\n" if b"\r\n" in ours + theirs else b"\n"
    parts = []
    for mark, name, text in ((b"<", sides.ours, ours), (b"=", "", theirs)):
        parts.append(mark * sides.marker_size + (b" " + name.encode(errors="replace") if name else b"") + line_end)
        parts.append(text + (b"" if not text or text.endswith(b"\n") else line_end))
    parts.append(b">" * sides.marker_size + b" " + sides.theirs.encode(errors="replace") + line_end)
    return b"".join(parts)


def spots_of(clashes: Iterable[Clash], versions: Sequence[bytes]) -> list[Spot]:
    """Return the places of clashes, in lines of base, ours and theirs."""
    ends = [[match.end() for match in _LINE_END.finditer(text)] for text in versions]
    return [_spot(each, ends) for each in clashes]


def _spot(clash: Clash, ends: Sequence[Sequence[int]]) -> Spot:
    texts = (clash.base, clash.ours, clash.theirs)
    base, ours, theirs = (_lines(*each) for each in zip(ends, clash.at, texts, strict=True))
    return Spot(clash.reason, clash.why, base, ours, theirs)


def _lines(ends: Sequence[int], at: int, text: bytes) -> Lines:
    blank = len(text) - len(text.lstrip(b"\r\n"))
    first = bisect_right(ends, at + blank)
    body = text.strip(b"\r\n")
    return first, first + (body.count(b"\n") + 1 if body else 0)
