"""Text of no known language: paragraphs between blank lines, each named by its first words."""

import re
from typing import Final

from tree_sitter import Tree

from commonhold.code.regions.encoding import BOM
from commonhold.code.regions.language import Language
from commonhold.code.regions.outline import TOP, Definition, Outline, tidy
from commonhold.code.regions.region import Span
from commonhold.kernel.keys import Kind

_WORDS: Final = 6
_MOST_LETTERS: Final = 48
_PARAGRAPH: Final = re.compile(rb"(?:^[ \t\f\r]*[^ \t\f\r\n][^\n]*(?:\n|\Z))+", re.MULTILINE)
_WORD: Final = re.compile(r"\w[\w'-]*")


def outline_paragraphs(source: bytes, _language: Language, _old: Tree | None = None) -> Outline:
    """Return the paragraphs; a text of only one has no regions below the file."""
    start = len(BOM) if source.startswith(BOM) else 0
    matches = _PARAGRAPH.finditer(source[start:])
    spans = [(match.start() + start, match.end() + start) for match in matches]
    if len(spans) < 2:  # noqa: PLR2004 - one paragraph is the file
        return Outline(is_whole=True)
    return Outline([Definition(_name(source, span), Kind.PARAGRAPH, span, TOP) for span in spans])


def _name(source: bytes, span: Span) -> str:
    """Return the first words, which stay when the rest changes or paragraphs are added and removed around this one."""
    line = source[span[0] : span[1]].strip().partition(b"\n")[0].decode()
    words = _WORD.findall(line[:400])[:_WORDS]
    return tidy(" ".join(words)[:_MOST_LETTERS] if words else line[:_MOST_LETTERS])
