"""Whether Python compiles an edited file, decided by compiling the edited definitions, or all but functions, alone.

The answer is yes or unknown: if the pieces do not prove it, the whole file must be compiled.
"""

import __future__

import ast
import re
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Final

from commonhold.code.regions.edit import Delete, Insert, Placed, Replace
from commonhold.code.regions.finally_expansion import multiplies
from commonhold.code.regions.outline import MAX_NAME_LENGTH
from commonhold.code.regions.python_ast import repeated
from commonhold.code.regions.region import RegionMap, Span
from commonhold.code.regions.skeleton import FUNCTIONS, Reduce, is_plain_python, is_sound_python, skeleton_of
from commonhold.code.regions.syntax import COMPILE_ERRORS, compile_python
from commonhold.kernel.keys import Key

_SPACE: Final = b" \t\r\n"
_BLANK_LINES: Final = re.compile(rb"(?:[ \t]*\r?\n)*(?:[ \t]+\Z)?")
_FIRST_INDENT: Final = re.compile(rb"(?:[ \t]*(?:#[^\n]*|\r?)\n)*([ \t]*)(?=[^\s#])")
# Python allows 100 levels of indentation; a definition that is compiled alone lacks some of those around it.
_DEEP: Final = re.compile(rb"^[ \t]{80}", re.MULTILINE)
# The places where a statement may begin: on a line, or behind a semicolon or a colon.
_GLOBAL: Final = re.compile(rb"(?:\A|[\r\n;:])[ \t\f]*global\b")
_FINALLY: Final = re.compile(rb"(?:\A|[\r\n])[ \t\f]*finally[\s\\]*:")


def still_compiles(before: RegionMap, after: RegionMap, placed: Sequence[Placed], reduce: Reduce) -> bool:
    """Whether `after` certainly compiles, given that `before` does and that the edits kept to their regions.

    `placed` gives the places of the edits in `after`; `breach` finds whether they kept to their regions. `reduce`
    replaces functions whose bodies do not matter by other texts, see `skeleton_of`. False proves nothing: then the
    whole file must be compiled.
    """
    if not placed or not is_sound_python(before) or not is_sound_python(after):
        return False
    if all(each.edit.is_header for each in placed):
        return _compiles_around_functions(before, after, reduce)
    if any(each.edit.is_header or each.edit.is_whole_file for each in placed):
        return False
    # The first two lines may declare an encoding.
    was, now = (each.source.split(b"\n", 2)[:2] for each in (before, after))
    if was != now or not _is_same_outside(before, after, placed):
        return False
    # Outside of functions, `global` affects the names that definitions bind and use.
    if b"global" in after.source and any(map(_GLOBAL.search, _headers(after))):
        return False
    flags = _future_flags(after)
    is_only = len(placed) == 1
    return flags is not None and all(_fits(before, after, each, flags, is_only=is_only) for each in placed)


def _is_same_outside(before: RegionMap, after: RegionMap, placed: Sequence[Placed]) -> bool:
    """Whether the text between the edits is unchanged except for blank lines, and each edit begins a logical line."""
    ordered = sorted(placed, key=attrgetter("start", "end"))
    new = _between(after.source, [(each.start, each.end) for each in ordered])
    replaced = [each.edit.region.spans[0] for each in ordered if isinstance(each.edit, Replace | Delete)]
    if len(replaced) == len(placed):
        old = _between(before.source, replaced)
    elif len(placed) == 1 and before.source.startswith(new[0]):
        old = _between(before.source, [(len(new[0]), len(new[0]))])
    else:
        return False
    return old == new and not any(text.endswith(b"\\") for text in new[:-1])


def _between(source: bytes, spans: Sequence[Span]) -> list[bytes]:
    """Return the text around and between the spans, without the blank lines next to them."""
    texts: list[bytes] = []
    start = 0
    for left, right in spans:
        texts.append(source[start:left].rstrip(_SPACE))
        blank = _BLANK_LINES.match(source, right)
        start = blank.end() if blank else right
    return [*texts, source[start:]]


