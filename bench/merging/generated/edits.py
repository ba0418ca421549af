"""Typed edits: each kind of edit makes one change of a program, at a place and with names that a seed chooses."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from tree_sitter import Node

from bench.merging.generated.changes import GENERAL
from bench.merging.generated.grammar import Grammar, Insert
from bench.merging.generated.placing import NAMES, chosen, entries_of, identifiers, locals_of, with_entry
from bench.merging.generated.program import Program, name_of

_KNOWN_SHARE: Final = 0.15
_FIELD: Final = re.compile(r"\{(\w+)\}")
_NUMBER: Final = re.compile(rb"\d+")

Make = Callable[[Program, Random], bytes | None]


@dataclass(frozen=True, slots=True)
class Edit:
    """A version that one edit of the given kind made of a program."""

    kind: str
    source: bytes


def edits(program: Program, seed: str, each_kind: int) -> Iterator[Edit]:
    """Edits of a program, `each_kind` of every kind that fits it; none twice. The same seed gives the same edits."""
    seen = {program.source}
    for kind, make in _kinds(program.grammar):
        for number in range(each_kind):
            made = make(program, Random(f"{seed}:{kind}:{number}"))  # noqa: S311 - repeatable on purpose
            if made is not None and made not in seen:
                seen.add(made)
                yield Edit(kind, made)


def _kinds(grammar: Grammar) -> Iterator[tuple[str, Make]]:
    for kind, inserts in grammar.lines.items():
        yield kind, _line_maker(inserts)
    for kind, inserts in grammar.entries.items():
        yield kind, _entry_maker(inserts)
    yield from GENERAL.items()


def _line_maker(inserts: Sequence[Insert]) -> Make:
    def make(program: Program, random: Random) -> bytes | None:
        for insert in random.sample(list(inserts), len(inserts)):
            holders = [node for node in program.near if program.is_kind(node, insert.into)]
            made = _put_line(program, random, random.choice(holders), insert) if holders else None
            if made is not None:
                return made
        return None

    return make


def _entry_maker(inserts: Sequence[Insert]) -> Make:
    def make(program: Program, random: Random) -> bytes | None:
        for insert in random.sample(list(inserts), len(inserts)):
            holders = [node for node in program.near if program.is_kind(node, insert.into)]
            made = _put_entry(program, random, random.choice(holders), insert) if holders else None
            if made is not None:
                return made
        return None

    return make


def _put_line(program: Program, random: Random, holder: Node, insert: Insert) -> bytes | None:
    children = [
        child
        for child in holder.named_children
        if program.begins_line(child) and (not insert.beside or child.type in insert.beside)
    ]
    if not children:
        return _put_first_line(program, random, holder, insert)
    index = chosen(random, len(children) + 1)
    beside = children[min(index, len(children) - 1)]
    start, indent = program.line_of(beside.start_byte)
    at = start if index < len(children) else program.end_of_line(max(beside.start_byte, beside.end_byte - 1))
    text = _filled(program, random, holder, insert.text)
    return None if text is None else _with_lines(program, at, indent, text)


def _put_first_line(program: Program, random: Random, holder: Node, insert: Insert) -> bytes | None:
    """Put a line into an empty file, or before all children where none is of the kinds to stand beside."""
    text = _filled(program, random, holder, insert.text)
    first = next((child for child in holder.named_children if program.begins_line(child)), None)
    if text is None or first is None or holder.parent is not None:
        return None
    return _with_lines(program, program.line_of(first.start_byte)[0], b"", text)


def _with_lines(program: Program, at: int, indent: bytes, text: bytes) -> bytes:
    ended = b"\n" if at and not program.source[:at].endswith(b"\n") else b""
    unit = b"\t" if b"\n\t" in program.source else b"    "
    lines = text.replace(b"    ", unit).splitlines(keepends=True)
    put_in = b"".join(indent + line if line.strip() else line for line in lines)
    return program.replaced((at, at, ended + put_in + (b"" if put_in.endswith(b"\n") else b"\n")))


def _put_entry(program: Program, random: Random, holder: Node, insert: Insert) -> bytes | None:
    text = _filled(program, random, holder, insert.text)
    return None if text is None else with_entry(program, holder, text, chosen(random, len(entries_of(holder)) + 1))


def _filled(program: Program, random: Random, holder: Node, text: str) -> bytes | None:
    """The text with its fields filled; None where the program has nothing for one."""
    values: dict[str, bytes] = {}
    for field in dict.fromkeys(_FIELD.findall(text)):
        value = _value(program, random, holder, field)
        if value is None:
            return None
        values[field] = value
    return _FIELD.sub(lambda found: values[found[1]].decode(errors="replace"), text).encode()


def _value(program: Program, random: Random, holder: Node, field: str) -> bytes | None:
    grammar = program.grammar
    if field in {"name", "Name"}:
        known = program.names(grammar.functions | grammar.types | grammar.copied)
        if known and random.random() < _KNOWN_SHARE:
            return random.choice(known)
        name = random.choice(NAMES)
        return (name.title() if field == "Name" else name).encode()
    if field == "n":
        return str(random.randrange(2, 9)).encode()
    if field == "next":
        return str(max(map(int, _NUMBER.findall(program.text(holder))), default=0) + 1).encode()
    if field == "holder":
        of_holder = name_of(holder.parent) if holder.parent is not None else None
        return program.text(of_holder) if of_holder is not None else None
    known = _known(program, holder, field)
    return random.choice(known) if known else None


def _known(program: Program, holder: Node, field: str) -> Sequence[bytes]:
    if field == "variable":
        return identifiers(program, holder)
    if field == "local":
        return locals_of(program, holder)
    return program.names(program.grammar.functions if field == "function" else program.grammar.types)
