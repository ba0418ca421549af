"""The languages that have regions below the file, one entry each, and how a file's language is recognised."""

import re
from collections.abc import Mapping
from posixpath import basename, splitext
from typing import Final

from commonhold.code.regions.language import Language, Layout
from commonhold.code.regions.languages.c_family import CPP, CSHARP, C
from commonhold.code.regions.languages.data import JSON, JSONC, NOTEBOOK, SQL, TOML, YAML
from commonhold.code.regions.languages.jvm import JAVA, KOTLIN, SCALA
from commonhold.code.regions.languages.markup import CSS, HTML, MARKDOWN
from commonhold.code.regions.languages.python import PYTHON
from commonhold.code.regions.languages.scripting import PHP, RUBY, SHELL
from commonhold.code.regions.languages.systems import GO, RUST, SWIFT
from commonhold.code.regions.languages.web import JAVASCRIPT, TSX, TYPESCRIPT
from commonhold.code.regions.paragraphs import outline_paragraphs

__all__ = ["LANGUAGES", "PYTHON", "TEXT", "language_for", "language_named"]

LANGUAGES: Final = (
    *(PYTHON, JAVASCRIPT, TYPESCRIPT, TSX, GO, RUST, JAVA, KOTLIN, SCALA, SWIFT, C, CPP, CSHARP, RUBY, PHP, SHELL),
    *(SQL, JSON, JSONC, NOTEBOOK, YAML, TOML, MARKDOWN, HTML, CSS),
)
# Any text without a language.
TEXT: Final = Language(name="text", outline=outline_paragraphs, layout=Layout(closes=re.compile(rb"(?!)")))

_BY_EXTENSION: Final[Mapping[str, Language]] = {
    extension: language for language in LANGUAGES for extension in language.extensions
}
_BY_FILENAME: Final[Mapping[str, Language]] = {
    filename: language for language in LANGUAGES for filename in language.filenames
}
_BY_NAME: Final[Mapping[str, Language]] = {language.name: language for language in (*LANGUAGES, TEXT)}
_CPP_IN_HEADER: Final = re.compile(
    rb"^[ \t]*(?:class\s+\w|namespace\b|template\s*<|using\s+\w|public:|private:|protected:)", re.MULTILINE
)
_MOST_LOOKED_AT: Final = 200_000


def language_for(path: str, source: bytes) -> Language | None:
    """Return the language of a file by its name, else by its `#!` line; None for text of no language, or binary."""
    name = basename(path)
    found = _BY_FILENAME.get(name) or _BY_EXTENSION.get(splitext(name)[1].lower()) or _by_shebang(source)
    if found is C and path.lower().endswith(".h") and _CPP_IN_HEADER.search(source, 0, _MOST_LOOKED_AT):
        return CPP
    return None if found is not None and found.beyond and found.beyond(source) else found


def language_named(name: str) -> Language:
    """Return the language that a map of regions names; text if it names none."""
    return _BY_NAME.get(name, TEXT)


def _by_shebang(source: bytes) -> Language | None:
    if not source.startswith(b"#!"):
        return None
    words = source[2:].partition(b"\n")[0].split()
    programs = (word for word in words if not (word.endswith(b"/env") or word.startswith(b"-") or b"=" in word))
    program = next(programs, b"").rpartition(b"/")[2]
    return next((each for each in LANGUAGES if each.interpreters and each.interpreters.fullmatch(program)), None)
