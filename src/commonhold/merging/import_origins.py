"""Names that one side imports from elsewhere than before: `rand` of another package, a class of another namespace.

The name stays, so nothing is withdrawn. Code that uses it as the changing side itself does was moved with it; code of
the other side that uses it in another way was tried with its former meaning.
"""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from commonhold.merging.changed_rows import Rows, changed_rows
from commonhold.merging.effects import effects_of
from commonhold.merging.layout import Element
from commonhold.merging.prose import lines_of

_QUOTED: Final = re.compile(rb"[\"'`]([^\"'`]*)[\"'`]")
_TYPES: Final = re.compile(rb"\Aimport\s+type\b")
_SPACE: Final = re.compile(rb"\s+")
_FORM: Final = rb"(?:\bnew\s+)?(?<![\w.])%s\b(?:\s*(?:\.|::|->|\\)\s*\w+|\s*[(<{])?"


def taken_from_elsewhere(before: Element, after: Element) -> Iterator[tuple[bytes, int]]:
    """Yield the names that a file imports now from elsewhere, each with its row."""
    gone, come = changed_rows(before.source, after.source)
    was = _origins(before, gone) if gone.rows and come.rows else {}
    if was:
        now = _origins(after, come)
        yield from ((name, now[name][1]) for name in was.keys() & now.keys() if was[name][0] != now[name][0])


def is_tried(name: bytes, new: Element, rows: Rows, known: bytes) -> bool:
    """Whether all uses of a name on some rows have a form that `known` uses, too: a call, a member, the name alone."""
    form = re.compile(_FORM % re.escape(name))
    lines = lines_of(new.source)
    written = {_SPACE.sub(b"", each) for row in rows.rows for each in form.findall(lines[row])}
    return written <= {_SPACE.sub(b"", each) for each in form.findall(known)}


def _origins(element: Element, rows: Rows) -> dict[bytes, tuple[bytes, int]]:
    """Return the names that the imports on some rows give, each with its origin and its row."""
    found: dict[bytes, tuple[bytes, int]] = {}
    for node in rows.nodes(element.node):
        if node.type in element.profile.imports and node.type != "preproc_include":
            for name in effects_of([node], element.profile).defines:
                found[name] = _origin(node, name), node.start_point.row
    return found


def _origin(node: Node, name: bytes) -> bytes:
    """Return the path of an imported name: the text before the brackets around it, and its own entry."""
    text = node.text or b""
    if node.type == "import_spec" or not re.search(rb"[,{(]", text):
        return _SPACE.sub(b"", _TYPES.sub(b"import", text)) + (b" type" if _TYPES.match(text) else b"")
    places = [each.start() for each in re.finditer(rb"(?<!\w)%s(?!\w)" % re.escape(name), text)]
    at = places[-1] if places else 0
    open_at: list[int] = []
    for index, each in enumerate(text[:at]):
        if each in b"{":
            open_at.append(index)
        elif each in b"}" and open_at:
            open_at.pop()
    ends = [0, *open_at]
    around = [re.split(rb"[,{]", text[start:end])[-1] for start, end in zip(ends, open_at, strict=False)]
    entry = re.split(rb"[,{}()]", text[:at])[-1] + re.split(rb"[,{}()]", text[at:])[0]
    source = _QUOTED.search(text)
    is_type = _TYPES.match(text) is not None or entry.strip().startswith(b"type ")
    entry = re.sub(rb"\A\s*(?:type\s|(?:from\s.*?)?import\s)", b"", entry)
    module = text.partition(b"import")[0] if text.startswith(b"from") else b""
    named = (source[1], entry) if source is not None else (module, *around, entry)
    return _SPACE.sub(b"", b"/".join(named)) + (b" type" if is_type else b"")
