"""Git's wildcards, matched byte for byte as git does it, in time that grows with the lengths alone.

A pattern becomes parts. If few of them can stretch, a regular expression tries them; if there are many, all ways to
match are followed at once, since trying one after the other would take longer than a lifetime.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

Bytes = frozenset[int]
Matches = Callable[[bytes], bool]

_ALL: Final = frozenset(range(256))
_SLASH: Final = ord("/")
_NO_SLASH: Final = _ALL - {_SLASH}
_WILD: Final = frozenset(b"*?[\\")
_MOST_TRIED: Final = 2
"""The most stretching parts that are tried one after the other: this takes at most the square of a path's length."""
_HALF: Final = 128


def _ascii(is_in: Callable[[str], bool]) -> Bytes:
    return frozenset(code for code in range(128) if is_in(chr(code)))


_SPACE: Final = frozenset(b" \t\n\r")
_PRINTED: Final = frozenset(range(0x20, 0x7F))
_CLASSES: Final[Mapping[bytes, Bytes]] = {
    b"alnum": _ascii(str.isalnum),
    b"alpha": _ascii(str.isalpha),
    b"blank": frozenset(b" \t"),
    b"cntrl": _ascii(lambda char: char < " " or char == "\x7f"),
    b"digit": _ascii(str.isdigit),
    b"graph": _PRINTED - _SPACE,
    b"lower": _ascii(str.islower),
    b"print": _PRINTED,
    b"punct": _PRINTED - _SPACE - _ascii(str.isalnum),
    b"space": _SPACE,
    b"upper": _ascii(str.isupper),
    b"xdigit": frozenset(b"0123456789abcdefABCDEF"),
}


class _Kind(Enum):
    ONE = "one byte"
    MANY = "any number of bytes"
    FOLDERS = "nothing, or whatever ends with a slash"


@dataclass(frozen=True, slots=True)
class _Part:
    """The meaning of a piece of a pattern: which bytes it can take, and how many."""

    taken: Bytes
    kind: _Kind = _Kind.ONE


class _NeverMatches(Exception):  # noqa: N818 - to git, an invalid pattern matches nothing
    """The pattern is not valid."""


def matcher(pattern: bytes) -> Matches | None:
    """Return a function that says whether a whole path matches; None for a pattern that matches nothing."""
    try:
        parts = tuple(_parts(pattern))
    except _NeverMatches:
        return None
    stretching = sum(part.kind is not _Kind.ONE for part in parts)
    return tried(parts) if stretching <= _MOST_TRIED else followed(parts)


def tried(parts: Sequence[_Part]) -> Matches:
    """Return a matcher that tries the possibilities one after the other."""
    match = re.compile(b"".join(map(_expressed, parts)), re.DOTALL).fullmatch
    return lambda path: match(path) is not None


def _expressed(part: _Part) -> bytes:
    if part.kind is _Kind.FOLDERS:
        return b"(?:.*/)?"
    return _one_of(part.taken) + (b"*" if part.kind is _Kind.MANY else b"")


def _one_of(taken: Bytes) -> bytes:
    if not taken:
        return b"(?!)"
    if taken == _ALL:
        return b"."
    is_listed = len(taken) <= _HALF
    codes = b"".join(b"\\x%02x" % code for code in sorted(taken if is_listed else _ALL - taken))
    return b"[%s%s]" % (b"" if is_listed else b"^", codes)


def followed(parts: Sequence[_Part]) -> Matches:
    """Return a matcher that follows all ways at once: a bit for each part that the rest of the path may begin with."""
    many, folders = _bits(parts, _Kind.MANY), _bits(parts, _Kind.FOLDERS)
    going_on = [sum(1 << at for at, part in enumerate(parts) if _goes_on(part, code)) for code in range(256)]
    staying = [sum(1 << at for at, part in enumerate(parts) if _stays(part, code)) for code in range(256)]

    def entered(bits: int) -> int:
        reached = bits | (bits & (many | folders)) << 1
        return reached if reached == bits else entered(reached)

    def matches(path: bytes) -> bool:
        bits = entered(1)
        for code in path:
            stays = bits & staying[code]
            bits = stays | entered((bits & going_on[code]) << 1 | (stays & many) << 1)
        return bool(bits >> len(parts) & 1)

    return matches


