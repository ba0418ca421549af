"""A file's definitions without the bodies of functions that nobody looks into: most of a file need not be parsed."""

import ast
import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

from commonhold.domain.keys import Key
from commonhold.regions.region import Region, RegionMap
from commonhold.regions.skeleton import reduced, skeleton_of
from commonhold.semantics.calls import is_left_open
from commonhold.semantics.expressions import walk
from commonhold.semantics.interface import FunctionNode, has_yield
from commonhold.semantics.module import assigned_on_self

_NOTHING: Final = re.compile(rb"(?!)")
# It binds names that nobody sees, so such a function stays; Python refuses it, but files may hold it.
_STARRED: Final = re.compile(rb"import[\s\\(]*\*")
_FUNCTIONS_KEPT: Final = 2048
_LARGEST_KEPT: Final = 16_000


def naming(names: Collection[str]) -> re.Pattern[bytes]:
    """What finds any of these names in a text, if also at the end of longer ones: that is quicker than to be exact."""
    if not names:
        return _NOTHING
    return re.compile(rb"(?:%b)\b" % b"|".join(re.escape(name).encode() for name in sorted(names)))


def in_view(regions: RegionMap, whole: Collection[Key], named: re.Pattern[bytes]) -> bytes:
    """The text of a file with the functions in `whole`, and those in which `named` is found, as they are.

    Of all others only that is left which shows outside of them: how they are called, whether they yield, the
    attributes that they assign on their first parameter, and the names that they declare `global`.
    """

    def keeps(region: Region) -> bool:
        return region.key in whole or named.search(regions.source, region.start, region.end) is not None

    return skeleton_of(regions, keeps, seen_from_outside) or regions.source


def seen_from_outside(text: bytes) -> bytes | None:
    """What stands for a function where its body is not looked into; None where it has to stay."""
    return _reduced(text) if len(text) <= _LARGEST_KEPT else None


@lru_cache(maxsize=_FUNCTIONS_KEPT)
def _reduced(text: bytes) -> bytes | None:
    return None if _STARRED.search(text) else reduced(text, _what_shows)


def _what_shows(node: FunctionNode) -> str | None:
    """A line that shows outside what the body of a function does; None where only the body itself does."""
    if is_left_open(node):
        return None
    names = dict.fromkeys(name for part in walk(node) if isinstance(part, ast.Global) for name in part.names)
    first = [*node.args.posonlyargs, *node.args.args][:1]
    stored = (f"{each.arg}.{name} = 0" for each in first for name in dict.fromkeys(assigned_on_self(node)))
    declared = [f"global {', '.join(names)}"] if names else []
    return "; ".join((*declared, *stored, "yield" if has_yield(node.body) else "pass"))
