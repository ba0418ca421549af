"""Whether a note bears on a key: by the patterns in its front matter, or because it mentions the key."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from commonhold.kernel.keys import FILE, HEADER, Key
from commonhold.tasks.notes import Section

_PLAIN_WORD: Final = re.compile(r"[A-Z]?[a-z]+")
"""A symbol that may be a word of the text: it counts only where it is written as code."""
_CODE: Final = re.compile(r"`([^`\n]+)`")


def patterns_matching(patterns: Iterable[str], keys: Sequence[Key]) -> str:
    """Return, as a reason, the first pattern that matches one of the keys; an empty text if none does.

    A pattern of a file matches its regions too; one with a region (`src/a.py#f`) that region and all that it contains.
    """
    for pattern in patterns:
        for key in keys:
            if any(_matches(_tokens(pattern), text) for text in _texts(key)):
                return f"it applies to {pattern}"
    return ""


def _texts(key: Key) -> tuple[str, ...]:
    """Return the texts by which a pattern may mean a key or a container of it."""
    if key.scheme != FILE:
        return (str(key),)
    names = [str(name) for name in key.bare().names]
    regions = (f"{key.file_path}#{'.'.join(names[:size])}" for size in range(1, len(names) + 1))
    return (key.file_path, *regions)


@lru_cache(maxsize=512)
def _tokens(pattern: str) -> tuple[str, ...]:
    text = pattern.removeprefix(f"{FILE}:").removeprefix("./")
    if text.endswith("/"):
        text += "**"
    return tuple(filter(None, re.split(r"(\*\*/|\*\*|\*|\?)", text)))


def _matches(tokens: Sequence[str], text: str) -> bool:
    """Whether a pattern matches all of `text`.

    All places that it may have got to are followed at once: with backtracking, a pattern in a note could take forever.
    """
    places = {0}
    for token in tokens:
        places = set(_after(token, places, text)) if places else places
    return len(text) in places


def _after(token: str, places: set[int], text: str) -> Iterator[int]:
    """Yield the places in `text` that are reached by `token` from any of `places`."""
    match token:
        case "**":
            yield from range(min(places), len(text) + 1)
        case "**/":
            yield from places
            first = min(places)
            yield from (at + 1 for at, sign in enumerate(text) if sign == "/" and at >= first)
        case "*":
            for at in range(len(text) + 1):
                if at in places or (at and text[at - 1] != "/" and at - 1 in places):
                    places.add(at)
            yield from places
        case "?":
            yield from (at + 1 for at in places if at < len(text) and text[at] != "/")
        case _:
            yield from (at + len(token) for at in places if text.startswith(token, at))


class Mentions:
    """The texts by which a note may mention a key."""

    def __init__(self, key: Key) -> None:
        """Derive them: the name of the file or folder, and the names of the region; of other keys the whole key."""
        self._path = key.file_path.rstrip("/") if key.scheme == FILE else str(key)
        base = self._path.rpartition("/")[2]
        self.places = (base,) if base not in ("", ".") else ()
        names = [name.text for name in key.names if name.text != HEADER]
        self.symbols = tuple(dict.fromkeys((".".join(names), names[-1]))) if names else ()

    def place_in(self, section: Section) -> str:
        """Return how a section mentions the place: its path, or an end of it (`auth/login.py`); else nothing.

        A name without a dot counts only with the folder above it, or a slash behind it (`auth/`): it may be a word.
        """
        for base in self.places:
            for match in _place(base).finditer(_text_of(section)):
                found: str = match[0]
                text = found.removeprefix("./").rstrip("/")
                is_place = any(sign in found for sign in "./:")
                if is_place and (text == self._path or self._path.endswith(f"/{text}")):
                    return text
        return ""

    def symbol_in(self, section: Section) -> str:
        """Return the symbol that a section mentions; else nothing.

        One that may be a word of the text (`total`) counts only where it is written as code: in backquotes, or with a
        parenthesis behind it.
        """
        text = _text_of(section)
        for name in self.symbols:
            places = [text] if not _PLAIN_WORD.fullmatch(name) else _CODE.findall(text)
            if any(map(_symbol(name).search, places)) or _call(name).search(text):
                return name
        return ""


def _text_of(section: Section) -> str:
    return f"{section.title}\n{section.text}"


@lru_cache(maxsize=512)
def _place(base: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w./:-])(?:[\w.-]+/)*{re.escape(base)}(?!\w)/?")


@lru_cache(maxsize=512)
def _symbol(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


@lru_cache(maxsize=512)
def _call(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}\(")
