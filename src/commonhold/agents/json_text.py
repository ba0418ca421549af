"""JSON with comments and trailing commas: the place of each value in the text."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from commonhold.kernel.texts import MARK
from commonhold.machine.plain_files import read

_BLANK: Final = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD: Final = re.compile(r"[-+.\w]+")
_ENDS: Final = {"{": "}", "[": "]"}
_DEEPEST: Final = 100


class NotJsonError(ValueError):
    """The text is no JSON, with or without comments: `line` is the line of the error."""

    def __init__(self, why: str, line: int) -> None:
        """Say why the text is invalid, and in which line."""
        super().__init__(f"line {line}: {why}")
        self.line = line


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place. `begin` is that of its key, if it is a member of an object.

    `comma` is the place of the comma after it; None if there is none.
    """

    begin: int
    start: int
    end: int
    value: Any
    items: tuple["Node", ...] = ()
    key: str | None = None
    comma: int | None = None

    @property
    def is_container(self) -> bool:
        """Whether it is an object or an array."""
        return isinstance(self.value, dict | list)

    def member(self, key: str) -> "Node | None":
        """Return the last member of that name, which is the one that counts."""
        return next((each for each in reversed(self.items) if each.key == key), None)

    def walk(self) -> Iterator["Node"]:
        """Yield it and everything in it."""
        yield self
        for each in self.items:
            yield from each.walk()


def parse(text: str) -> Node:
    """Return the value of a whole text. Raises NotJsonError."""
    return _Reader(text).document()


def setting(place: str, *path: str) -> Any:  # noqa: ANN401 - JSON
    """Return the value in a file under these names; None if there is none, or if the file cannot be read."""
    try:
        value = parse((read(place) or b"").decode()).value
        for name in path:
            value = value[name]
    except (UnicodeDecodeError, NotJsonError, TypeError, KeyError):
        return None
    return value


class _Reader:
    """Reads one text, from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def document(self) -> Node:
        self._at = len(MARK) if self._text.startswith(MARK) else 0
        self._skip()
        found = self._value(self._at, None)
        self._skip()
        if self._at < len(self._text):
            raise self.wrong("something follows the value")
        return found

    def wrong(self, why: str) -> NotJsonError:
        return NotJsonError(why, self._text.count("\n", 0, self._at) + 1)

    def _skip(self) -> None:
        if blank := _BLANK.match(self._text, self._at):
            self._at = blank.end()

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _value(self, begin: int, key: str | None) -> Node:
        start = self._at
        if self._next() in ("{", "["):
            return self._container(begin, key)
        token = _STRING.match(self._text, start) or _WORD.match(self._text, start)
        if token is None:
            raise self.wrong("a value is missing")
        value = self._scalar(token[0])
        self._at = token.end()
        return Node(begin, start, self._at, value, key=key)

    def _scalar(self, token: str) -> Any:  # noqa: ANN401 - whatever JSON holds
        try:
            return json.loads(token)
        except ValueError as fault:
            raise self.wrong(f"{token[:40]!r} is no value") from fault

    def _container(self, begin: int, key: str | None) -> Node:
        start, kind = self._at, self._next()
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self.wrong("it is nested too deeply")
        self._at += 1
        items = tuple(self._items(_ENDS[kind], is_object=kind == "{"))
        self._at += 1
        self._depth -= 1
        value = {each.key: each.value for each in items} if kind == "{" else [each.value for each in items]
        return Node(begin, start, self._at, value, items, key)

    def _items(self, end: str, *, is_object: bool) -> Iterator[Node]:
        self._skip()
        while self._next() != end:
            item = self._item(is_object=is_object)
            self._skip()
            comma = self._at if self._next() == "," else None
            yield Node(item.begin, item.start, item.end, item.value, item.items, item.key, comma)
            if comma is not None:
                self._at += 1
                self._skip()
            elif self._next() != end:
                raise self.wrong(f"a comma or {end!r} is missing")

    def _item(self, *, is_object: bool) -> Node:
        begin = self._at
        if not is_object:
            return self._value(begin, None)
        name = _STRING.match(self._text, begin)
        if name is None:
            raise self.wrong("the name of a member is missing")
        key = self._scalar(name[0])
        self._at = name.end()
        self._skip()
        if self._next() != ":":
            raise self.wrong("a colon is missing")
        self._at += 1
        self._skip()
        return self._value(begin, key)
