"""Compiling the edited definitions in place of the file: never another answer than that of the whole."""

from collections.abc import Sequence
from typing import Final

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.effort import examples
from tests.unit.code.regions.checks import insert, region, replace, spliced
from tests.unit.code.regions.modules import FRAGMENTS, MODULES

from commonhold.code.regions.discover import discover
from commonhold.code.regions.edit import Delete, Insert, Placed, RegionEdit, Replace, text_of
from commonhold.code.regions.piecewise import still_compiles
from commonhold.code.regions.region import RegionMap
from commonhold.code.regions.skeleton import reduced
from commonhold.code.regions.syntax import problem_in
from commonhold.kernel.errors import InputError
from commonhold.kernel.keys import Name

HEAD: Final = b'"""Doc."""\n\nimport os\n\n\n'
FRAGILE: Final = (
    *FRAGMENTS,
    "global f\n",
    "nonlocal f\n",
    "break\n",
    "yield\n",
    "await x\n",
    "from __future__ import annotations\n",
    "(x := 1)",
    "__C__: int = 1\n",
)


def _still_compiles(before: RegionMap, after: RegionMap, placed: Sequence[Placed]) -> bool:
    return still_compiles(before, after, placed, lambda text: reduced(text, lambda _: "pass"))


def _answers(before: RegionMap, *edits: RegionEdit) -> tuple[bool, bool]:
    """Whether the pieces show that the file compiles, and whether it does."""
    made, after, broken = spliced(before, *edits)
    assert broken is None
    return _still_compiles(before, after, made.placed), problem_in(made.source, "a.py") is None


@pytest.mark.parametrize(
    ("source", "name", "text"),
    [
        (HEAD + b"def f():\n    return 1\n\n\nx = f()\n", "f", "# why\n@os.a\ndef f(a=1):\n    return a\n"),
        (HEAD + b"class C:\n    def m(self):\n        pass\n\n    x = 1\n", "C.m", "    def m(self):\n        self\n"),
        (HEAD + b"if x:\n\tdef f():\n\t\tpass\nelse:\n\tpass\n", "f", "\tdef f():\n\t\treturn [\n1]\n"),
        (HEAD + b"class C:\n    x = 1\n", "C", "class C:\n    def m(self):\n        nonlocal_ = __class__\n"),
        (HEAD + b"def f():\n    pass", "f", "def f():\n    return 2"),
        (HEAD + b"def f():\n    global a\n    a = 1\n", "f", "def f():\n    global a\n    a = 2\n"),
        (
            b"from __future__ import annotations\n" + HEAD[12:] + b"def f():\n    pass\n",
            "f",
            "def f(x: int):\n    pass\n",
        ),
        (HEAD + b"# global\nx = os.globals\ndef f():\n    pass\n", "f", "def f():\n    return 1\n"),
    ],
)
def test_a_plain_edit_of_a_definition_shows_that_the_file_compiles(source: bytes, name: str, text: str) -> None:
    assert _answers(discover(source), replace(discover(source), name, text)) == (True, True)


def test_a_definition_beside_another_is_inserted_and_deleted_by_itself() -> None:
    before = discover(HEAD + b"class C:\n    def m(self):\n        pass\n\n    def n(self):\n        pass\n")
    new = "    def k(self):\n        pass\n"
    assert _answers(before, insert(before, "k", new, "C.m", "C")) == (True, True)
    assert _answers(before, insert(before, "k", "def k():\n    pass\n")) == (True, True)
    assert _answers(before, Delete(region(before, "C.n"))) == (True, True)
    assert _answers(before, Delete(region(before, "C"))) == (True, True)


