"""Names that both sides write in different letters, and that the language takes for one: ligatures, composed accents.

Python compares names by their compatibility form, Rust and C# by their composed form; texts of a merge differ in bytes.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final, Literal

from commonhold.merging.changed_rows import changed_rows
from commonhold.merging.layout import FileElement
from commonhold.merging.prose import lines_of
from commonhold.merging.verdict import Reason, Spot

_FORMS: Final[Mapping[str, Literal["NFC", "NFKC"]]] = {"csharp": "NFC", "python": "NFKC", "rust": "NFC"}
_NAME: Final = re.compile(r"[^\W\d][\w\u0300-\u036f]*")


def spelled_otherwise(language: str, base: FileElement, ours: FileElement, theirs: FileElement) -> Iterator[Spot]:
    """Yield a spot for each name that the sides' changed lines write in different letters."""
    if language not in _FORMS or (ours.source + theirs.source).isascii():
        return
    mine, others = (_written(base.source, side.source, language) for side in (ours, theirs))
    for name in sorted(mine.keys() & others.keys()):
        pairs = ((one, other) for one in mine[name] for other in others[name] if one != other)
        met = next(pairs, None)
        if met is not None:
            rows = mine[name][met[0]], others[name][met[1]]
            why = f"both sides write {name!r}, each in other letters that mean the same name"
            yield Spot(Reason.SAME_NAME, why, ours=(rows[0], rows[0] + 1), theirs=(rows[1], rows[1] + 1))


def _written(base: bytes, side: bytes, language: str) -> Mapping[str, Mapping[str, int]]:
    """Return the names on changed lines in their common form, each with its spellings and their rows."""
    found: dict[str, dict[str, int]] = {}
    for text, rows in zip((base, side), changed_rows(base, side), strict=True):
        lines = lines_of(text)
        for row in rows.rows:
            for name in _NAME.findall(lines[row].decode(errors="replace")):
                common = unicodedata.normalize(_FORMS[language], name)
                found.setdefault(common, {}).setdefault(name, row if text is side else 0)
    return found
