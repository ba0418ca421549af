"""Texts by which code looks things up: one side renames or removes one, the other newly looks it up.

Examples are a key of a mapping, a variable of the environment, an event, a member of a union of texts. A name that only
a text holds is no name of the program, so nothing else compares it.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from commonhold.merging.changed_rows import changed_rows
from commonhold.merging.layout import FileElement
from commonhold.merging.prose import lines_of
from commonhold.merging.verdict import Reason, Spot

_KEY: Final = rb"[\"'`]([A-Za-z_][\w.:/-]*)[\"'`]"
_LOOKED_UP: Final = re.compile(
    rb"\[\s*" + _KEY + rb"\s*\]"
    rb"|\b(?:get|getenv|get_env|Getenv|LookupEnv|env|var|getProperty|getString|getItem|setItem|setdefault|pop|has|config"
    rb"|setting|t|emit|on|once|off|listen|addListener|addEventListener|trigger|dispatch|publish|subscribe)!?\(\s*"
    + _KEY
    + rb"|\b(?:process|import\.meta)\.env\.()(\w+)"
)
_GIVEN: Final = re.compile(rb"(?:\A|[{,(|])\s*" + _KEY + rb"\s*(?=:(?!:)|=>|\||;|\Z)|=\s*" + _KEY + rb"\s*(?=\|)")
_WRITTEN: Final = re.compile(_KEY)
_ENVIRONMENT: Final = re.compile(rb"\benv\.(\w+)")


def looks_up_withdrawn(base: FileElement, ours: FileElement, theirs: FileElement) -> Iterator[Spot]:
    """Yield a spot for each text that one side took away and by which new code of the other looks something up."""
    for at, (removing, using) in enumerate(((ours, theirs), (theirs, ours))):
        gone = changed_rows(base.source, removing.source)[0]
        lines = lines_of(base.source)
        known = {key for row in gone.rows for key in _keys(lines[row])}
        withdrawn = known.difference(_texts(removing.source)) if known else known
        if not withdrawn:
            continue
        before = Counter(_texts(base.source))
        now = Counter(_texts(using.source))
        for row, key in _written(base, using, withdrawn):
            if now[key] > before[key]:
                shown = key.decode(errors="replace")
                why = f"one side took away the key {shown!r}, and the other's new code looks it up"
                yield Spot(Reason.DANGLING, why, **{"ours" if at else "theirs": (row, row + 1)})
                break


def _keys(line: bytes) -> Iterator[bytes]:
    """Yield the texts of a line by which things are looked up, or under which they are given."""
    for pattern in (_LOOKED_UP, _GIVEN):
        for match in pattern.finditer(line):
            yield from filter(None, match.groups())


def _texts(source: bytes) -> list[bytes]:
    return [*_WRITTEN.findall(source), *_ENVIRONMENT.findall(source)]


def _written(base: FileElement, using: FileElement, withdrawn: set[bytes]) -> Iterator[tuple[int, bytes]]:
    lines = lines_of(using.source)
    for row in changed_rows(base.source, using.source)[1].rows:
        if not lines[row].lstrip().startswith((base.profile.comment_mark, b"*", b"/*")):
            yield from ((row, key) for key in _texts(lines[row]) if key in withdrawn)
