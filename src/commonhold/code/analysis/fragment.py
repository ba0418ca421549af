"""Read one function alone, without its file: the quick way to see that only its body changed."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from tokenize import OP, TokenError, generate_tokens
from typing import Final

from commonhold.code.analysis.calls import Called, calls_in
from commonhold.code.analysis.interface import CallableInterface, of_callable
from commonhold.code.analysis.markers import may_mark, suspects
from commonhold.code.analysis.module_definitions import assigned_on_self
from commonhold.code.analysis.references import Marker
from commonhold.code.regions.python_ast import UNREADABLE, parse_module
from commonhold.code.regions.region import Region, RegionMap

_OTHER_COLONS: Final = frozenset({"class", "lambda"})


@dataclass(frozen=True, slots=True)
class Fragment:
    """A function by itself. Its markers are only suspects: they were not checked against the bindings of the file."""

    interface: CallableInterface
    markers: tuple[Marker, ...]
    calls: Called = frozenset()
    assigns: frozenset[str] = frozenset()


def read_fragment(regions: RegionMap, region: Region, *, in_depth: bool = False) -> Fragment | None:
    """Read the region of a function; None if it is anything else or does not parse alone.

    Its calls and its assignments on `self` are only collected on request: the walk takes longer than the parse.
    """
    data = regions.bytes_of(region)
    try:
        body = _parsed(_decoded(data))
    except UNREADABLE:
        return None
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    markers = tuple(suspects(body[0])) if may_mark(data) else ()
    calls = calls_in(body[0]) if in_depth else frozenset()
    assigns = frozenset(assigned_on_self(body[0])) if in_depth else frozenset()
    if b"yield" not in data:
        body[0].body = []  # nothing else in it is visible outside
    return Fragment(of_callable(body[0]), markers, calls, assigns)


def differ_in_body(old: bytes, new: bytes) -> bool:
    """Whether two functions certainly differ only in their bodies, with no effect outside; decided without a parse."""
    head = _head(new)
    bodies = old[len(head) :], new[len(head) :]
    is_quiet = not may_mark(bodies[1]) and not any(b"yield" in body for body in bodies)
    return bool(head) and old.startswith(head) and is_quiet


def _head(function: bytes) -> bytes:
    """Return a function's text up to the colon of its `def`; empty if that is uncertain."""
    lines = function.splitlines(keepends=True)
    depth, is_after_def = 0, False
    try:
        for token in generate_tokens((line.decode("latin-1") for line in lines).__next__):
            if token.type == OP:
                depth += (token.string in "([{") - (token.string in ")]}")
            elif token.string in _OTHER_COLONS and not depth:
                break
            is_after_def = is_after_def or token.string == "def"
            if is_after_def and not depth and token.string == ":":
                row, column = token.start
                return b"".join(lines[: row - 1]) + lines[row - 1][: column + 1]
    except (TokenError, SyntaxError):
        pass
    return b""


def _parsed(text: str) -> list[ast.stmt]:
    if not text[:1].isspace():
        return parse_module(text).body
    # Wrapped, not dedented: multi-line strings keep their text.
    wrapper = parse_module("if 1:\n" + text).body[0]
    return wrapper.body if isinstance(wrapper, ast.If) else []


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def increased(old: Iterable[Marker], new: Iterable[Marker]) -> Iterator[str]:
    """Yield the kinds of markers of which there are more than before."""
    counts = Counter(marker.kind for marker in new)
    counts.subtract(marker.kind for marker in old)
    return (kind for kind, count in counts.items() if count > 0)
