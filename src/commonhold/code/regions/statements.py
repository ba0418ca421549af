"""SQL in statements, in any dialect: find the real ends among marks that only look like them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Tree

from commonhold.code.regions.encoding import BLANK, BOM
from commonhold.code.regions.language import Language
from commonhold.code.regions.lines import line_end, line_start
from commonhold.code.regions.outline import TOP, Definition, Outline, tidy
from commonhold.code.regions.region import Problem, Span
from commonhold.kernel.keys import Kind

_TOKEN: Final = re.compile(
    rb"""(?P<comment>--[^\n]*|/\*)|(?P<quote>[eE]?'|"|`)|(?P<dollar>\$(?:[A-Za-z_]\w*)?\$)|(?P<word>[\w@#$]+)"""
    rb"""|(?P<end>;)|(?P<other>[^\s\w;])"""
)
_COMMENT_MARK: Final = re.compile(rb"/\*|\*/")
_DELIMITER: Final = re.compile(rb"DELIMITER[ \t]+(\S+)[ \t]*\r?(?:\n|\Z)", re.IGNORECASE)
# Lines that are no SQL: commands of psql, and marks that send a batch.
_COMMAND: Final = re.compile(rb"(?:\\[^\n]*|(?:GO|/)[ \t]*\r?)(?:\n|\Z)", re.IGNORECASE)
_GIVEN_NAME: Final = re.compile(rb"^[ \t]*--[ \t]*name[ \t]*:[ \t]*(\w[\w-]*)", re.MULTILINE)
_COPIED: Final = re.compile(rb"\bFROM\s+STDIN\b", re.IGNORECASE)
_COPY_END: Final = re.compile(rb"^\\\.[ \t]*\r?$", re.MULTILINE)
_HOLDS_BLOCK: Final = re.compile(rb"\b(?:TRIGGER|PROCEDURE|FUNCTION|PACKAGE|EVENT|BODY|PROC)\b", re.IGNORECASE)
_AFTER_END: Final = frozenset({b"IF", b"LOOP", b"WHILE", b"REPEAT", b"FOR"})
_MOST_READ: Final = 400
_LINE_FEED: Final = 10

