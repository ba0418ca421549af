"""The encoding of a file's text: the byte order mark, the declared encoding, and the way back."""

import codecs
from dataclasses import dataclass
from typing import Final

from commonhold.code.regions.language import Language

BOM: Final = codecs.BOM_UTF8
BLANK: Final = b" \t\f\r\n"

_UTF8: Final = "utf-8"
# Codecs that may move line ends, warn, or take quadratic time; no editor saves source in them.
_REFUSED: Final = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"})


@dataclass(frozen=True, slots=True)
class Encoding:
    """The codec of a file's text, and the byte order mark before it (maybe empty)."""

    codec: str
    bom: bytes

    def decode(self, data: bytes) -> str:
        """Return the text, without the byte order mark. Raises UnicodeError if `data` is not in this encoding."""
        try:
            return data.removeprefix(self.bom).decode(self.codec)
        except LookupError as error:
            raise UnicodeError(f"unknown encoding: {self.codec}") from error

    def encode(self, text: str) -> bytes:
        """Return the bytes, without a byte order mark. Raises UnicodeError if the encoding lacks a character."""
        try:
            return text.encode(self.codec)
        except LookupError as error:
            raise UnicodeError(f"unknown encoding: {self.codec}") from error


def encoding_of(source: bytes, language: Language | None) -> Encoding:
    """Return the encoding that a file declares: by its byte order mark, by a line in its head, else UTF-8."""
    bom = BOM if source.startswith(BOM) else b""
    declared, _ = _declaration(source, language)
    return Encoding(_UTF8 if bom or declared is None else _codec(declared), bom)


def head_end(source: bytes, language: Language) -> int:
    """Return the first byte that may belong to a definition: below byte order mark, `#!` and encoding line."""
    bom_end = len(BOM) if source.startswith(BOM) else 0
    shebang_end = _line_end(source, bom_end) if source.startswith(b"#!", bom_end) else bom_end
    return max(shebang_end, _declaration(source, language)[1])


def as_utf8(source: bytes, encoding: Encoding) -> bytes:
    """Return the same text in UTF-8 with the same line ends; `source` itself if it is in UTF-8.

    Raises UnicodeError if the bytes are not in the encoding, or not line by line.
    """
    text = encoding.decode(source)
    if encoding.codec == _UTF8:
        return source
    if text.split("\n") != [encoding.decode(line) for line in source.split(b"\n")]:
        raise UnicodeError(f"lines of {encoding.codec} cannot be separated")
    recoded = text.encode()
    return source if recoded == source else recoded


def _declaration(source: bytes, language: Language | None) -> tuple[bytes | None, int]:
    """Return the declared encoding and the end of its line: line 1, or line 2 below a comment or blank."""
    if language is None or language.declared_encoding is None:
        return None, 0
    start = len(BOM) if source.startswith(BOM) else 0
    for _ in range(2):
        end = _line_end(source, start)
        if match := language.declared_encoding.match(source, start, end):
            return match[1], end
        if source[start:end].strip(BLANK)[:1] not in (b"", language.comment_mark):
            break
        start = end
    return None, 0


def _codec(declared: bytes) -> str:
    name = declared.decode("ascii", "replace")
    try:
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        return name
    if found in (_UTF8, "utf-8-sig"):
        return _UTF8
    return f"{found} (not supported)" if found in _REFUSED or found.startswith(("utf-16", "utf-32")) else found


def _line_end(source: bytes, position: int) -> int:
    return source.find(b"\n", position) + 1 or len(source)
