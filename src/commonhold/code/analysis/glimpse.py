"""A file's definitions without the bodies of functions that need no examination: most of a file is not parsed."""

import ast
import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

from commonhold.code.analysis.calls import is_left_open
from commonhold.code.analysis.expressions import walk
from commonhold.code.analysis.interface import FunctionNode, has_yield
from commonhold.code.analysis.module_definitions import assigned_on_self
from commonhold.code.regions.region import Region, RegionMap
from commonhold.code.regions.skeleton import reduced, skeleton_of
from commonhold.kernel.keys import Key

_NOTHING: Final = re.compile(rb"(?!)")
# It binds unknown names, so such a function stays; Python refuses it, but files may contain it.
_STARRED: Final = re.compile(rb"import[\s\\(]*\*")
_FUNCTIONS_KEPT: Final = 2048
_LARGEST_KEPT: Final = 16_000


def naming(names: Collection[str]) -> re.Pattern[bytes]:
    """Return a pattern for any of these names, also at the end of longer ones: an exact pattern would be slower."""
    if not names:
        return _NOTHING
    return re.compile(rb"(?:%b)\b" % b"|".join(re.escape(name).encode() for name in sorted(names)))


def in_view(regions: RegionMap, whole: Collection[Key], named: re.Pattern[bytes]) -> bytes:
    """Return the text of a file with the functions in `whole`, and those in which `named` is found, unchanged.

    All others are reduced to the parts that are visible outside: their signature, whether they yield, the attributes
    that they assign on their first parameter, and the names that they declare `global`.
    """

    def keeps(region: Region) -> bool:
        return region.key in whole or named.search(regions.source, region.start, region.end) is not None

    return skeleton_of(regions, keeps, seen_from_outside) or regions.source


def seen_from_outside(text: bytes) -> bytes | None:
    """Return a short text in place of a function whose body does not matter; None if it must stay."""
    return _reduced(text) if len(text) <= _LARGEST_KEPT else None


@lru_cache(maxsize=_FUNCTIONS_KEPT)
def _reduced(text: bytes) -> bytes | None:
    return None if _STARRED.search(text) else reduced(text, _what_shows)


def _what_shows(node: FunctionNode) -> str | None:
    """Return a line with the outside effects of a function's body; None if only the body itself shows them."""
    if is_left_open(node):
        return None
    names = dict.fromkeys(name for part in walk(node) if isinstance(part, ast.Global) for name in part.names)
    first = [*node.args.posonlyargs, *node.args.args][:1]
    stored = (f"{each.arg}.{name} = 0" for each in first for name in dict.fromkeys(assigned_on_self(node)))
    declared = [f"global {', '.join(names)}"] if names else []
    return "; ".join((*declared, *stored, "yield" if has_yield(node.body) else "pass"))
