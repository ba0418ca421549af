"""Whether a candidate is a program at all: a strict check, since the syntax tree accepts more than the language."""

import re
import warnings
from collections.abc import Callable
from typing import Any, Final

from commonhold.code.regions.encoding import as_utf8, encoding_of
from commonhold.code.regions.finally_expansion import multiplies
from commonhold.code.regions.language import Language
from commonhold.code.regions.languages import PYTHON, language_for
from commonhold.code.regions.newer_python import as_older_python
from commonhold.code.regions.region import PARSE_BUDGET, Problem, Span
from commonhold.code.regions.regressions import new_error
from commonhold.code.regions.statements import problem_in_statements

COMPILE_ERRORS: Final = (SyntaxError, RecursionError, MemoryError, ValueError, OverflowError)
_NAME: Final = "<candidate>"
_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_FORMATS: Final = ("json", "notebook", "toml", "yaml")
# Languages in which files are often templates, to be expanded into another text.
_OFTEN_TEMPLATES: Final = ("css", "html", "json", "shell", "sql", "toml", "yaml")
_TEMPLATED: Final = re.compile(rb"(?<!\$)\{\{|\{%|<%")


def problem_in(source: bytes, path: str, before: bytes | None = None) -> Problem | None:
    """Return the first error of a file, or None; with `before`, only an error that was not there before.

    Python is compiled by the running Python, after a rewrite of syntax that only newer versions read. If the text
    before was not sound for it either, that may be of another version, or half repaired, and is judged as other
    languages are. JSON, YAML and TOML are read by parsers of their own. In other languages the grammar must find no new
    error: it knows less than a compiler, so old ones may stay. A template that was not sound before is left alone, and
    so is text. Never raises on any `source`. The code is SYNTAX, the message names line and column, the span is that
    place; or it is PARSE_BUDGET, for all of a file that takes too much work to read or to compile.
    """
    language = language_for(path, source)
    if language is None:
        return None
    former = before if before and before.strip() else None
    if language is PYTHON:
        problem = _of_any_age(source)
        was_sound = problem is None or former is None or _of_any_age(former) is None
        return problem if was_sound else _grammatical(former, source, language)
    problem = _judged(former, source, language)
    is_template = former is None and language.name in _OFTEN_TEMPLATES and _TEMPLATED.search(source)
    return None if is_template else problem


def _judged(before: bytes | None, source: bytes, language: Language) -> Problem | None:
    reader = _reader_of(language.name)
    problem = reader(source) if reader else None
    if reader and (problem is None or before is None or reader(before) is None):
        return problem
    return _grammatical(before, source, language) if language.grammar else None


def _reader_of(name: str) -> Callable[[bytes], Problem | None] | None:
    """Return a format's own parser; imported now, since few checks need one."""
    if name == "sql":
        return problem_in_statements
    if name not in _FORMATS:
        return None
    from commonhold.code.regions.formats import json_problem, toml_problem, yaml_problem  # noqa: PLC0415

    return {"toml": toml_problem, "yaml": yaml_problem}.get(name, json_problem)


def _grammatical(before: bytes | None, source: bytes, language: Language) -> Problem | None:
    """Return the first new error of the grammar; a bad encoding is one unless the text before was not UTF-8 either."""
    try:
        as_utf8(source, encoding_of(source, language))
    except UnicodeError as error:
        return None if before is not None and not _is_text(before) else _unlocated(source, str(error))
    return new_error(before, source, language)


def _is_text(source: bytes) -> bool:
    try:
        source.decode()
    except UnicodeError:
        return False
    return True


def compile_python(source: bytes, flags: int = 0) -> Any:  # noqa: ANN401 - code, or a tree where the flags ask for one
    """Return the result of Python's own `compile`, without its warnings. Raises COMPILE_ERRORS."""
    # A filter for this file name alone can stay; setting and restoring all filters would race with other threads.
    warnings.filterwarnings("ignore", module=re.escape(_NAME))
    # From the bytes, not from `ast.parse` of them: a tree of Python objects costs more than the compilation.
    return compile(source, _NAME, "exec", flags, dont_inherit=True)


def _of_any_age(source: bytes) -> Problem | None:
    """Return the error of a Python text, unless it is only newer than the running Python."""
    problem = _compiled(source)
    if problem is None or problem.code != "SYNTAX":
        return problem
    older = as_older_python(source)
    return problem if older is None else _compiled(older)


def _compiled(source: bytes) -> Problem | None:
    if multiplies(source):
        message = "compiling it takes more work than any ordinary file of this size needs: nest fewer `finally` blocks"
        return Problem(PARSE_BUDGET, message, (0, len(source)))
    try:
        compile_python(source)
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
    """Return the bytes of a line, counted from 1 as Python does (a lone carriage return ends one); else the end."""
    for index, match in enumerate(_LINE.finditer(source), 1):
        if index == number:
            return match.span()
    return len(source), len(source)
