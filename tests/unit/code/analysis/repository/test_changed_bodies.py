"""Which bodies differ between two versions of a file."""

import pytest

from commonhold.code.analysis.repository.changed_bodies import Touched, touched

BASE = '''import os

LIMIT = 3


def one(value):
    """Say so."""
    return value + 1


class Box:
    size = 1

    def __init__(self):
        self.items = []
        self.name = ""

    def put(self, item):
        # in order
        self.items.append(item)
        return self.name

    def first(self):
        return self.items[0]
'''


def names(after: str, before: str | None = BASE, path: str = "a.py") -> list[str]:
    old = None if before is None else before.encode()
    return [each.qualname for each in touched(path, old, after.encode())]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 3", "LIMIT = 4"),  # no body
        ('"""Say so."""', '"""Say it."""'),
        ("# in order", "# the newest last"),
        ("value + 1", "value  +  1"),
        ("size = 1", "size = 1  # metres"),
        ("        # in order\n", ""),
    ],
)
def test_what_does_nothing_else_is_not_touched(old: str, new: str) -> None:
    assert BASE.count(old) == 1
    assert names(BASE.replace(old, new)) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("value + 1", "value + 2", ["one"]),
        ("def one(value)", "def one(value, more=0)", ["one"]),
        ("self.items[0]", "self.items[-1]", ["Box.first"]),
        ("return value + 1", 'return f"self.{value}"', ["one"]),
    ],
)
def test_what_does_something_else_is_touched(old: str, new: str, expected: list[str]) -> None:
    assert BASE.count(old) == 1
    assert names(BASE.replace(old, new)) == expected


def test_what_is_new_is_told_as_such_and_what_is_gone_is_not_told() -> None:
    after = BASE.replace("def first", "def last")
    words = frozenset({"def", "last", "self", "return", "items"})
    assert touched("a.py", BASE.encode(), after.encode()) == (
        Touched("Box.last", is_new=True, attributes=frozenset({"items"}), words=words),
    )


def test_a_file_that_is_new_has_new_bodies_and_one_that_is_gone_has_none() -> None:
    assert names(BASE, None) == ["one", "Box.__init__", "Box.put", "Box.first"]
    assert touched("a.py", BASE.encode(), None) == ()
    assert touched("a.py", None, None) == ()


def test_only_changed_lines_set_something_and_all_lines_use_something() -> None:
    after = BASE.replace('self.name = ""', 'self.name = "box"')
    (constructor,) = touched("a.py", BASE.encode(), after.encode())
    assert constructor.attributes == {"items", "name"}
    assert constructor.written == {"name"}
    assert constructor.owner == "Box"


def test_what_is_no_longer_set_counts() -> None:
    after = BASE.replace("        self.items.append(item)\n", "")
    (put,) = touched("a.py", BASE.encode(), after.encode())
    assert put.written == {"items"}


def test_what_cannot_be_read_is_compared_as_text() -> None:
    assert touched("a.py", b"def f(:\n", b"def f(::\n") == ()
    assert touched("a.py", BASE.encode(), b"\xff\xfe\x00") == ()


def test_other_languages() -> None:
    before, after = "function f() {\n  return 1; // one\n}\n", "function f() {\n  return 2;\n}\n"
    assert names(after, before, "a.js") == ["f"]
    assert names(before.replace("// one", "// 1"), before, "a.js") == []