@pytest.mark.parametrize(
    ("source", "name", "text"),
    [
        (HEAD + b"def f():\n    pass\n\n\nglobal g\ng = 1\n", "f", "def f(a=g):\n    pass\n"),
        (HEAD + b"def f():\n    pass\n\n\nx = 1; global g\ng = 1\n", "f", "def f(a=g):\n    pass\n"),
        (HEAD + b"def f():\n    pass\n\n\nx = 1; \\\nglobal g\ng = 1\n", "f", "def f(a=g):\n    pass\n"),
        (HEAD + b"class C:\n    def m(self):\n        pass\n", "C.m", "    def m(_C__a, __a):\n        pass\n"),
        (
            b"from __future__ import annotations\n" + HEAD[12:] + b"def f():\n    pass\n",
            "f",
            "def f(x: (yield)):\n    pass\n",
        ),
        (HEAD + b"def f():\n    pass\n\n\nx = 1\n", "f", "def f():\n    nonlocal x\n"),
        (HEAD + b"def f():\n    pass\n", "f", "def f():\n    from __future__ import annotations\n"),
        (
            HEAD + b"class C:\n    def m(self):\n        pass\n",
            "C.m",
            "    def m(self):\n        return (yield from)\n",
        ),
        (b"def f():\n    pass\n", "f", "# coding: none-such\ndef f():\n    pass\n"),
    ],
)
def test_what_python_refuses_is_not_shown_to_compile(source: bytes, name: str, text: str) -> None:
    before = discover(source)
    made, after, _ = spliced(before, replace(before, name, text))
    assert problem_in(made.source, "a.py") is not None
    assert not _still_compiles(before, after, made.placed)


@pytest.mark.parametrize(
    "source", [b"if x:\n    def f():\n        pass\n", b"class C:\n    def f(self):\n        pass\n"]
)
def test_the_only_statement_of_a_block_is_not_shown_to_be_spare(source: bytes) -> None:
    before = discover(HEAD + source)
    found = next(each for each in before.regions if each.key.names[-1:] == (Name("f"),))
    assert _answers(before, Delete(found)) == (False, False)


def test_ways_out_of_blocks_with_finally_are_counted_where_only_a_header_changes() -> None:
    lines = ["while a:"]
    for depth in range(12):
        pad = "    " * (depth + 1)
        lines += [f"{pad}try:", f"{pad}    if a: break", f"{pad}    if b: break", f"{pad}finally:"]
    source = "\n".join([*lines, "    " * 13 + "pass\n"])
    before = discover(HEAD + source.encode().replace(b"    if b: break", b"    pass") + b"\n\ndef f():\n    pass\n")
    made, after, _ = spliced(before, replace(before, "@header", f'"""Doc."""\n\n{source}\n\n', 0))
    assert problem_in(made.source, "a.py") is not None
    assert not _still_compiles(before, after, made.placed)


def test_two_methods_that_go_together_may_be_all_there_was() -> None:
    before = discover(HEAD + b"class C:\n    def m(self):\n        pass\n\n    def n(self):\n        pass\n")
    assert _answers(before, Delete(region(before, "C.m")), Delete(region(before, "C.n"))) == (False, False)


def test_a_line_that_goes_on_may_lead_into_a_definition() -> None:
    before = discover(HEAD + b"x = 1 + 2 \\\n# more\ndef f():\n    pass\n")
    made, after, _ = spliced(before, replace(before, "f", "def f():\n    return 1\n"))
    assert not (_still_compiles(before, after, made.placed) and problem_in(made.source, "a.py"))


@pytest.mark.parametrize(
    ("source", "name", "text"),
    [
        (HEAD + b"def f():\n    pass\n", "@header", "import os\nimport sys\n"),
        (HEAD + b"def f():\n    pass\n", "@header", "x = [\n    1,\n]\n"),
        (
            HEAD + b"def f():\n    x = 1\n    def g():\n        nonlocal x\n",
            "@header",
            "x = ('''\n    finally done\n''')\n",
        ),
        (
            HEAD + b"class C:\n    x = 1\n\n    def m(self):\n        return __class__\n",
            "C.@header",
            "class C(os.A):\n",
        ),
        (HEAD + b"def f():\n    try:\n        pass\n    finally:\n        pass\n", "@header", "import a\n"),
        (b"# -*- coding: utf-8 -*-\n" + HEAD + b"def f():\n    pass\n", "@header", "import a\n"),
    ],
)
def test_a_header_shows_that_the_file_compiles(source: bytes, name: str, text: str) -> None:
    assert _answers(discover(source), replace(discover(source), name, text, 0)) == (True, True)


