"""The languages that have regions below the file, one entry each."""

import re
from posixpath import basename, splitext
from typing import Final

from commonhold.regions.language import Language

PYTHON: Final = Language(
    name="python",
    grammar="tree_sitter_python",
    extensions=frozenset({".py", ".pyi", ".pyw"}),
    definition_kinds=frozenset({"function_definition", "class_definition", "decorated_definition"}),
    class_kinds=frozenset({"class_definition"}),
    wrapper_kinds=frozenset(
        {
            "block",
            "case_clause",
            "elif_clause",
            "else_clause",
            "except_clause",
            "except_group_clause",
            "finally_clause",
            "for_statement",
            "if_statement",
            "match_statement",
            "try_statement",
            "while_statement",
            "with_statement",
        }
    ),
    decorated_kind="decorated_definition",
    comment_kind="comment",
    comment_mark=b"#",
    statement_suffixes=("_statement", "_definition"),
    interpreters=re.compile(rb"(?:python|pypy)[0-9.]*"),
    declared_encoding=re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)"),
    text_kind="string_content",
)

LANGUAGES: Final = (PYTHON,)


def language_for(path: str, source: bytes) -> Language | None:
    """The language of a file by its name, else by its `#!` line; None where the file is one region."""
    return _by_name(path) or _by_shebang(source)


def _by_name(path: str) -> Language | None:
    name = basename(path)
    extension = splitext(name)[1].lower()
    return next((each for each in LANGUAGES if extension in each.extensions or name in each.filenames), None)


def _by_shebang(source: bytes) -> Language | None:
    if not source.startswith(b"#!"):
        return None
    words = source[2:].partition(b"\n")[0].split()
    program = next((word for word in words if _names_program(word)), b"").rpartition(b"/")[2]
    return next((each for each in LANGUAGES if each.interpreters and each.interpreters.fullmatch(program)), None)


def _names_program(word: bytes) -> bool:
    return not (word.endswith(b"/env") or word.startswith(b"-") or b"=" in word)
