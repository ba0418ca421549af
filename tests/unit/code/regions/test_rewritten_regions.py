"""Which regions a file that was rewritten has otherwise than before."""

from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.unit.code.regions.modules import ANY_BYTES, MODULES

from commonhold.code.regions.discover import discover
from commonhold.code.regions.encoding import BOM
from commonhold.code.regions.region import Region, RegionMap
from commonhold.code.regions.rewritten_regions import only_grew, rewritten
from commonhold.kernel.keys import Kind, canonical, contains

CORPUS: Final = Path(__file__).parents[3] / "corpus"
SOURCE: Final = (
    "import a\nimport b\n\n\ndef f():\n    return 1\n\n\nclass C:\n    x = 1\n\n    def m(self):\n        return 2\n"
    "\n\ndef g():\n    return 3\n"
)
CASES: Final = sorted(CORPUS.glob("*/*/module.*"))


def mapped(source: str | bytes, path: str = "a.py") -> RegionMap:
    return discover(source.encode() if isinstance(source, str) else source, path)


def named(before: RegionMap, after: RegionMap) -> list[tuple[str | None, str | None]]:
    return [
        (old.key.qualname if old else None, new.key.qualname if new else None) for old, new in rewritten(before, after)
    ]


CHANGES = [
    ("return 1", "return 10", [("f", "f")]),
    ("return 2", "return 20", [("C.m", "C.m")]),
    ("x = 1", "x = 2", [("C.@header", "C.@header")]),
    ("class C:", "class C(B):", [("C.@header", "C.@header")]),
    ("import a\n", "import a\nimport c\n", [("@header", "@header")]),
    ("import a\n", "", [("@header", "@header")]),
    ("import a\nimport b\n", "", [("@header", "@header")]),
    ("def g():", "def h():", [("g", None), (None, "h")]),
    ("\n\ndef g():\n    return 3\n", "", [("g", None)]),
    ("def g", "def k():\n    pass\n\n\ndef g", [(None, "k")]),
    ("return 3\n", "return 3", [("g", "g")]),
    ("\n\n\ndef f", "\n\n\n\n\ndef f", []),
    ("return 1", "return 1\n\n\ndef f():\n    return 4", [("f", None), (None, "f~1"), (None, "f~2")]),
]


@pytest.mark.parametrize(("old", "new", "expected"), CHANGES)
def test_what_is_named_is_what_differs(old: str, new: str, expected: list[tuple[str | None, str | None]]) -> None:
    assert SOURCE.count(old) == 1
    found = named(mapped(SOURCE), mapped(SOURCE.replace(old, new)))
    assert set(found) == set(expected)


MOVES = [
    ("def f():\n    return 1\n\n\nclass C", "class C", "def g", "def f():\n    return 1\n\n\ndef g"),
    ("import b\n", "", "def g", "import b\n\n\ndef g"),
    ("    x = 1\n\n", "", "return 2\n", "return 2\n\n    x = 1\n"),
]


@pytest.mark.parametrize(("gone", "left", "where", "there"), MOVES)
@pytest.mark.parametrize("also", ["", "\n\n\ndef new():\n    return 9\n"], ids=["alone", "beside a change"])
def test_what_moved_past_what_stays_changes_the_file(gone: str, left: str, where: str, there: str, also: str) -> None:
    """Each is what it was, but whoever holds any of it may rely on what comes first."""
    moved = SOURCE.replace(gone, left).replace(where, there)
    assert sorted(moved.replace("\n", "")) == sorted(SOURCE.replace("\n", ""))
    assert named(mapped(SOURCE), mapped(moved + also)) == [("", "")]


def test_a_file_without_regions_of_its_own_changes_as_a_whole() -> None:
    for old, new in ((b"", b"x"), (b"\0\1", b"\0\2"), (b"\xff\n", b"x = 1\n"), (b"x = 1\n", b"")):
        (pair,) = rewritten(mapped(old, "a.bin"), mapped(new, "a.bin"))
        assert [each and each.kind for each in pair] == [Kind.FILE, Kind.FILE]


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "bom"])
def test_line_ends_and_marks_are_in_nobodys_way(end: str, mark: str) -> None:
    text = mark + SOURCE.replace("\n", end)
    assert named(mapped(text), mapped(text.replace("return 1", "return 10"))) == [("f", "f")]
    assert named(mapped(mark + SOURCE), mapped(SOURCE)) == []


GROWTHS = [
    ("import b\n", "import b\nimport c\n", True),
    ("import a\n", "import c\nimport a\n\n", True),
    ("def g", "y = 1\n\n\ndef g", True),
    ("import a\n", "import aa\n", False),
    ("import a\nimport b\n", "import b\nimport a\n", False),
    ("import a\n", "", False),
]


@pytest.mark.parametrize(("old", "new", "grew"), GROWTHS)
def test_a_header_that_only_got_lines(old: str, new: str, *, grew: bool) -> None:
    before, after = mapped(SOURCE), mapped(SOURCE.replace(old, new))
    assert only_grew(before, after, canonical("file:a.py#@header")) is grew


@examples(0.5)
@given(MODULES, MODULES)
def test_what_is_not_named_is_as_it_was(old: bytes, new: bytes) -> None:
    """By the bytes alone: take away the regions that are named, and blank lines, and both files are the same."""
    before, after = mapped(old), mapped(new)
    pairs = rewritten(before, after)
    assert rest(before, [each for each, _ in pairs]) == rest(after, [each for _, each in pairs])


def rest(source: RegionMap, named_: list[Region | None]) -> list[bytes]:
    spans = sorted(span for region in named_ if region for span in region.spans)
    data, at = [], 0
    for start, end in spans:
        data.append(source.source[at : max(at, start)])
        at = max(at, end)
    text = b"".join([*data, source.source[at:]]).removeprefix(BOM)
    return [line.rstrip(b"\r") for line in text.split(b"\n") if line.strip(b" \t\r\x0c\x0b")]


@examples(0.5)
@given(ANY_BYTES, ANY_BYTES, st.sampled_from(["a.py", "a.js", "a.md", "a.txt", "a.json"]))
def test_any_bytes_have_an_answer(old: bytes, new: bytes, path: str) -> None:
    before, after = mapped(old, path), mapped(new, path)
    assert rewritten(before, before) in ([], [(before.file, before.file)])
    for left, right in rewritten(before, after):
        assert left is None or before.by_key[left.key] is left
        assert right is None or after.by_key[right.key] is right
        assert left is not None or right is not None


def deletions(path: Path) -> list[tuple[RegionMap, Region, RegionMap]]:
    """Each definition of a file, with what the file is without it."""
    before = mapped(path.read_bytes(), path.name)
    cuts = [(each, *each.spans[0]) for each in before.regions if each.is_body]
    return [(before, each, mapped(before.source[:start] + before.source[end:], path.name)) for each, start, end in cuts]


@pytest.mark.parametrize("language", sorted({path.parent.parent.name for path in CASES}))
def test_a_definition_that_is_gone_is_named_in_every_language(language: str) -> None:
    for path in (each for each in CASES if each.parent.parent.name == language):
        for before, gone, after in deletions(path):
            olds = [old.key for old, _ in rewritten(before, after) if old]
            assert any(contains(old, gone.key) for old in olds), (path, gone.key)
