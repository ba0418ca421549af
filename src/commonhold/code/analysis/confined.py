"""Edits of functions that cannot change a type anywhere else in their file."""

import re
from collections.abc import Iterable
from typing import Final

from commonhold.code.analysis.glimpse import naming
from commonhold.code.regions.region import Region, RegionMap
from commonhold.kernel.keys import Kind

# What a function, or its decorator, does to names outside of it. Strings and comments count, too.
_REACHES_OUT: Final = re.compile(rb"@|:=|\b(?:global|import)\b")
_IN_A_WORD: Final = re.compile(rb"\w")


def is_confined(before: RegionMap, after: RegionMap, edited: Iterable[tuple[Region | None, Region | None]]) -> bool:
    """Whether everything in a Python file except the edited regions has the same types as before.

    `edited` are these regions before (None: new) and after (None: deleted). They are confined if they are functions at
    the top level whose names occur nowhere else in the file. Methods are not: a class may have to fit a protocol,
    which needs no name. False if this is uncertain.
    """
    pairs = [*edited]
    old, new = ([region for region in side if region] for side in zip(*pairs, strict=True)) if pairs else ([], [])
    texts = (*map(before.bytes_of, old), *map(after.bytes_of, new))
    return (
        after.language == "python"
        and after.source.isascii()  # otherwise a name can be spelt in several ways
        and all(region.kind is Kind.FUNCTION and len(region.key.names) == 1 for region in (*old, *new))
        and not any(map(_REACHES_OUT.search, texts))
        and not _is_named_outside({region.key.names[0].text for region in (*old, *new)}, after, new)
    )


def _is_named_outside(names: set[str], after: RegionMap, edited: Iterable[Region]) -> bool:
    spans = [span for region in edited for span in region.spans]
    found = (match.start() for match in naming(names).finditer(after.source))
    whole = (place for place in found if not _IN_A_WORD.match(after.source, max(place - 1, 0), place))
    return any(not any(start <= place < end for start, end in spans) for place in whole)
