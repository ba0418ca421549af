"""Entries of styles, tables and mappings whose meaning depends on their place, which their keys do not show.

In a style a short property resets its long ones, a row may be inserted by the places of columns, and a mapping of YAML
takes over another only once.
"""

import re
from collections.abc import Iterator
from typing import Final

from commonhold.merging.changed_rows import changed_lines
from commonhold.merging.doubled import doubled
from commonhold.merging.prose import lines_of
from commonhold.merging.verdict import Reason, Spot

_STYLES: Final = frozenset({"css", "less", "scss"})
_BRACE: Final = re.compile(rb"([{}])")
_PROPERTY: Final = re.compile(rb"(?:\A|;|\*/)\s*([a-z-]+)\s*:")
_RESETTING: Final = re.compile(
    rb"(?:animation|background|border(?:-(?:top|right|bottom|left|block|inline))?|column-rule|columns|font|grid|inset"
    rb"|list-style|margin|mask|outline|overflow|padding|text-decoration|transition)\Z"
)
_KEPT: Final = re.compile(rb"border-(?:collapse|radius|spacing|.*-radius)\Z|overflow-(?:anchor|wrap)\Z|font-face\Z")
_TABLE: Final = re.compile(rb"(?i)\bCREATE[ \t]+TABLE[ \t]+(?:IF[ \t]+NOT[ \t]+EXISTS[ \t]+)?[\"`]?([\w.]+)[\"`]?\s*\(")
_NAMED_ROW: Final = re.compile(rb"(?i)\bINSERT[ \t]+INTO[ \t]+[\"`]?([\w.]+)[\"`]?\s*\(")
_NEEDED: Final = re.compile(
    rb"(?i)^[ \t]*[\"`]?(\w+)[\"`]?[ \t]+(?![^\n]*\b(?:DEFAULT|SERIAL|IDENTITY|GENERATED)\b)[^\n]*"
    rb"\bNOT[ \t]+NULL",
    re.MULTILINE,
)
_ALTERNATIVE: Final = re.compile(rb"(?i)\bOR\b")
_RESTRICTION: Final = re.compile(rb"(?i)\b(?:AND|OR)\b")
_BY_NUMBER: Final = re.compile(rb"(?i)\b(?:GROUP|ORDER)[ \t]+BY[ \t]+\d")
_INSERTED: Final = re.compile(rb"(?i)\bINSERT[ \t]+INTO[ \t]+[\"`]?([\w.]+)[\"`]?\s+(?:VALUES|SELECT)\b")


def misplaced_in(merged: bytes, versions: tuple[bytes, bytes, bytes], path: str) -> Spot | None:
    """Return why entries of both sides would change each other's meaning by their places; None if they do not."""
    kind = path.rpartition(".")[2].lower()
    if kind in _STYLES:
        return _reset(merged, versions)
    if kind in {"yaml", "yml"} and b"<<" in merged and doubled(merged, versions, _taken_over):
        return Spot(Reason.SAME_NAME, "put together it would give '<<' twice in one place")
    return _inserted(versions) or _combined(merged, versions) if kind in {"ddl", "sql"} else None


def _reset(merged: bytes, versions: tuple[bytes, bytes, bytes]) -> Spot | None:
    known = {pair for each in versions for pair in _pairs(each)}
    new = next((pair for pair in _pairs(merged) if pair not in known), None)
    if new is None:
        return None
    shown = [each.decode(errors="replace") for each in new[1:]]
    return Spot(Reason.ORDER_MATTERS, f"one side added {shown[0]!r} to a rule, which resets {shown[1]!r} of the other")


def _pairs(source: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield each short property of a rule with each of its long ones there."""
    parts = _BRACE.split(source)
    for head, opening, body, closing in zip(parts[::2], parts[1::2], parts[2::2], parts[3::2], strict=False):
        names = _PROPERTY.findall(body) if (opening, closing) == (b"{", b"}") else []
        for name in {name for name in names if _RESETTING.match(name)}:
            longer = (each for each in names if each.startswith(name + b"-") and not _KEPT.match(each))
            yield from ((head.rpartition(b";")[2].strip(), name, each) for each in longer)


def _taken_over(source: bytes) -> Iterator[tuple[bytes, ...]]:
    """Yield each merge key of YAML with the less indented lines above it."""
    around: list[tuple[int, bytes]] = []
    for number, line in enumerate(lines_of(source)):
        text = line.strip()
        if not text or text.startswith(b"#"):
            continue
        is_item = text.startswith(b"- ")
        indent = len(line) - len(line.lstrip(b" -" if is_item else b" "))
        while around and around[-1][0] >= indent:
            around.pop()
        text = text.removeprefix(b"- ")
        if text.startswith(b"<<:"):
            yield tuple(each for _, each in around)
        around.append((indent - is_item, text + b"%d" % number if is_item else text))


def _inserted(versions: tuple[bytes, bytes, bytes]) -> Spot | None:
    """Return why a new row may not fit: it gives values by place, and the other side changed the columns."""
    base, *sides = versions
    tables = [dict(_columns(each)) for each in versions]
    for table, new in ((tables[1], sides[1]), (tables[2], sides[0])):
        changed = {name for name, columns in tables[0].items() if table.get(name) != columns}
        counts = [_INSERTED.findall(each) for each in (base, new)]
        for name in sorted(changed):
            if counts[1].count(name) > counts[0].count(name):
                shown = name.decode(errors="replace")
                why = f"one side changed the columns of {shown!r}, the other inserts a row by their places"
                return Spot(Reason.ORDER_MATTERS, why)
            needed = set(_NEEDED.findall(table.get(name, b""))) - set(_NEEDED.findall(tables[0][name]))
            rows = [_NAMED_ROW.findall(each).count(name) for each in (base, new)]
            if needed and rows[1] > rows[0]:
                shown = min(needed).decode(errors="replace")
                return Spot(Reason.INTERFERES, f"one side demands {shown!r} of each row, and the other inserts a row")
    return None


def _combined(merged: bytes, versions: tuple[bytes, bytes, bytes]) -> Spot | None:
    """Return why the changes of both sides to one statement would not mean together what each meant alone."""
    lines = [changed_lines(versions[0], side)[1] for side in versions[1:]]
    if not all(lines):
        return None
    for statement in _statements(merged):
        parts = [b"".join(line for line in statement if line in side) for side in lines]
        for one, other in (parts, parts[::-1]) if all(parts) else ():
            if _ALTERNATIVE.search(one) and _RESTRICTION.search(other):
                return Spot(
                    Reason.ORDER_MATTERS, "one side added an alternative to a condition, the other restricts it"
                )
            if _BY_NUMBER.search(one):
                why = "one side refers to columns by their numbers, and the other changed that statement"
                return Spot(Reason.ORDER_MATTERS, why)
    return None


def _statements(source: bytes) -> Iterator[list[bytes]]:
    """Yield the lines of each statement."""
    found: list[bytes] = []
    for line in lines_of(source):
        found.append(line)
        if line.rstrip().endswith(b";"):
            yield found
            found = []
    yield found


def _columns(source: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield each table that a script makes, with the text of its columns."""
    at = 0
    while (found := _TABLE.search(source, at)) is not None:
        end = source.find(b";", found.end())
        at = len(source) if end < 0 else end
        yield found[1], source[found.end() : at]
