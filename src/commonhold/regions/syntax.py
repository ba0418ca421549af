"""Whether a candidate is a program at all: the hard gate, since the syntax tree accepts more than the language does."""

import ast
import re
import warnings
from dataclasses import dataclass
from threading import Lock
from typing import Final

from commonhold.regions.languages import PYTHON, language_for
from commonhold.regions.region import Problem, Span

_NAME: Final = "<candidate>"
_TREE_ONLY: Final[int] = ast.PyCF_ONLY_AST
_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")
# Warning filters belong to the whole process; two threads that change and restore them must not interleave.
_FILTERS: Final = Lock()


@dataclass(frozen=True, slots=True)
class Checked:
    """The syntax tree of a sound Python file (None for any other file), and what is wrong."""

    tree: ast.Module | None
    problems: tuple[Problem, ...] = ()


def check(source: bytes, path: str) -> Checked:
    """Parse and compile a file as this Python does; a file in another language has no problems.

    Never raises on any `source`. A problem's code is SYNTAX, its message names line and column, its span that line.
    """
    if language_for(path, source) is not PYTHON:
        return Checked(None)
    with _FILTERS, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _compiled(source)


def _compiled(source: bytes) -> Checked:
    try:
        tree: ast.Module = compile(source, _NAME, "exec", _TREE_ONLY, dont_inherit=True)
        compile(tree, _NAME, "exec", dont_inherit=True)
    except SyntaxError as error:
        return Checked(None, (_located(source, error),))
    except RecursionError:
        return Checked(None, (_unlocated(source, "the code is nested too deeply to compile"),))
    except MemoryError:
        return Checked(None, (_unlocated(source, "the code is nested too deeply to parse"),))
    except (ValueError, OverflowError) as error:
        return Checked(None, (_unlocated(source, str(error)),))
    return Checked(tree)


def _located(source: bytes, error: SyntaxError) -> Problem:
    if not error.lineno:
        return _unlocated(source, error.msg)
    column = f", column {error.offset}" if error.offset and error.offset > 0 else ""
    return Problem("SYNTAX", f"line {error.lineno}{column}: {error.msg}", _line_span(source, error.lineno))


def _unlocated(source: bytes, message: str) -> Problem:
    return Problem("SYNTAX", message, (0, len(source)))


def _line_span(source: bytes, number: int) -> Span:
    """The bytes of a line, counted from 1 as Python counts them (a lone carriage return ends one); else the end."""
    for index, match in enumerate(_LINE.finditer(source), 1):
        if index == number:
            return match.span()
    return len(source), len(source)