_PART: Final = re.compile(r"""(?:[\w$#@]+|"[^"]*"|`[^`]*`|\[[^\]]*\])(?:\.(?:[\w$#@]+|"[^"]*"|`[^`]*`|\[[^\]]*\]))*""")
_NOISE: Final = frozenset(
    {"CONCURRENTLY", "EXISTS", "GLOBAL", "IF", "LOCAL", "MATERIALIZED", "NOT", "ONLY", "OR", "RECURSIVE", "REPLACE",
     "TEMP", "TEMPORARY", "UNIQUE", "UNLOGGED", "VIRTUAL"}
)  # fmt: skip
# The number of words in the name of a statement, by its first word; one for any other.
_WORDS: Final = {
    "ALTER": 3, "COMMENT": 4, "COPY": 2, "CREATE": 3, "DELETE": 3, "DROP": 3, "INSERT": 3, "MERGE": 3, "PRAGMA": 2,
    "SET": 2, "TRUNCATE": 3, "UPDATE": 2, "USE": 2,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Statement:
    """The bytes of a statement, its end mark included."""

    start: int
    end: int


def outline_statements(source: bytes, _language: Language, _old: Tree | None = None) -> Outline:
    """Return the statements, with the comments that stand directly above; those that share a line are one."""
    scan = _Scan(source, len(BOM) if source.startswith(BOM) else 0)
    found: list[Definition] = []
    for statement in scan.statements():
        if found and statement.start < found[-1].span[1]:
            if statement.end > found[-1].span[1]:
                span = found[-1].span[0], line_end(source, statement.end - 1)
                found[-1] = Definition(found[-1].name, Kind.ENTRY, span, TOP)
            continue
        start = line_start(source, statement.start) or scan.head
        floor = found[-1].span[1] if found else scan.head
        first = _comments_start(source, start, max(floor, scan.floor))
        name = _name(source, (first, start), statement)
        found.append(Definition(name, Kind.ENTRY, (first, line_end(source, statement.end - 1)), TOP))
    return Outline(found, scan.problem)


def problem_in_statements(source: bytes) -> Problem | None:
    """Return the string or comment that does not end."""
    scan = _Scan(source, 0)
    for _ in scan.statements():
        pass
    return scan.problem


@dataclass(slots=True)
class _Scan:
    """The state of one pass over a source.

    `floor` is the end of the last line that is no SQL; `nests` is true while all comments so far allowed nesting.
    """

    source: bytes
    head: int
    end_mark: bytes = b";"
    floor: int = 0
    problem: Problem | None = None
    nests: bool = True
    escapes: bool = field(init=False)

    def __post_init__(self) -> None:
        """Decide whether a backslash escapes: it does in the dialect that quotes names with backquotes."""
        self.escapes = b"`" in self.source

    def statements(self) -> Iterator[_Statement]:
        """Yield the statements, in order; the last may lack its end mark, but not the end of a string."""
        position = self.head
        while self.problem is None and (token := _TOKEN.search(self.source, position)):
            start = token.start()
            if token["comment"]:
                position = self._comment_end(token)
            elif line := self._line(start):
                position = self.floor = line
            else:
                end = self._statement_end(start)
                if self.problem is None:
                    yield _Statement(start, end)
                position = self._after_copied(start, end)

    def _line(self, start: int) -> int | None:
        """Return the end of a line that is no SQL."""
        if not self._begins_line(start):
            return None
        if match := _DELIMITER.match(self.source, start):
            self.end_mark = match[1]
            return match.end()
        match = _COMMAND.match(self.source, start)
        return match.end() if match else None

    def _statement_end(self, start: int) -> int:
        position, last, depth = start, start, 0
        before = b""
        holds_block: bool | None = None
        while token := _TOKEN.search(self.source, position):
            at = token.start()
            if depth == 0 and self.source.startswith(self.end_mark, at):
                return at + len(self.end_mark)
            if last > start and self._line_ends(at):
                return last
            if token["word"]:
                if holds_block is None and token["word"].upper() in (b"BEGIN", b"CASE"):
                    holds_block = bool(_HOLDS_BLOCK.search(self.source, start, min(at, start + _MOST_READ)))
                depth = max(0, depth + (_change(token["word"].upper(), before) if holds_block else 0))
                before = token["word"].upper()
            elif not token["comment"]:
                before = b""
            position = self._token_end(token)
            last = last if token["comment"] else position
            if self.problem:
                return position
        return last

    def _line_ends(self, at: int) -> bool:
        """Whether a line that is no SQL begins here."""
        return self._begins_line(at) and bool(_COMMAND.match(self.source, at) or _DELIMITER.match(self.source, at))

    def _begins_line(self, at: int) -> bool:
        while at > self.head and self.source[at - 1] in b" \t":
            at -= 1
        return at == self.head or self.source[at - 1] == _LINE_FEED

    def _token_end(self, token: re.Match[bytes]) -> int:
        if token["comment"]:
            return self._comment_end(token)
        if token["quote"]:
            return self._quote_end(token)
        if token["dollar"]:
            end = self.source.find(token["dollar"], token.end())
            return self._ended(token, end + len(token["dollar"]) if end >= 0 else None)
        return token.end()

    def _quote_end(self, token: re.Match[bytes]) -> int:
        quote = token["quote"][-1:]
        escapes = quote != b"`" and (self.escapes or len(token["quote"]) > 1)
        mark = re.compile(rb"\\.|" + quote if escapes else quote, re.DOTALL)
        ends = (match.end() for match in mark.finditer(self.source, token.end()) if match[0] == quote)
        return self._ended(token, next(ends, None))

    def _comment_end(self, token: re.Match[bytes]) -> int:
        """Return the end of a comment; those between stars nest, in most dialects."""
        if token["comment"] != b"/*":
            return token.end()
        end = self._nested_comment_end(token.end()) if self.nests else None
        if end is not None:
            return end
        self.nests = False
        first = self.source.find(b"*/", token.end())
        return self._ended(token, first + 2 if first >= 0 else None)

    def _nested_comment_end(self, position: int) -> int | None:
        depth = 1
        for match in _COMMENT_MARK.finditer(self.source, position):
            depth += 1 if match[0] == b"/*" else -1
            if depth == 0:
                return match.end()
        return None

    def _ended(self, token: re.Match[bytes], end: int | None) -> int:
        if end is not None:
            return end
        line = self.source.count(b"\n", 0, token.start()) + 1
        column = token.start() - line_start(self.source, token.start()) + 1
        message = f"line {line}, column {column}: {token[0].decode(errors='replace')} is never closed"
        self.problem = self.problem or Problem("SYNTAX", message, token.span())
        return len(self.source)

    def _after_copied(self, start: int, end: int) -> int:
        """Return the end of the rows that follow a statement which copies them from here."""
        is_copy = self.source[start : start + 4].upper() == b"COPY" and _COPIED.search(self.source, start, end)
        match = _COPY_END.search(self.source, end) if is_copy else None
        if match is None:
            return end
        self.floor = line_end(self.source, match.start())
        return self.floor


def _change(word: bytes, before: bytes) -> int:
    """Return by how much a word of a routine opens or closes a block."""
    if before == b"END":
        return 1 if word in _AFTER_END else 0
    if word in (b"BEGIN", b"CASE"):
        return 1
    return -1 if word == b"END" else 0


def _comments_start(source: bytes, start: int, floor: int) -> int:
    while start > floor:
        above = max(line_start(source, start - 1), floor)
        line = source[above:start].strip(BLANK)
        if not (line.startswith(b"--") or (line.startswith(b"/*") and line.endswith(b"*/"))):
            break
        start = above
    return start


def _name(source: bytes, comments: Span, statement: _Statement) -> str:
    """Return the name that a comment gives the statement, else its first words: `CREATE TABLE users`."""
    if match := _GIVEN_NAME.search(source[slice(*comments)]):
        return tidy(match[1].decode())
    text = source[statement.start : min(statement.end, statement.start + _MOST_READ)].decode(errors="replace")
    words = [word for word in _PART.findall(_uncommented(text)) if word.upper() not in _NOISE]
    verb = words[0].upper() if words else "statement"
    count = _WORDS.get(verb, 1)
    shown = [verb, *(word.upper() for word in words[1 : count - 1]), *(words[count - 1 : count] if count > 1 else ())]
    return tidy(" ".join(re.sub(r'["`\[\]]', "", word).replace(".", ":") for word in shown))


def _uncommented(text: str) -> str:
    return re.sub(r"--[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
