"""The syntax trees that are kept of texts, and made of each other."""

from typing import Final

import pytest

from commonhold.code.regions import language
from commonhold.code.regions.incremental_parse import Change, edited
from commonhold.code.regions.language import parse, parser_of
from commonhold.code.regions.languages import LANGUAGES, PYTHON

GO = next(each for each in LANGUAGES if each.name == "go")


def test_a_text_that_was_parsed_lately_is_not_parsed_again() -> None:
    source = b"package lately\n"
    assert parse(bytes(bytearray(source)), GO) is parse(source, GO)


def test_the_tree_of_a_large_text_is_not_kept() -> None:
    source = b"// large\n" * (language._LARGEST_KEPT // 9 + 1)
    assert parse(source, GO) is not parse(source, GO)


_METHOD: Final = b"    def method(self):\n        first = self.first\n        return first\n\n"
_CHANGED: Final = {
    "at the beginning": (b"        first = self.first\n", b"        mark = 1\n        first = self.first\n"),
    "in the middle": (b"        return", b"        mark = 1\n        return"),
    "in the last line": (b"return first\n", b"return None\n"),
    "behind the last line": (b"return first\n", b"return first\n        mark = 1\n"),
    "a definition between two": (b"\n    def", b"\n    def other(self):\n        pass\n\n    def"),
    "a statement between two": (b"\n    def", b"\n    mark = 1\n\n    def"),
    "a comment between two": (b"\n    def", b"\n    # mark\n    def"),
    "blank lines between two": (b"\n    def", b"\n\n\n    def"),
    "all of it": (b"        first = self.first\n        return first\n", b"        pass\n"),
}


@pytest.mark.parametrize(("old", "new"), _CHANGED.values(), ids=_CHANGED.keys())
def test_what_follows_a_change_is_not_read_again(old: bytes, new: bytes) -> None:
    """Tokens without text, where a block ends, make a parser read all the rest if a change is told to it carelessly."""
    before = b"class Box:\n" + _METHOD * 400 + b"\n\nclass Other:\n" + _METHOD * 400
    at = before.index(old, len(_METHOD) * 20)
    after = before[:at] + new + before[at + len(old) :]
    read: set[int] = set()

    def text_at(offset: int, _point: object) -> bytes:
        read.add(offset)
        return after[offset : offset + 1]

    changed = edited(parse(before, PYTHON), before, after, Change.between(before, after))
    tree = parser_of(PYTHON).parse(text_at, changed)
    assert str(tree.root_node) == str(parse(after, PYTHON).root_node)
    assert len(read) < len(after) / 10
