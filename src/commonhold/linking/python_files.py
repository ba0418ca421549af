"""The summary of a Python file: of its text, or of another text of the same file, of which only what differs is read.

A file is a row of chunks: whole statements of the top level, each a text that Python parses by itself. Where one ends
no bracket, string or line is open, so that what stands above has no bearing on how the text below is parsed: texts that
parse one by one parse, joined, to all their statements. What statements know of each other are facts (`facts.py`).
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.linking.facts import facts_of
from commonhold.linking.parts import Chunk, Fact, Facts, PartedSummary
from commonhold.linking.python import read_part
from commonhold.linking.summary import Summary
from commonhold.regions.python_ast import parse_module
from commonhold.semantics.scopes import binds_of

_UNREADABLE: Final = (SyntaxError, ValueError, RecursionError, MemoryError)
_LANGUAGE: Final = "python"
# A byte order mark, or a comment in the first two lines that may name another encoding than Python's own.
_ENCODED: Final = re.compile(
    rb"\xef\xbb\xbf|(?:[^\r\n]*(?:\r\n?|\n))?[ \t\f]*#[^\r\n]*coding(?![:=][ \t]*utf-8(?![-\w.]))"
)
# Where a text ends with one of these, its last line may go on.
_JOINED: Final = (b"\\\n", b"\\\r\n", b"\\\r")
_LINE_END: Final = b"\n"
# Shorter definitions, and other statements, share a chunk.
_FEW_LINES: Final = 8
# So many chunks may be looked for in vain before all the rest is read anew.
_MOST_LOST: Final = 16


def summarise_python(source: bytes) -> Summary:
    """The summary of a Python file. Never raises: what does not parse offers nothing, with the reason."""
    try:
        tree = parse_module(source)
        # In another encoding lines are not those of the bytes.
        is_plain = not _ENCODED.match(source)
        pieces = list(_pieces(tree.body, source)) if is_plain else [_Piece(source, 0, 1, tree.body)]
        rows = [_facts_of(piece) for piece in pieces]
        facts = _united(rows)
        chunks = tuple(_read(piece, own, facts, source) for piece, own in zip(pieces, rows, strict=True))
        summary = PartedSummary(_LANGUAGE, chunks, facts)
        return summary if is_plain and not _are_joined(pieces) else summary.flat
    except _UNREADABLE as fault:
        return Summary(_LANGUAGE, problem=str(fault) or type(fault).__name__)


def update_python(before: Summary, source: bytes) -> Summary:
    """As `summarise_python`, at the cost of what is different from the text that has the summary `before`."""
    updated = _updated(before, source) if isinstance(before, PartedSummary) and not _ENCODED.match(source) else None
    return summarise_python(source) if updated is None else updated


def _updated(before: PartedSummary, source: bytes) -> PartedSummary | None:
    """The summary; None where what differs cannot be read by itself."""
    try:
        row = list(_row(before.chunks, source))
        owns = [each.facts if isinstance(each, Chunk) else _facts_of(each) for each in row]
        facts, changed = _facts_now(before, owns)
        chunks = tuple(_renewed(each, own, facts, changed) for each, own in zip(row, owns, strict=True))
    except _UNREADABLE:
        return None
    return PartedSummary(_LANGUAGE, chunks, facts)


@dataclass(frozen=True, slots=True)
class _Piece:
    """The text of some statements, and what was parsed of it; `first` is its first line, as the statements count."""

    text: bytes
    lines: int
    first: int
    statements: Sequence[ast.stmt]


def _renewed(each: Chunk | _Piece, own: Facts, facts: Facts, changed: frozenset[str]) -> Chunk:
    if isinstance(each, Chunk):
        if each.part.reads.isdisjoint(changed):
            return each
        each = _Piece(each.text, each.lines, 1, parse_module(each.text.decode()).body)
    return _read(each, own, facts, each.text)


def _read(piece: _Piece, own: Facts, facts: Facts, source: bytes) -> Chunk:
    return Chunk(piece.text, piece.lines, own, read_part(piece.statements, source, facts, piece.first))


# What the statements know of each other.


def _facts_of(piece: _Piece) -> Facts:
    return facts_of(binds_of(piece.text)(piece.statements))


def _facts_now(before: PartedSummary, owns: Sequence[Facts]) -> tuple[Facts, frozenset[str]]:
    """The facts about all names of the file, and the names about which they are not what they were."""
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


# The chunks that a text consists of.


def _row(chunks: Sequence[Chunk], source: bytes) -> Iterator[Chunk | _Piece]:
    """The chunks that are still there, in order, and what stands between them. Raises what `ast.parse` does."""
    head, start = 0, 0
    while head < len(chunks) and _is_at(chunks[head].text, source, start):
        start += len(chunks[head].text)
        head += 1
    tail, end = len(chunks), len(source)
    while tail > head and source.endswith(chunks[tail - 1].text, start, end):
        tail -= 1
        end -= len(chunks[tail].text)
    if tail < len(chunks) and end > start and source[end - 1 : end] != _LINE_END:
        end += len(chunks[tail].text)
        tail += 1
    yield from chunks[:head]
    yield from _between(chunks[head:tail], source, start, end)
    yield from chunks[tail:]


def _is_at(text: bytes, source: bytes, at: int) -> bool:
    is_whole = text.endswith(_LINE_END) or at + len(text) == len(source)
    return is_whole and source.startswith(text, at)


def _between(chunks: Iterable[Chunk], source: bytes, start: int, end: int) -> Iterator[Chunk | _Piece]:
    lost = 0
    for chunk in chunks:
        at = _found(chunk.text, source, start, end) if lost < _MOST_LOST else -1
        if at < 0:
            lost += 1
            continue
        yield from _parsed(source[start:at])
        yield chunk
        start = at + len(chunk.text)
    yield from _parsed(source[start:end])


def _found(text: bytes, source: bytes, start: int, end: int) -> int:
    """Where a text stands on lines of its own; -1 where it does not."""
    at = source.find(text, start, end)
    is_whole = at == start or source[at - 1 : at] == _LINE_END
    return at if is_whole and _is_at(text, source, at) else -1


def _parsed(text: bytes) -> Iterator[_Piece]:
    if not text:
        return
    pieces = list(_pieces(parse_module(text.decode()).body, text))
    if _are_joined(pieces):
        raise ValueError(text)
    yield from pieces


def _are_joined(pieces: Iterable[_Piece]) -> bool:
    return any(piece.text.endswith(_JOINED) for piece in pieces)


def _pieces(body: Sequence[ast.stmt], source: bytes) -> Iterator[_Piece]:
    """The statements of a text in pieces that end where lines end; comments belong to what stands above them."""
    if not source:
        return
    lines = source.splitlines(keepends=True)
    begin, first = 0, 1
    for index, statement in enumerate(body):
        line = _first_line(statement)
        if index > begin and line - first >= _FEW_LINES and _begins(statement, lines[line - 1]):
            yield _Piece(b"".join(lines[first - 1 : line - 1]), line - first, first, body[begin:index])
            begin, first = index, line
    yield _Piece(b"".join(lines[first - 1 :]), len(lines) - first + 1, first, body[begin:])


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return decorators[0].lineno if decorators else statement.lineno


def _begins(statement: ast.stmt, line: bytes) -> bool:
    """Whether a statement begins with its first line: nothing stands before it, nor a bracket above it."""
    return line.startswith(b"@") if getattr(statement, "decorator_list", []) else statement.col_offset == 0
