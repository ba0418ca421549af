r"""Constants that are spelled in several ways: `1` and `0x1`, `"a"` and `'\u0061'`, `yes` and `true` of YAML."""

import re
from typing import Final

_INTEGER: Final = re.compile(
    rb"(-?)(?:0[xX]_?([\da-fA-F][\da-fA-F_]*?)|0[bB]_?([01][01_]*)|0[oO]?_?([0-7][0-7_]*)|([1-9][\d_]*|0))"
    rb"(?:[uUlLnN]+|[iu](?:8|16|32|64|128|size))?\Z"
)
_BASES: Final = (16, 2, 8, 10)
_WHOLE: Final = re.compile(rb"-?[\d_]+\.0*\Z")
_ESCAPE: Final = re.compile(
    rb"\\(?:u\{([\da-fA-F]{1,6})\}|u([\da-fA-F]{4})|x([\da-fA-F]{2})|([0-3][0-7]{2})|([/\"'\\]))"
)
_NUMBERED: Final = re.compile(rb"\\(?:[ux][\da-fA-F{]|[0-3][0-7]{2}|/)")
_ESCAPES: Final = (16, 16, 16, 8)
_LONGEST: Final = 100
_YES: Final = frozenset({b"y", b"yes", b"true", b"on"})
_NO: Final = frozenset({b"n", b"no", b"false", b"off"})


def same_spelling(text: bytes) -> bytes:
    """Return the one spelling of a constant for all of its spellings: decimal, without quotes and escapes."""
    text = text.strip()
    if len(text) > 1 and text[:1] == text[-1:] and text[:1] in b"\"'`":
        return unescaped(text[1:-1])
    return same_number(text)


def same_number(text: bytes) -> bytes:
    """Return the decimal spelling of a whole number; any other text as it is."""
    if not (text[:1].isdigit() or text[:1] == b"-") or len(text) > _LONGEST:
        return text
    found = _INTEGER.match(text)
    if found is None:
        return text.partition(b".")[0] if _WHOLE.match(text) else text
    digits, base = next((each, base) for each, base in zip(found.groups()[1:], _BASES, strict=True) if each is not None)
    return found[1] + str(int(digits.replace(b"_", b""), base)).encode()


def same_truth(word: bytes) -> bytes:
    """Return one word for all words by which YAML may say yes, one for all by which it may say no."""
    lower = word.lower()
    return b"true" if lower in _YES else b"false" if lower in _NO else word


def has_escapes(text: bytes) -> bool:
    """Return whether a text spells a character by its number, or a slash behind a backslash, as JSON may."""
    return b"\\" in text and _NUMBERED.search(text) is not None


def unescaped(text: bytes) -> bytes:
    """Return the content of a string without escapes; those that stand for a blank stay."""
    return _ESCAPE.sub(_character, text) if b"\\" in text else text


def _character(found: re.Match[bytes]) -> bytes:
    if found[5] is not None:
        return found[5]
    number = next(int(each, base) for each, base in zip(found.groups(), _ESCAPES, strict=False) if each is not None)
    is_character = number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF  # noqa: PLR2004 - surrogates stand in pairs
    return chr(number).encode() if is_character else found[0]
