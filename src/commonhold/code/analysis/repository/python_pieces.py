"""The pieces of a Python file's text, each a text that Python parses by itself.

They are whole statements of the top level. At the end of a piece no bracket, string or line is open, so the text above
has no effect on how the text below is parsed: if texts parse one by one, the joined text parses to all their
statements.

The same applies in a class of the top level. Its head is a piece, with the first members; further members are pieces
that parse below a copy of the head. The class must be the only one of its name, and all that makes its shape must stand
in the head; else it is an ordinary statement.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.code.analysis import fields
from commonhold.code.analysis.expressions import dotted
from commonhold.code.analysis.functional_classes import parse_definitions
from commonhold.code.analysis.repository.parts import Chunk, Opening
from commonhold.code.analysis.scopes import declared

# If a text ends with one of these, its last line may continue.
_JOINED: Final = (b"\\\n", b"\\\r\n", b"\\\r")
_INDENT: Final = re.compile(rb"[ \t]+")
# Shorter definitions, and other statements, share a piece.
_FEW_LINES: Final = 8

Alone = Callable[[str], bool]
"""Whether the top level binds a name only once, as far as is known."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The text of some statements, and its parsed form; `first` is its first line, in their line numbers.

    If it is `inside` a class, or `opens` one, that class with these members is the only statement.
    """

    text: bytes
    lines: int
    first: int
    statements: Sequence[ast.stmt]
    inside: Opening | None = None
    opens: Opening | None = None

    @property
    def node(self) -> ast.ClassDef:
        """Return the class that it opens, or is inside."""
        (node,) = self.statements
        assert isinstance(node, ast.ClassDef)  # noqa: S101 - see above
        return node


@dataclass(frozen=True, slots=True)
class _Run:
    """Statements that share a piece, by their indices, with the place where its text begins and the line below it."""

    begin: int
    end: int
    first: int
    below: int

    def text(self, lines: Sequence[bytes]) -> bytes:
        return b"".join(lines[self.first - 1 : self.below - 1])


def pieces_of(body: Sequence[ast.stmt], source: bytes, alone: Alone) -> list[Piece]:
    """Return the statements of a whole file in pieces."""
    return list(_pieces(body, source.splitlines(keepends=True), 1, alone))


def parsed(text: bytes, inside: Opening | None, alone: Alone) -> list[Piece]:
    """Return the pieces of a part of a file that may begin inside a class. Raises the errors of `ast.parse`."""
    if not text:
        return []
    above = inside.text if inside else b""
    body = parse_definitions((above + text).decode()).body
    lines = (above + text).splitlines(keepends=True)
    pieces = list(_pieces_below(body, lines, inside, alone) if inside else _pieces(body, lines, 1, alone))
    if are_joined(pieces):
        raise ValueError(text)
    return pieces


def parsed_again(chunk: Chunk) -> Piece:
    """Return the piece from which a chunk was read. Raises the errors of `ast.parse`."""
    above = chunk.inside.text if chunk.inside else b""
    body = parse_definitions((above + chunk.text).decode()).body
    if isinstance(body[0], ast.ClassDef) and chunk.inside:
        body = [_with_body(body[0], body[0].body[1:])]
    return Piece(chunk.text, chunk.lines, 1 + _lines_in(above), body, chunk.inside, chunk.opens)


def are_joined(pieces: Iterable[Piece]) -> bool:
    """Whether one of them may continue in the next, although it was parsed alone."""
    return any(piece.text.endswith(_JOINED) for piece in pieces)


def _pieces(body: Sequence[ast.stmt], lines: Sequence[bytes], first: int, alone: Alone) -> Iterator[Piece]:
    """Yield the statements of a text, from its line `first` on, in pieces that end where lines end.

    Comments belong to the statement above them.
    """
    openings = [_opening(each, lines, alone) for each in body]

    def is_cut(index: int, above: int) -> bool:
        is_apart = openings[index - 1] or openings[index] or above >= _FEW_LINES
        return bool(is_apart) and _begins(body[index], lines)

    for run in _runs(body, first, len(lines) + 1, is_cut):
        opens = openings[run.begin] if run.end - run.begin == 1 else None
        node = body[run.begin] if opens else None
        if opens and isinstance(node, ast.ClassDef):
            yield from _pieces_of_class(node, lines, run, None, opens)
        else:
            yield Piece(run.text(lines), run.below - run.first, run.first, body[run.begin : run.end])


def _pieces_below(body: Sequence[ast.stmt], lines: Sequence[bytes], inside: Opening, alone: Alone) -> Iterator[Piece]:
    """Yield the pieces of a text that stands below a copy of the first lines of a class."""
    (node, *rest), first = body, 1 + _lines_in(inside.text)
    assert isinstance(node, ast.ClassDef)  # noqa: S101 - this code wrote it
    if len(node.body) > 1 or not rest:
        if (rest and not _begins(rest[0], lines)) or declared(node.body)[0]:
            raise ValueError(inside)
        members = _with_body(node, node.body[1:])
        run = _Run(0, 1, first, _first_line(rest[0]) if rest else len(lines) + 1)
        yield from _pieces_of_class(members, lines, run, inside, inside)
        first = run.below
    if rest:
        yield from _pieces(rest, lines, first, alone)


def _pieces_of_class(
    node: ast.ClassDef, lines: Sequence[bytes], place: _Run, inside: Opening | None, opens: Opening
) -> Iterator[Piece]:
    """Yield the members of a class in pieces, with its head unless they are `inside` it."""
    body = node.body

    def is_cut(index: int, above: int) -> bool:
        last = lines[(body[index - 1].end_lineno or 1) - 1]
        return above >= _FEW_LINES and _begins(body[index], lines, opens.indent) and not last.endswith(_JOINED)

    for run in _runs(body, place.first, place.below, is_cut):
        members = _with_body(node, body[run.begin : run.end])
        yield Piece(run.text(lines), run.below - run.first, run.first, [members], inside, opens)
        inside = opens


def _runs(body: Sequence[ast.stmt], first: int, below: int, is_cut: Callable[[int, int], bool]) -> Iterator[_Run]:
    """Yield runs of statements; `is_cut` says whether one begins at a statement with so many lines above it."""
    begin = 0
    for index, statement in enumerate(body):
        line = _first_line(statement)
        if index > begin and is_cut(index, line - first):
            yield _Run(begin, index, first, line)
            begin, first = index, line
    if first < below:
        yield _Run(begin, len(body), first, below)


def _opening(node: ast.stmt, lines: Sequence[bytes], alone: Alone) -> Opening | None:
    """Return the opening of a class whose members can be separated; None for any other statement.

    The members affect their class if it generates a constructor from fields, or declares names global.
    """
    if not isinstance(node, ast.ClassDef) or getattr(node, "type_params", None) or not alone(node.name):
        return None
    # Members see only the root of a base.
    bases = [dotted(base.value if isinstance(base, ast.Subscript) else base) for base in node.bases]
    has_fields = fields.is_dataclass(node) or fields.is_named_tuple(node)
    found = _INDENT.match(lines[_first_line(node.body[0]) - 1])
    is_plain = all(bases) and not has_fields and not declared(node.body)[0]
    if not is_plain or not found or not _begins(node.body[0], lines, found[0]):
        return None
    return Opening(node.name, f"class {node.name}({', '.join(bases)}):\n".encode(), found[0])


def _with_body(node: ast.ClassDef, body: Sequence[ast.stmt]) -> ast.ClassDef:
    """Return a class with only some of its members."""
    last = node if not body or body[-1] is node.body[-1] else body[-1]
    made = ast.ClassDef(node.name, node.bases, node.keywords, [*body], node.decorator_list)
    made.lineno, made.col_offset, made.end_lineno = node.lineno, node.col_offset, last.end_lineno
    return made


def _lines_in(text: bytes) -> int:
    return text.count(b"\n")


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return decorators[0].lineno if decorators else statement.lineno


def _begins(statement: ast.stmt, lines: Sequence[bytes], indent: bytes = b"") -> bool:
    """Whether a statement begins with its first line, behind an indent: nothing else stands before it."""
    line = lines[_first_line(statement) - 1]
    if getattr(statement, "decorator_list", []):
        return line.startswith(indent + b"@")
    return statement.col_offset == len(indent) and line.startswith(indent)
