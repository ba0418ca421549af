"""Markers of a Python file: calls and imports whose effect the syntax does not show."""

import ast
import re
from collections.abc import Iterator
from typing import Final

from commonhold.code.analysis.expressions import walk
from commonhold.code.analysis.references import Marker

STAR_IMPORT: Final = "star import"
STARRED_CALL: Final = "starred call"
DYNAMIC: Final = frozenset(
    {"getattr", "setattr", "delattr", "exec", "eval", "globals", "locals", "vars", "__import__", "import_module"}
)
# Markers that only look something up: in a new function, no other code depends on the result.
LOOKING: Final = frozenset({STARRED_CALL, "getattr", "vars", "locals", "import_module", "__import__"})
_DYNAMIC_ATTRIBUTES: Final = frozenset({"import_module", "__import__"})
# A star in a call follows a bracket, a comma or a line end, unlike that of a product. In names Python folds some
# letters beyond ASCII to ASCII.
_MARKER_LETTERS: Final = re.compile(
    rb"(?:[(,\r\n]|import)[\s\\]*\*|[\x80-\xff]|\b(?:%b)\b" % "|".join(sorted(DYNAMIC)).encode()
)


def may_mark(text: bytes) -> bool:
    """Whether there may be a marker at all: a search in the text saves many a parse."""
    return _MARKER_LETTERS.search(text) is not None


def suspects(tree: ast.AST) -> Iterator[Marker]:
    """Yield all possible markers, whatever the names in them are bound to."""
    for node in walk(tree):
        if isinstance(node, ast.Call):
            yield from marks_of_call(node)
        elif isinstance(node, ast.ImportFrom):
            yield from marks_of_import(node)


def marks_of_call(call: ast.Call) -> Iterator[Marker]:
    """Yield the markers of a call, whatever the names in it are bound to."""
    is_bare = isinstance(call.func, ast.Name)
    name: str = getattr(call.func, "id", "") or getattr(call.func, "attr", "")
    if name in DYNAMIC and (is_bare or name in _DYNAMIC_ATTRIBUTES) and not _names_attribute(call, name):
        yield Marker(name, call.lineno)
    if any(each.arg is None for each in call.keywords) or any(isinstance(each, ast.Starred) for each in call.args):
        yield Marker(STARRED_CALL, call.lineno)


def _names_attribute(call: ast.Call, name: str) -> bool:
    """Whether this is `getattr(x, "name")`, which has the same reach as `x.name`."""
    asked = call.args[1] if name == "getattr" and len(call.args) > 1 else None
    return isinstance(asked, ast.Constant) and isinstance(asked.value, str)


def marks_of_import(node: ast.ImportFrom) -> Iterator[Marker]:
    """Yield the marker of a star import."""
    if node.names[0].name == "*":
        yield Marker(STAR_IMPORT, node.lineno)
