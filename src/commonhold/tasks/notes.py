"""The notes of a project, as bytes and as values: Markdown files in numbered sections, with front matter.

    ---                              front matter, which may be left out
    kind: decision                   decision, lesson or note
    date: 2026-01-31
    by: agent-1
    applies_to: [src/billing.py, "src/pay/**", "account:*"]
    ---
    # Title                          section 0: all text before the first numbered heading
    ## Tokens                        section 1
    ### Expiry                       section 1.1

A title is the only heading of the first level, before all others. Without one, headings of the first level are
numbered.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from commonhold.tasks.yaml_text import read_yaml, text_of

MOST_BYTES: Final = 1_000_000
_MOST_MATTER: Final = 16_384
KINDS: Final = ("decision", "lesson", "note")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX: Final = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_SETEXT: Final = re.compile(r" {0,3}(=+|-+)[ \t]*")
_NO_PARAGRAPH: Final = re.compile(r" {0,3}([-*+>|]|\d+[.)])|\t| {4}|\s*$")
_MATTER: Final = re.compile(r"---[ \t]*\n(.*?\n)?---[ \t]*(?:\n|$)", re.DOTALL)
_NOT_IN_ANCHORS: Final = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a note: its heading and the text below it, up to the next heading.

    `number` counts headings as in a table of contents (`2.1`; 0 is the text before the first). `anchor` is the heading
    as GitHub makes a link of it: it stays the same when other sections are added. `trail` are the headings above it,
    outermost first; `line` is that of its heading, from 1.
    """

    path: str
    number: str
    anchor: str
    title: str
    trail: tuple[str, ...]
    line: int
    text: str

    @property
    def name(self) -> str:
        """The reference to the section, as `archive show` takes it."""
        return f"{self.path}#{self.number}"


@dataclass(frozen=True, slots=True)
class Note:
    """A note: its sections, and its front matter. `problem` says why it was not read; then it has no sections.

    `applies_to` are patterns of paths and keys: `*` matches within one part of a path, `**` any number of parts.
    """

    path: str
    sections: tuple[Section, ...] = ()
    kind: str = ""
    date: str = ""
    by: str = ""
    applies_to: tuple[str, ...] = ()
    problem: str = ""


def read_note(path: str, content: bytes) -> Note:
    """Read a note. Never raises: a file that is no text becomes a note with a `problem`."""
    if len(content) > MOST_BYTES:
        return Note(path, problem=f"it has {len(content)} bytes, and a note has at most {MOST_BYTES}")
    if b"\0" in content:
        return Note(path, problem="it is binary: it has a NUL byte")
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as fault:
        return Note(path, problem=f"it is not UTF-8: byte {fault.start} cannot be decoded")
    matter = _MATTER.match(text)
    fields = _fields(matter[1] or "") if matter else {}
    body = text[matter.end() :] if matter else text
    above = text.count("\n", 0, matter.end()) if matter else 0
    return Note(
        path,
        tuple(_sections(path, body.split("\n"), above)),
        kind=text_of(fields, "kind") or "",
        date=text_of(fields, "date") or "",
        by=text_of(fields, "by") or "",
        applies_to=_patterns(fields.get("applies_to")),
    )


def _fields(matter: str) -> Mapping[object, object]:
    """Return the fields of a front matter. One that cannot be understood has none: the note can still be read."""
    try:
        read = read_yaml(matter) if len(matter) <= _MOST_MATTER else None
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def _patterns(value: object) -> tuple[str, ...]:
    given = value if isinstance(value, list) else [value]
    return tuple(each.strip() for each in given if isinstance(each, str) and each.strip())


@dataclass(frozen=True, slots=True)
class _Heading:
    """A heading; `start` is its first line, `end` the one after its last, both from 0."""

    level: int
    title: str
    start: int
    end: int


def _headings(lines: list[str]) -> Iterator[_Heading]:
    fence = ""
    for at, line in enumerate(lines):
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence) and not line.strip(f" \t{fence[0]}"):
                fence = ""
        elif fence:
            continue
        elif atx := _ATX.match(line):
            yield _Heading(len(atx[1]), _without_closing(line[atx.end() :].strip()), at, at + 1)
        elif at and (under := _SETEXT.fullmatch(line)) and _is_paragraph(lines[at - 1]):
            yield _Heading(1 if under[1][0] == "=" else 2, lines[at - 1].strip(), at - 1, at + 1)


def _without_closing(title: str) -> str:
    """Return a heading without the signs that may close it (`## Title ##`)."""
    left = title.rstrip("#")
    return left.rstrip() if left != title and (not left or left[-1] in " \t") else title


def _is_paragraph(line: str) -> bool:
    return not (_NO_PARAGRAPH.match(line) or _ATX.match(line))


def _sections(path: str, lines: list[str], above: int) -> Iterator[Section]:
    headings = list(_headings(lines))
    has_title = bool(headings) and headings[0].level == 1 and all(each.level > 1 for each in headings[1:])
    title = headings.pop(0) if has_title else None
    anchors: dict[str, int] = {}
    end = headings[0].start if headings else len(lines)
    first = title.title if title else ""
    before = [*lines[: title.start], *lines[title.end : end]] if title else lines[:end]
    text = "\n".join(before).strip("\n")
    if title or text.strip():
        yield Section(path, "0", _anchor(first, anchors), first, (), above + (title.start if title else 0) + 1, text)
    numbers = _Numbers()
    for at, heading in enumerate(headings):
        number, outer = numbers.next(heading)
        end = headings[at + 1].start if at + 1 < len(headings) else len(lines)
        text = "\n".join(lines[heading.end : end]).strip("\n")
        trail = (first, *outer) if first else outer
        line = above + heading.start + 1
        yield Section(path, number, _anchor(heading.title, anchors), heading.title, trail, line, text)


class _Numbers:
    """The numbers of headings, in order. None is given twice, even if levels are skipped."""

    def __init__(self) -> None:
        self._open: list[tuple[int, int, str]] = []
        """Level, count and title of the present heading and of those above it."""

    def next(self, heading: _Heading) -> tuple[str, tuple[str, ...]]:
        """Return the number of the next heading, and the titles of those above it."""
        count = 0
        while self._open and self._open[-1][0] >= heading.level:
            count = self._open.pop()[1]
        outer = tuple(title for _, _, title in self._open)
        self._open.append((heading.level, count + 1, heading.title))
        return ".".join(str(each) for _, each, _ in self._open), outer


def _anchor(title: str, taken: dict[str, int]) -> str:
    """Return the anchor of a heading; a repeated one gets a number, as on GitHub."""
    anchor = _NOT_IN_ANCHORS.sub("", title.lower()).strip().replace(" ", "-")
    times = taken.get(anchor, 0)
    taken[anchor] = times + 1
    return f"{anchor}-{times}" if times else anchor
