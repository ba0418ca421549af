"""Real files of about a thousand lines, each with two edits made up for it."""

import ast
import sysconfig
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

SHORTEST, LONGEST, MOST = 900, 1100, 20
STATEMENTS: Final = 4

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Sample:
    """A file, and two versions of it that differ from it in one statement each."""

    name: str
    base: bytes
    ours: bytes
    theirs: bytes


def of_two_functions() -> list[Sample]:
    """Each side adds a statement to another function."""
    return list(islice((found for name, source in _files() if (found := _two_functions(name, source))), MOST))


def of_one_function() -> list[Sample]:
    """Both sides add a statement to the same function: one at its beginning, one further down."""
    return list(islice((found for name, source in _files() if (found := _one_function(name, source))), MOST))


def _files() -> Iterator[tuple[str, bytes]]:
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if "site-packages" in path.parts or "test" in path.parts or "tests" in path.parts:
            continue
        source = path.read_bytes()
        if SHORTEST <= source.count(b"\n") <= LONGEST:
            yield path.name, source


def _two_functions(name: str, source: bytes) -> Sample | None:
    functions = _functions(source)
    if len(functions) < 2:  # noqa: PLR2004 - one for each side
        return None
    first, last = functions[0], functions[-1]
    ours, theirs = (_with(source, at, word) for at, word in ((first.body[1], "ours"), (last.body[1], "theirs")))
    return Sample(name, source, ours, theirs)


def _one_function(name: str, source: bytes) -> Sample | None:
    functions = _functions(source)
    if not functions:
        return None
    body = functions[0].body
    return Sample(name, source, _with(source, body[1], "ours"), _with(source, body[-1], "theirs"))


def _functions(source: bytes) -> list[Function]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, Function)]
    return sorted((each for each in found if len(each.body) >= STATEMENTS), key=lambda each: each.lineno)


def _with(source: bytes, before: ast.stmt, word: str) -> bytes:
    lines = source.splitlines(keepends=True)
    lines.insert(before.lineno - 1, b" " * before.col_offset + f"counted_by_{word} = 1\n".encode())
    return b"".join(lines)