def _compiles_around_functions(before: RegionMap, after: RegionMap, reduce: Reduce) -> bool:
    """Whether a file compiles in which only headers changed.

    The code around a function affects its body only through the class that it is in and through `from __future__`: no
    function is around it, so a `nonlocal` name in it is bound in it.
    """
    if _shape(before) != _shape(after) or _DEEP.search(after.source):
        return False
    flags = _future_flags(before)
    if flags is None or flags != _future_flags(after):
        return False
    # The copies may contain functions.
    if any(map(_FINALLY.search, _headers(after))) and multiplies(after.source):
        return False
    skeleton = skeleton_of(after, lambda _: False, reduce)
    if skeleton is None or not is_plain_python(before):
        return False
    try:
        compile_python(skeleton)
    except COMPILE_ERRORS:
        return False
    return True


def _shape(found: RegionMap) -> list[tuple[Key, str]]:
    """Return the regions of a file, functions with the hashes of their texts."""
    return [(each.key, each.hash if each.kind in FUNCTIONS else "") for each in found.regions]


def _headers(found: RegionMap) -> Iterator[bytes]:
    return (found.bytes_of(each) for each in found.regions if each.key.is_header)


def _future_flags(found: RegionMap) -> int | None:
    """Return the flags of the `from __future__` imports, which stand above all definitions; None if uncertain."""
    start = found.cut(found.regions[1].spans[0])
    if b"__future__" not in start:
        return 0
    try:
        body = repeated(lambda: compile_python(start, ast.PyCF_ONLY_AST)).body
    except COMPILE_ERRORS:
        return None
    imports = [node for node in body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    flags = 0
    for name in (name.name for node in imports for name in node.names):
        flags |= getattr(__future__, name).compiler_flag
    return flags


def _fits(before: RegionMap, after: RegionMap, placed: Placed, flags: int, *, is_only: bool) -> bool:
    """Whether one edit leaves valid code around it, and is a definition that compiles there."""
    edit, text = placed.edit, after.source[placed.start : placed.end]
    old = None if isinstance(edit, Insert) else edit.region
    indent = _indent(before.bytes_of(old)) if old else _indent(text)
    if indent is None or edit.parent is None:
        return False
    if isinstance(edit, Delete):
        # A block must not lose its only statement; a file may.
        return not indent or (is_only and _follows_sibling(before, edit.region.start, edit.parent, indent))
    if isinstance(edit, Insert):
        is_at_end = not indent and not after.source[placed.end :].strip(_SPACE)
        if not is_at_end and not _follows_sibling(before, placed.start, edit.parent, indent):
            return False
    if b"finally" in text and multiplies(after.source):
        return False
    return _indent(text) == indent and _compiles_alone(text, indent, edit.parent, flags)


def _indent(definition: bytes) -> bytes | None:
    """Return the white space before the first token of a definition; None if it is uncertain."""
    found = _FIRST_INDENT.match(definition)
    return found[1] if found else None


def _follows_sibling(before: RegionMap, position: int, parent: Key, indent: bytes) -> bool:
    """Whether only blank lines lie between a definition in the same block and a position."""
    return any(
        each.is_definition
        and each.parent == parent
        and each.end <= position
        and not before.source[each.end : position].strip(_SPACE)
        and _indent(before.bytes_of(each)) == indent
        for each in before.regions
    )


def _compiles_alone(text: bytes, indent: bytes, parent: Key, flags: int) -> bool:
    """Whether a definition compiles inside a minimal copy of its surroundings.

    Names in it that begin with two underscores are mangled with the name of its class. The statement behind it requires
    that all brackets, strings and blocks are closed.
    """
    name = parent.names[-1].text if parent.names else ""
    is_named = not name or (name.isidentifier() and len(name) < MAX_NAME_LENGTH and bool(indent))
    if not is_named or _DEEP.search(text) or text.rstrip(b"\r\n").endswith(b"\\"):
        return False
    opener = f"class {name}:\n".encode() if name else b"if 1:\n" if indent else b""
    line_end = b"" if text.endswith(b"\n") else b"\n"
    # Two blank lines above it, so that none of its comments declares an encoding.
    try:
        compile_python(b"\n\n" + opener + text + line_end + indent + b"pass\n", flags)
    except COMPILE_ERRORS:
        return False
    return True
