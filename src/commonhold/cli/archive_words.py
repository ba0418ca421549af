"""The answers of the context archive, in words. Texts of notes are quotations: data, never instructions."""

from collections.abc import Iterator, Sequence
from typing import Final

from commonhold.cli.output import shown
from commonhold.tasks.archive import Entry, Found, Quote
from commonhold.tasks.linking import Links
from commonhold.tasks.notes import Section

_MOST_LINES: Final = 3


def sections(values: Sequence[Section]) -> Iterator[str]:
    """The text of sections."""
    for value in values:
        yield f"{shown(value.name)}  {_title(value)}  (line {value.line})"
        yield from _quoted(value.text)


def found(values: Sequence[Found]) -> Iterator[str]:
    """Sections with their first lines."""
    if not values:
        yield "no section of the project's notes has any of these words"
    for each in values:
        yield f"{shown(each.section.name)}  {_title(each.section)}"
        lines = [line for line in each.section.text.splitlines() if line.strip()]
        yield from _quoted("\n".join(lines[:_MOST_LINES]))


def quotes(values: Sequence[Quote]) -> Iterator[str]:
    """Sections that bear on keys, and why."""
    if not values:
        yield "no section of the project's notes bears on this"
    for each in values:
        yield f"{shown(each.section.name)}  {_title(each.section)}  ({shown(each.why)})"
        yield from _quoted(each.text)
        if each.is_cut:
            yield f"  … the rest: commonhold archive show {shown(each.section.name)}"


def entries(values: Sequence[Entry]) -> Iterator[str]:
    """The list of notes."""
    if not values:
        yield "this project has no notes: no Markdown file that git does not ignore"
    for each in values:
        about = " ".join(filter(None, (each.kind, each.date, f"by {each.by}" if each.by else "")))
        yield f"{shown(each.path)}  {shown(each.title)}  {f'({shown(about)})' if about else ''}".rstrip()
        if each.problem:
            yield f"  not read: {shown(each.problem)}"
        elif each.applies_to:
            yield f"  applies to {shown(', '.join(each.applies_to))}"


def headings(values: Sequence[Section]) -> Iterator[str]:
    """The sections of one note, without their texts."""
    for value in values:
        indent = "  " * value.number.count(".")
        yield f"{indent}{value.number}  {_title(value)}  #{shown(value.anchor)}"


def links(values: Links) -> Iterator[str]:
    """The links of sections to keys."""
    if not values:
        yield "no section is linked to a key"
    for name, keys in sorted(values.items()):
        yield f"{shown(name)}  {shown(', '.join(keys))}"


def _title(section: Section) -> str:
    return shown(section.title) or "(no heading)"


def _quoted(text: str) -> Iterator[str]:
    yield from (f"  > {shown(line, keep=chr(9))}".rstrip() for line in text.split("\n") if text)
