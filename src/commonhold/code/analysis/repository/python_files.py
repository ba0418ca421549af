"""The summary of a Python file; after an edit, only the differing parts of the text are read.

A file is a sequence of chunks, see `python_pieces.py`. The knowledge of statements about each other is kept as facts,
see `facts.py`.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from commonhold.code.analysis.functional_classes import parse_definitions
from commonhold.code.analysis.repository.facts import facts_of, facts_of_members
from commonhold.code.analysis.repository.parts import Chunk, Fact, Facts, PartedSummary
from commonhold.code.analysis.repository.python import read_class, read_members, read_part
from commonhold.code.analysis.repository.python_pieces import Alone, Piece, are_joined, parsed, parsed_again, pieces_of
from commonhold.code.analysis.repository.summary import Summary
from commonhold.code.analysis.scopes import binds_of
from commonhold.code.regions.python_ast import UNREADABLE

_LANGUAGE: Final = "python"
# A byte order mark, or a comment in the first two lines that may declare another encoding than UTF-8.
_ENCODED: Final = re.compile(
    rb"\xef\xbb\xbf|(?:[^\r\n]*(?:\r\n?|\n))?[ \t\f]*#[^\r\n]*coding(?![:=][ \t]*utf-8(?![-\w.]))"
)
_LINE_END: Final = b"\n"
# The indent of the next line that is not blank and not a comment.
_NEXT_INDENT: Final = re.compile(rb"(?:[ \t]*(?:#[^\n]*)?\r?\n)*([ \t]*)[^\s#]")
# After so many failed searches for chunks, all the rest is read again.
_MOST_LOST: Final = 16


def summarise_python(source: bytes) -> Summary:
    """Return the summary of a Python file. Never raises: a file that does not parse offers nothing, with the reason."""
    try:
        tree = parse_definitions(source)
        # In other encodings, lines of the text differ from lines of the bytes.
        is_plain = not _ENCODED.match(source)
        pieces = _pieces_of(tree, source) if is_plain else [Piece(source, 0, 1, tree.body)]
        rows = [_facts_of(piece) for piece in pieces]
        facts = _united(rows)
        chunks = tuple(_read(piece, own, facts) for piece, own in zip(pieces, rows, strict=True))
        summary = PartedSummary(_LANGUAGE, chunks, facts)
        return summary if is_plain and not are_joined(pieces) else summary.flat
    except UNREADABLE as fault:
        return Summary(_LANGUAGE, problem=str(fault) or type(fault).__name__)


def _pieces_of(tree: ast.Module, source: bytes) -> Sequence[Piece]:
    bound = Counter(each.name for each in binds_of(source)(tree.body))
    return pieces_of(tree.body, source, lambda name: bound[name] == 1)


def update_python(before: Summary, source: bytes) -> Summary:
    """Do the same as `summarise_python`, at the cost of the differences from the text with the summary `before`."""
    updated = _updated(before, source) if isinstance(before, PartedSummary) and not _ENCODED.match(source) else None
    return summarise_python(source) if updated is None else updated


def _updated(before: PartedSummary, source: bytes) -> PartedSummary | None:
    """Return the summary; None if the differing parts cannot be read separately."""
    try:
        row = _Row(before, source).found()
        owns = [each.facts if isinstance(each, Chunk) else _facts_of(each) for each in row]
        facts, changed = _facts_now(before, owns)
        if any(len(facts[each.opens.name]) > 1 for each in row if each.opens):
            return None
        chunks = tuple(_renewed(each, own, facts, changed) for each, own in zip(row, owns, strict=True))
    except UNREADABLE:
        return None
    return PartedSummary(_LANGUAGE, chunks, facts)


def _renewed(each: Chunk | Piece, own: Facts, facts: Facts, changed: frozenset[str]) -> Chunk:
    if isinstance(each, Chunk):
        if each.part.reads.isdisjoint(changed):
            return each
        each = parsed_again(each)
    return _read(each, own, facts)


def _read(piece: Piece, own: Facts, facts: Facts) -> Chunk:
    if piece.inside:
        part = read_members(piece.node, piece.text, facts, piece.first)
    elif piece.opens:
        part = read_class(piece.node, piece.text, facts, piece.first)
    else:
        part = read_part(piece.statements, piece.text, facts, piece.first)
    return Chunk(piece.text, piece.lines, own, part, piece.inside, piece.opens)


# The facts that statements know of each other.


def _facts_of(piece: Piece) -> Facts:
    binds = binds_of(piece.text)
    own = {} if piece.inside else facts_of(binds(piece.statements))
    return {**own, **facts_of_members(piece.node.name, binds(piece.node.body))} if piece.opens else own


def _facts_now(before: PartedSummary, owns: Sequence[Facts]) -> tuple[Facts, frozenset[str]]:
    """Return the facts about all names of the file, and the names whose facts have changed."""
    was = [chunk.facts for chunk in before.chunks]
    kept = set(map(id, owns)) & set(map(id, was))
    lost, new = ([each for each in row if id(each) not in kept] for row in (was, owns))
    if lost == new:
        return before.facts, frozenset()
    facts = _united(owns)
    names = {name for each in (*lost, *new) for name in each}
    return facts, frozenset(name for name in names if facts.get(name) != before.facts.get(name))


def _united(row: Iterable[Facts]) -> Facts:
    found: dict[str, tuple[Fact, ...]] = {}
    for facts in row:
        for name, each in facts.items():
            found[name] = (*found[name], *each) if name in found else each
    return found


# The chunks of a text.


class _Row:
    """Finds the chunks of another text that still exist, in order, and reads the text between them."""

    def __init__(self, before: PartedSummary, source: bytes) -> None:
        self._chunks = before.chunks
        self._source = source
        # A name that was bound twice may be bound twice again.
        self._alone: Alone = lambda name: len(before.facts.get(name, ())) <= 1

    def found(self) -> list[Chunk | Piece]:
        """Return the pieces of the whole text. Raises the errors of `ast.parse`."""
        head, start = 0, 0
        while head < len(self._chunks) and _is_at(self._chunks[head], self._source, start):
            start += len(self._chunks[head].text)
            head += 1
        tail, end = self._same_from_end(head, start)
        top = self._chunks[:head]
        row = [*top, *self._between(head, tail, start, end)]
        if tail < len(self._chunks) and not _may_follow(row[-1] if row else None, self._chunks[tail]):
            # The class around the rest has changed.
            while tail < len(self._chunks) and self._chunks[tail].inside:
                end += len(self._chunks[tail].text)
                tail += 1
            row = [*top, *self._between(head, tail, start, end)]
        return [*row, *self._chunks[tail:]]

    def _same_from_end(self, head: int, start: int) -> tuple[int, int]:
        tail, end = len(self._chunks), len(self._source)
        while tail > head and self._source.endswith(self._chunks[tail - 1].text, start, end):
            tail -= 1
            end -= len(self._chunks[tail].text)
        if tail < len(self._chunks) and end > start and self._source[end - 1 : end] != _LINE_END:
            end += len(self._chunks[tail].text)
            tail += 1
        return tail, end

    def _between(self, head: int, tail: int, start: int, end: int) -> Iterator[Chunk | Piece]:
        last: Chunk | Piece | None = self._chunks[head - 1] if head else None
        lost = 0
        for chunk in self._chunks[head:tail]:
            at = _found(chunk, self._source, start, end) if lost < _MOST_LOST else -1
            pieces = self._read(start, at, last) if at >= 0 else []
            if at < 0 or not _may_follow(pieces[-1] if pieces else last, chunk):
                lost += 1
                continue
            yield from pieces
            yield chunk
            last = chunk
            start = at + len(chunk.text)
        yield from self._read(start, end, last)

    def _read(self, start: int, end: int, last: Chunk | Piece | None) -> list[Piece]:
        """Return the pieces of the text between two places, which may be inside a class that was opened above."""
        return parsed(self._source[start:end], last.opens if last else None, self._alone)


def _may_follow(last: Chunk | Piece | None, chunk: Chunk) -> bool:
    """Whether a chunk is in the same class as before, if it is in one."""
    return chunk.inside is None or (last is not None and last.opens == chunk.inside)


def _is_at(chunk: Chunk, source: bytes, at: int) -> bool:
    end = at + len(chunk.text)
    if not source.startswith(chunk.text, at) or not (chunk.text.endswith(_LINE_END) or end == len(source)):
        return False
    below = _NEXT_INDENT.match(source, end)
    indent = chunk.opens.indent if chunk.opens else b""
    # A text below that is indented more than the statements of the chunk belongs to the last of them.
    return below is None or below[1] == indent or not below[1].startswith(indent)


def _found(chunk: Chunk, source: bytes, start: int, end: int) -> int:
    """Return the place of a chunk on lines of its own; -1 if there is none."""
    at = source.find(chunk.text, start, end)
    is_whole = at == start or source[at - 1 : at] == _LINE_END
    return at if is_whole and _is_at(chunk, source, at) else -1
