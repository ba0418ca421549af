"""Whether a candidate is a program at all: the hard gate, since the syntax tree accepts more than the language does."""

import re
import warnings
from typing import Final

from commonhold.regions.languages import PYTHON, language_for
from commonhold.regions.region import Problem, Span

_NAME: Final = "<candidate>"
_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")


def problem_in(source: bytes, path: str) -> Problem | None:
    """Compile a file as this Python does: the first that is wrong, or None. Another language has no problem.

    Never raises on any `source`. The code is SYNTAX, the message names line and column, the span is that line.
    """
    if language_for(path, source) is not PYTHON:
        return None
    # A filter for our file name alone can stay; setting and restoring all filters would race with other threads.
    warnings.filterwarnings("ignore", module=re.escape(_NAME))
    try:
        # From the bytes, not from `ast.parse` of them: a tree of Python objects costs more than the compiling.
        compile(source, _NAME, "exec", dont_inherit=True)
    except SyntaxError as error:
        return _located(source, error)
    except RecursionError:
        return _unlocated(source, "the code is nested too deeply to compile")
    except MemoryError:
        return _unlocated(source, "the code is nested too deeply to parse")
    except (ValueError, OverflowError) as error:
        return _unlocated(source, str(error))
    return None


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
