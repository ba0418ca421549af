"""Documents in sections: each heading of Markdown or HTML holds the text down to the next one of its rank."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from re import Pattern
from typing import Final

from tree_sitter import Node, Tree

from commonhold.code.regions.encoding import BLANK, BOM
from commonhold.code.regions.language import Language, parse
from commonhold.code.regions.lines import line_end, line_start
from commonhold.code.regions.nested import first_problem
from commonhold.code.regions.node_names import first_of, text_of
from commonhold.code.regions.outline import MAX_DEPTH, TOP, Definition, Outline, tidy
from commonhold.kernel.keys import Kind


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: the start of its first line, its rank (1 is the highest), and the latest end of its section."""

    start: int
    rank: int
    name: str
    limit: int


def sections(source: bytes, headings: Sequence[Heading]) -> list[Definition]:
    """Return a section for each heading, nested by rank; blank lines at its end belong to the section around it."""
    ends = _ends(headings)
    found: list[Definition] = []
    around: list[int] = []
    for index, heading in enumerate(headings):
        while around and ends[around[-1]] <= heading.start:
            around.pop()
        end = ends[index] = _text_end(source, heading.start, min(ends[index], heading.limit))
        container = around[min(len(around), MAX_DEPTH) - 1] if around else TOP
        found.append(Definition(tidy(heading.name), Kind.SECTION, (heading.start, end), container, end))
        around.append(index)
    return found


def _ends(headings: Sequence[Heading]) -> list[int]:
    """Return where the next heading of the same or a higher rank begins."""
    ends = [heading.limit for heading in headings]
    opened: list[int] = []
    for index, heading in enumerate(headings):
        while opened and headings[opened[-1]].rank >= heading.rank:
            ends[opened[-1]] = min(heading.start, ends[opened[-1]])
            opened.pop()
        opened.append(index)
    return ends


def _text_end(source: bytes, start: int, end: int) -> int:
    """Return the end of the last line with text in a range of whole lines."""
    while end > start and source[end - 1] in BLANK:
        end -= 1
    return line_end(source, end - 1) if end > start else end


