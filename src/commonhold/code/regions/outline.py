"""The definitions of a file, in any language: names, kinds and whole lines."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import tree_sitter

from commonhold.code.regions.region import Problem, Span
from commonhold.kernel.keys import HEADER, Kind

TOP: Final = -1
# Ten names of this length, each letter escaped, still fit in a key.
MAX_NAME_LENGTH: Final = 80
MAX_DEPTH: Final = 10
_BLANK_OR_CONTROL: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


@dataclass(frozen=True, slots=True)
class Definition:
    """A named piece of a file: whole lines, its comments and decorators included.

    `kind` is FUNCTION, CLASS, SECTION, ENTRY or PARAGRAPH. `container` is the index of the container around it in the
    outline, or TOP. `body_end` is where further definitions may be added in a container; None if none fits, since the
    body shares a line with the name.
    """

    name: str
    kind: Kind
    span: Span
    container: int
    body_end: int | None = None


@dataclass(frozen=True, slots=True)
class Outline:
    """The definitions of a file in file order, a container before its contents, and the first problem.

    `is_whole` says that the file cannot be divided into regions. `body_end` is where further definitions may be added
    at the end of the file, if that is not its last byte. `tree` is set if it may be used again.
    """

    definitions: Sequence[Definition] = ()
    problem: Problem | None = None
    is_whole: bool = False
    body_end: int | None = None
    tree: tree_sitter.Tree | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Break:
    """The place from which a file is broken: the problem, and the start of the first broken line."""

    problem: Problem
    row_start: int


def tidy(text: str) -> str:
    """Return a name as keys hold it: in one line, of bounded length, in the Unicode form used to compare names."""
    normal = text if text.isascii() else unicodedata.normalize("NFKC", text)
    name = _BLANK_OR_CONTROL.sub(" ", normal).strip()[:MAX_NAME_LENGTH].rstrip()
    return {"": '""', HEADER: HEADER[1:]}.get(name, name)