@pytest.mark.parametrize(
    ("source", "name", "text"),
    [
        (HEAD + b"def f():\n    pass\n", "@header", "import\n"),
        (HEAD + b"def f():\n    pass\n", "@header", "x = 1 + \\\n"),
        (HEAD + b"def f():\n    pass\n", "@header", "return\n"),
        (HEAD + b"def f():\n    pass\n", "@header", "x = 1\nfrom __future__ import annotations\n"),
        # What follows in a function's body from what stands around it:
        (HEAD + b"class C:\n    def m(self, _D__a, __a): pass\n", "C.@header", "class D:\n"),
        (
            HEAD + b"def f():\n" + b"    if a:\n".join(b" " * (80 + n) for n in range(9)) + b"pass\n",
            "@header",
            "x = (\n",
        ),
    ],
)
def test_a_header_that_python_refuses_is_not_shown_to_compile(source: bytes, name: str, text: str) -> None:
    before = discover(source)
    made, after, _ = spliced(before, replace(before, name, text, 0))
    assert problem_in(made.source, "a.py") is not None
    assert not _still_compiles(before, after, made.placed)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (HEAD + b"def f():\n    pass\n", "# coding: latin-1\n"),
        (b"# coding: latin-1\n" + HEAD + b"def f():\n    pass\n", "import sys\n"),
        (HEAD + b"def f():\n    pass\n", "from __future__ import annotations\n"),
    ],
)
def test_a_header_that_may_matter_to_functions_is_left_to_the_check_of_the_whole(source: bytes, text: str) -> None:
    assert _answers(discover(source), replace(discover(source), "@header", text, 0)) == (False, True)


@st.composite
def _text(draw: st.DrawFn, before: RegionMap) -> str:
    return draw(
        _garbled(text_of(before, draw(st.sampled_from([each for each in before.regions if each.is_definition]))))
    )


@st.composite
def _garbled(draw: st.DrawFn, text: str) -> str:
    for _ in range(draw(st.integers(0, 2))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 8)))
        text = text[:start] + draw(st.sampled_from(["", *FRAGILE])) + text[end:]
    return text


@st.composite
def _edit(draw: st.DrawFn, before: RegionMap) -> RegionEdit:
    found = draw(st.sampled_from([each for each in before.regions if each.is_definition]))
    kind = draw(st.integers(0, 4))
    headers = [each for each in before.regions if each.key.is_header]
    if kind == 4 and headers:
        header = draw(st.sampled_from(headers))
        span = draw(st.integers(0, len(header.spans) - 1))
        return Replace(header, draw(_garbled(before.cut(header.spans[span]).decode(errors="replace"))), span)
    if kind == 0:
        return Delete(found)
    if kind == 1:
        assert found.parent is not None
        name = found.key.names[-1]
        return Insert(found.parent.child(name), found, before.by_key[found.parent], draw(_text(before)))
    return Replace(found, draw(_text(before)))


@given(MODULES, st.data())
@examples(4)
def test_what_is_shown_to_compile_does(source: bytes, data: st.DataObject) -> None:
    before = discover(HEAD + source)
    assume(any(each.is_definition for each in before.regions) and problem_in(before.source, "a.py") is None)
    try:
        edits = data.draw(st.lists(_edit(before), min_size=1, max_size=2))
        made, after, broken = spliced(before, *edits)
    except InputError:
        return
    if broken is None and _still_compiles(before, after, made.placed):
        assert problem_in(made.source, "a.py") is None


def test_finally_blocks_that_multiply_are_left_to_the_check_of_the_whole() -> None:
    before = discover(HEAD + b"def f():\n    pass\n")
    lines = ["def f():"]
    for depth in range(12):
        pad = "    " * (depth + 1)
        lines += [f"{pad}try:", f"{pad}    if a: return 1", f"{pad}    if b: return 2", f"{pad}finally:"]
    lines.append("    " * 13 + "return 3")
    made, after, _ = spliced(before, replace(before, "f", "\n".join(lines) + "\n"))
    problem = problem_in(made.source, "a.py")
    assert problem is not None
    assert problem.code == "PARSE_BUDGET"
    assert not _still_compiles(before, after, made.placed)