_ATX: Final = re.compile(rb" {0,3}(#{1,6})(?=[ \t\r\n]|\Z)")
_UNDERLINE: Final = re.compile(rb" {0,3}(=+|-+)[ \t]*\r?\n?\Z")
_FENCE: Final = re.compile(rb" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
_FRONT_MATTER: Final = re.compile(rb"(---|\+\+\+)[ \t]*\r?\n(?:.*\n)*?\1[ \t]*(?:\r?\n|\Z)")
# Blocks of raw HTML that end with a mark of their own, blank lines or not.
_RAW: Final = (
    (re.compile(rb" {0,3}<!--"), re.compile(rb"-->")),
    (re.compile(rb" {0,3}<\?"), re.compile(rb"\?>")),
    (re.compile(rb" {0,3}<!\[CDATA\["), re.compile(rb"\]\]>")),
    (re.compile(rb" {0,3}<(?:pre|script|style|textarea)(?=[\s>]|\Z)", re.IGNORECASE),
     re.compile(rb"</(?:pre|script|style|textarea)>", re.IGNORECASE)),
)  # fmt: skip
# Items and quotes continue over plain lines, up to a blank one: a line of dashes below them is a rule and no heading.
_ITEM: Final = re.compile(rb" {0,3}(?:>|[-+*](?:[ \t]|\r?\n|\Z)|\d{1,9}[.)](?:[ \t]|\r?\n|\Z))")
_NO_PARAGRAPH: Final = re.compile(rb" {0,3}(?:\||<|(?:[-*_][ \t]*){3,}\r?\n?\Z)| {4}|\t")


def outline_markdown(source: bytes, _language: Language, _old: Tree | None = None) -> Outline:
    """Return the sections of a Markdown document; the text before the first heading is the file's header."""
    return Outline(sections(source, list(markdown_headings(source))))


def markdown_headings(source: bytes) -> Iterator[Heading]:
    """Yield the headings of a Markdown document, in file order; lines in code or raw HTML are none."""
    position = len(BOM) if source.startswith(BOM) else 0
    if front := _FRONT_MATTER.match(source, position):
        position = front.end()
    paragraph: int | None = None
    in_item = False
    closes: Pattern[bytes] | None = None
    while position < len(source):
        start, position = position, line_end(source, position)
        line = source[start:position]
        if closes is not None:
            closes = None if closes.search(line) else closes
        elif match := _ATX.match(line):
            yield Heading(start, len(match[1]), _atx_title(line[match.end() :]), len(source))
            paragraph, in_item = None, False
        elif paragraph is not None and (match := _UNDERLINE.match(line)):
            yield Heading(paragraph, 1 if match[1][:1] == b"=" else 2, _title(source[paragraph:start]), len(source))
            paragraph = None
        elif (found := _block_end(line)) is not None:
            closes, paragraph = found, None
        else:
            in_item = bool(line.strip(BLANK)) and (in_item or (paragraph is None and bool(_ITEM.match(line))))
            paragraph = _paragraph(paragraph, start, line, may_begin=not in_item)


def _paragraph(begun: int | None, start: int, line: bytes, *, may_begin: bool) -> int | None:
    """Return the start of the paragraph that a line belongs to; None if it belongs to none."""
    if not line.strip(BLANK) or (begun is None and (not may_begin or _NO_PARAGRAPH.match(line))):
        return None
    return start if begun is None else begun


def _block_end(line: bytes) -> Pattern[bytes] | None:
    """Return the end mark of the fence or raw block that a line opens; None if it opens none, or closes it itself."""
    if fence := _FENCE.match(line):
        mark = fence[1]
        return re.compile(rb"\A {0,3}%s{%d,}[ \t]*\r?\n?\Z" % (re.escape(mark[:1]), len(mark)))
    for opens, closes in _RAW:
        if match := opens.match(line):
            return None if closes.search(line, match.end()) else closes
    return None


def _atx_title(text: bytes) -> str:
    """Return the text of a heading without the signs that may close it."""
    stripped = text.strip()
    opened = stripped.rstrip(b"#")
    return _title(opened if opened != stripped and opened[-1:] in (b"", b" ", b"\t") else stripped)


def _title(text: bytes) -> str:
    return text.decode(errors="replace").strip()


def outline_html(source: bytes, language: Language, _: Tree | None = None) -> Outline:
    """Return the sections of an HTML document; one ends with the element that its heading lies in."""
    root = parse(source, language).root_node
    found = sections(source, list(_own_lines(source, _html(source, root))))
    return Outline(found, first_problem(root), body_end=_end_line_of_body(source))


def _end_line_of_body(source: bytes) -> int | None:
    """Return the start of the line on which the body of a document ends."""
    last = max(source.rfind(b"</body"), source.rfind(b"</BODY"))
    return line_start(source, last) if last >= 0 else None


def _own_lines(source: bytes, headings: Iterable[Heading]) -> Iterator[Heading]:
    """Yield the headings that begin a line; of several in one line, the first."""
    last = -1
    for heading in headings:
        start = line_start(source, heading.start)
        if start > last and not source[start : heading.start].removeprefix(BOM).strip(BLANK) and heading.limit > start:
            last = start
            yield Heading(start or len(BOM) * source.startswith(BOM), heading.rank, heading.name, heading.limit)


def _html(source: bytes, root: Node) -> Iterator[Heading]:
    stack: list[tuple[Node, int]] = [(root, len(source))]
    while stack:
        node, limit = stack.pop()
        rank = _rank(node)
        if rank:
            yield Heading(node.start_byte, rank, _text_inside(node), limit)
        elif node.type in ("document", "element", "ERROR"):
            inner = _limit_of(source, node, limit)
            stack.extend((child, inner) for child in reversed(node.children))


def _rank(node: Node) -> int:
    tag = first_of(node, "start_tag") if node.type == "element" else None
    name = first_of(tag, "tag_name") if tag is not None else None
    match = re.fullmatch(r"[hH]([1-6])", text_of(name)) if name is not None else None
    return int(match[1]) if match else 0


def _limit_of(source: bytes, node: Node, limit: int) -> int:
    """Return the start of the line on which an element ends."""
    end = first_of(node, "end_tag")
    return min(limit, line_start(source, end.start_byte)) if end is not None else limit


def _text_inside(node: Node) -> str:
    return " ".join(re.sub(r"<[^>]*>", "", text_of(node)).split())
