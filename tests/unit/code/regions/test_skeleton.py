"""Python files without the bodies of their functions."""

import pytest

from commonhold.code.regions.discover import discover
from commonhold.code.regions.region import Region
from commonhold.code.regions.skeleton import reduced, skeleton_of

SOURCE = b"""import os

@os.a
def f(a,
      b=1):  # why
    # note
    '''Doc.

    More.'''
    return a
x = 1

class C:
    y = 2

    def m(self): return self

    async def n(self):
        @os.b
        def inner(): pass
        return inner
"""
SKELETON = b"""import os

@os.a
def f(a,
      b=1):  # why
    # note
    ...



x = 1

class C:
    y = 2

    def m(self): return self

    async def n(self):
        ...


"""


def _reduce(text: bytes) -> bytes | None:
    return reduced(text, lambda _: "...")


def _skeleton(source: bytes, kept: str = "") -> bytes | None:
    def keeps(region: Region) -> bool:
        return region.key.qualname == kept

    return skeleton_of(discover(source), keeps, _reduce)


def test_functions_are_their_heads_and_all_else_stands_where_it_stood() -> None:
    assert _skeleton(SOURCE) == SKELETON


def test_line_ends_of_other_kinds_are_line_ends() -> None:
    assert _skeleton(SOURCE.replace(b"\n", b"\r\n")) == SKELETON.replace(b"\n", b"\r\n").replace(
        b"...\r\n\r\n\r\n\r\nx", b"...\n\n\n\nx"
    ).replace(b"...\r\n\r\n\r\n", b"...\n\n\n")


def test_a_function_that_is_kept_stays() -> None:
    found = _skeleton(SOURCE, "f")
    assert found is not None
    assert found.splitlines()[:10] == SOURCE.splitlines()[:10]
    assert found.splitlines()[10:] == SKELETON.splitlines()[10:]


@pytest.mark.parametrize(
    "source",
    [
        b"# coding: latin-1\ndef f():\n    pass\n",
        b"\xef\xbb\xbfdef f():\n    pass\n",
        b"def f(:\n    pass\n",
        b"def f():\n    '\xff'\n",
    ],
)
def test_what_is_no_plain_python_has_no_skeleton(source: bytes) -> None:
    assert _skeleton(source) is None


def test_other_languages_have_none() -> None:
    assert skeleton_of(discover(b"function f() {}\n", "a.js"), lambda _: False, _reduce) is None


@pytest.mark.parametrize(
    "text",
    [
        b"def f(): return 1\n",
        b"def f(a,\n      b): return 1\n",
        b"def f():\n    print 1\n",
        b"    def f():\n        print 1\n",
        b"x = 1\n",
        b"def f():\n    pass\nx = 1\n",
        b"    x = 1\n",
        b"    def f():\n        pass\n    x = 1\n",
        b"    def f():\n        pass\nx = 1\n",
        b"def f():\n    '\xff'\n",
        b"",
    ],
)
def test_what_is_not_simple_stays(text: bytes) -> None:
    assert _reduce(text) is None


def test_a_function_whose_body_matters_stays() -> None:
    assert reduced(b"def f():\n    pass\n", lambda _: None) is None