def _bits(parts: Sequence[_Part], kind: _Kind) -> int:
    return sum(1 << at for at, part in enumerate(parts) if part.kind is kind)


def _goes_on(part: _Part, code: int) -> bool:
    return code == _SLASH if part.kind is _Kind.FOLDERS else part.kind is _Kind.ONE and code in part.taken


def _stays(part: _Part, code: int) -> bool:
    return part.kind is not _Kind.ONE and code in part.taken


def _parts(pattern: bytes) -> Iterator[_Part]:
    at = 0
    while at < len(pattern):
        char, size = pattern[at : at + 1], 1
        if char == b"*":
            part, size = _stars(pattern, at)
        elif char == b"[":
            part, size = _bracketed(pattern, at)
        elif char == b"?":
            part = _Part(_NO_SLASH)
        elif char == b"\\":
            part, size = _Part(frozenset(_exactly(pattern, at + 1))), 2
        else:
            part = _Part(frozenset(char))
        yield part
        at += size


def _exactly(pattern: bytes, at: int) -> bytes:
    """Return the byte at a place. Raises _NeverMatches if the pattern ends before it."""
    if at >= len(pattern):
        raise _NeverMatches
    return pattern[at : at + 1]


def _stars(pattern: bytes, at: int) -> tuple[_Part, int]:
    """Return the part for one star, or for several: two between slashes match folders."""
    rest = pattern[at:].lstrip(b"*")
    count = len(pattern) - at - len(rest)
    # Git compares the text before the first wildcard by itself, and the rest begins there.
    begins = pattern[at - 1 : at] == b"/" or not _WILD.intersection(pattern[:at])
    if count == 1 or not begins or not (rest[:1] in (b"", b"/") or rest[:2] == b"\\/"):
        return _Part(_NO_SLASH, _Kind.MANY), count
    if rest[:1] == b"/":
        return _Part(_ALL, _Kind.FOLDERS), count + 1
    return _Part(_ALL, _Kind.MANY), count


def _bracketed(pattern: bytes, begin: int) -> tuple[_Part, int]:
    """A set in brackets. The first byte in it may be the bracket that ends it otherwise."""
    at = begin + 1
    is_negated = _exactly(pattern, at) in (b"!", b"^")
    at += is_negated
    taken: set[int] = set()
    last = b""
    while True:
        added, last, at = _member(pattern, at, last)
        taken |= added
        if _exactly(pattern, at) == b"]":
            break
    found = _ALL - taken if is_negated else frozenset(taken)
    return _Part(found - {_SLASH}), at + 1 - begin


def _member(pattern: bytes, at: int, last: bytes) -> tuple[Bytes, bytes, int]:
    """Return the bytes that a member adds to a set, the byte that may begin a range then, and the next place."""
    char = _exactly(pattern, at)
    if char == b"\\":
        char = _exactly(pattern, at + 1)
        return frozenset(char), char, at + 2
    if char == b"-" and last and pattern[at + 1 : at + 2] not in (b"", b"]"):
        at += 1 + (pattern[at + 1 : at + 2] == b"\\")
        return frozenset(range(last[0], _exactly(pattern, at)[0] + 1)), b"", at + 1
    if pattern[at : at + 2] == b"[:":
        end = pattern.find(b"]", at + 2)
        if end < 0:
            raise _NeverMatches
        if pattern[end - 1 : end] == b":" and end - 1 >= at + 2:
            name = pattern[at + 2 : end - 1]
            if name not in _CLASSES:
                raise _NeverMatches
            return _CLASSES[name], b"", end + 1
    return frozenset(char), char, at + 1
