"""A small program with something of every kind that edits look for."""

import functools
import re
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

LIMIT = 10
WORDS = ["first", "second"]
NAMED = {"first": 1, "second": 2}


class Colour(Enum):
    """Colours by number."""

    RED = 1
    GREEN = 2


class Sized(Protocol):
    """Anything with a size."""

    def size(self) -> int:
        """How large it is."""


@dataclass
class Shape:
    """A shape, made from its fields."""

    width: int
    height: int = 1

    def size(self) -> int:
        """Its area."""
        total = self.width * self.height
        if self.height:
            total += LIMIT
        return total

    def grown(self, by: int) -> "Shape":
        """A larger one."""
        return Shape(self.width + by, self.height)


def total(shapes: list[Shape], start: int = 0) -> int:
    """The size of all."""
    seen = []
    result = start
    for shape in shapes:
        result += shape.size()
        seen.append(result)
    if not seen:
        return start
    return result


@functools.cache
def named(word: str) -> int:
    """The number of a word."""
    found = re.match("[a-z]+", word)
    match word:
        case "none":
            return 0
        case "one":
            return 1
        case _:
            pass
    return NAMED.get(word, len(WORDS)) if found else 0


def check() -> int:
    """Use all of it."""
    shapes = [Shape(1), Shape(2, 3), Shape(width=4)]
    larger = shapes[0].grown(2)
    return total(shapes, start=1) + larger.size() + named("first")
