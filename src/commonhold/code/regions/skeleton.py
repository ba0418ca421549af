"""A Python file with functions reduced to their heads, so that the code around them is read at little cost.

Every remaining line keeps its line number.
"""

import ast
import re
from collections.abc import Callable
from typing import Final

from commonhold.code.regions.languages import PYTHON
from commonhold.code.regions.python_ast import UNREADABLE, parse_module
from commonhold.code.regions.region import Region, RegionMap
from commonhold.kernel.keys import Kind

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Reduce = Callable[[bytes], bytes | None]
"""Returns the replacement of a function's text; None if that must stay. See `reduced`."""

FUNCTIONS: Final = frozenset({Kind.FUNCTION, Kind.METHOD})
_BLANK: Final = re.compile(rb"[ \t]*")
# A byte order mark, or a comment that may declare another encoding than UTF-8.
_ENCODED: Final = re.compile(rb"\xef\xbb\xbf|[^\n]*\n?[^\n]*coding[:=](?![ \t]*utf-8(?![-\w.]))")
_HEAD_ALONE: Final = "if 1:\n"


def skeleton_of(regions: RegionMap, keeps: Callable[[Region], bool], reduce: Reduce) -> bytes | None:
    """Return the text of a file in which `reduce` has replaced each function, except those that it `keeps`.

    None for anything but sound Python in UTF-8.
    """
    if not is_plain_python(regions):
        return None
    pieces: list[bytes] = []
    start = 0
    for region in regions.regions:
        if region.kind not in FUNCTIONS or region.start < start or keeps(region):
            continue
        text = reduce(regions.cut(region.spans[0]))
        if text is not None:
            pieces += (regions.source[start : region.start], text)
            start = region.end
    return b"".join((*pieces, regions.source[start:]))


def is_plain_python(regions: RegionMap) -> bool:
    """Whether the syntax tree covers all of a Python file without errors, and it declares no encoding but UTF-8."""
    return is_sound_python(regions) and not _ENCODED.match(regions.source)


def is_sound_python(regions: RegionMap) -> bool:
    """Whether the syntax tree covers all of a Python file without errors; it is in UTF-8, declared or not."""
    return regions.language == PYTHON.name and regions.tree is not None and not regions.problems


def function_in(text: bytes) -> tuple[FunctionNode, int] | None:
    """Return the function that is the whole text, and how much its lines are too high; None for any other text."""
    try:
        is_indented = text[:1].isspace()
        tree = parse_module(_HEAD_ALONE + text.decode() if is_indented else text.decode())
    except UNREADABLE:
        return None
    body = tree.body[0].body if is_indented and len(tree.body) == 1 and isinstance(tree.body[0], ast.If) else tree.body
    node = body[0] if len(body) == 1 else None
    return (node, int(is_indented)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else None


def reduced(text: bytes, body: Callable[[FunctionNode], str | None]) -> bytes | None:
    """Return the text of a function with one line in place of its body, then blank ones; None if it must stay."""
    found = function_in(text)
    line = found and body(found[0])
    if found is None or line is None:
        return None
    node, raised = found
    lines = text.splitlines(keepends=True)
    decorators: list[ast.expr] = getattr(node.body[0], "decorator_list", [])
    first = (decorators[0] if decorators else node.body[0]).lineno - raised
    indent = _BLANK.match(lines[first - 1])
    begins = b"@" if decorators else lines[first - 1][node.body[0].col_offset :]
    if first <= node.lineno - raised or indent is None or not lines[first - 1].startswith(begins, indent.end()):
        return None
    ends = b"\n" * sum(line.endswith((b"\n", b"\r")) for line in lines[first - 1 :])
    return b"".join((*lines[: first - 1], indent[0], line.encode(), ends))
