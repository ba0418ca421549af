"""The rules of discovery, case by case; larger ones lie in tests/corpus/python."""

import pickle
from pathlib import Path

import pytest
from tests.unit.code.regions.checks import check_map, names, texts

from commonhold.code.regions.discover import discover, rediscover
from commonhold.code.regions.region import RegionMap, Span, hash_bytes, hash_spans
from commonhold.kernel.keys import Kind

CORPUS = Path(__file__).parents[3] / "corpus" / "python"
BOM = b"\xef\xbb\xbf"


def rows(found: RegionMap, span: Span) -> str:
    data = found.source[slice(*span)].removeprefix(BOM)
    first = found.source.count(b"\n", 0, span[0]) + 1
    last = first + data.removesuffix(b"\n").count(b"\n")
    return f"{first}-{last}" if data else f"{first}-"


def described(found: RegionMap) -> str:
    lines = [
        f"{each.kind} {each.key.qualname}: {' '.join(rows(found, span) for span in each.spans)}"
        for each in found.regions[1:]
    ]
    return "\n".join([*lines, *(f"{each.code} {each.message}" for each in found.problems), ""])


@pytest.mark.parametrize("case", sorted(path.name for path in CORPUS.iterdir()))
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("bom", [b"", BOM], ids=["plain", "bom"])
def test_a_case_of_the_corpus(case: str, line_end: bytes, bom: bytes) -> None:
    source = (CORPUS / case / "module.py").read_bytes().replace(b"\n", line_end)
    found = discover(bom + source)
    check_map(found)
    assert described(found) == (CORPUS / case / "regions.txt").read_text(encoding="utf-8")


def test_an_empty_file_has_an_empty_header() -> None:
    found = discover(b"")
    check_map(found)
    assert [(each.kind, each.spans) for each in found.regions] == [
        (Kind.FILE, ((0, 0),)),
        (Kind.SHARED_HEADER, ((0, 0),)),
    ]


def test_a_byte_order_mark_belongs_to_the_header() -> None:
    found = discover(BOM + b"def f(): pass")
    check_map(found)
    assert texts(found) == {"@header": BOM, "f": b"def f(): pass"}
    assert texts(discover(BOM)) == {"@header": BOM}


def test_the_header_keeps_an_empty_first_span_but_no_other() -> None:
    found = discover(b"def f(): pass\ndef g(): pass\n")
    assert found.regions[1].spans == ((0, 0),)


def test_hashes_are_those_that_are_published() -> None:
    found = discover(b"import a\ndef f(): pass\n\nx = 1\n")
    header = found.regions[1]
    assert header.hash == hash_spans(found.source, ((0, 9), (23, 30)))
    assert header.hash != hash_bytes(b"import a\n\nx = 1\n")
    assert found.file.hash == hash_bytes(found.source)


def test_a_header_hash_sees_bytes_wander_between_spans() -> None:
    left = discover(b"x = 1\n\ndef f(): pass\n")
    right = discover(b"x = 1\ndef f(): pass\n\n")
    assert left.bytes_of(left.regions[1]) == right.bytes_of(right.regions[1])
    assert left.regions[1].hash != right.regions[1].hash


def test_definitions_inside_functions_belong_to_them() -> None:
    source = b"def f():\n    class C:\n        def m(self): pass\n    def g(): pass\n"
    assert names(discover(source)) == ["@header", "f"]


def test_a_comment_above_at_another_indent_stays_outside() -> None:
    found = discover(b"class C:\n    x = 1\n  # odd\n    # own\n    def m(self): pass\n")
    assert texts(found)["C.m"] == b"    # own\n    def m(self): pass\n"


def test_tabs_and_spaces_of_one_width_are_one_indent() -> None:
    found = discover(b"class C:\n        # own\n\tdef m(self): pass\n\t # tail\n")
    assert texts(found)["C.m"] == b"        # own\n\tdef m(self): pass\n\t # tail\n"


def test_a_form_feed_starts_the_indent_anew() -> None:
    found = discover(b"x = 1\n# own\n\x0cdef f(): pass\n")
    assert texts(found)["f"] == b"# own\n\x0cdef f(): pass\n"


def test_a_comment_that_ends_a_string_is_code() -> None:
    source = b'if """\n# text """:\n    def f(): pass\n\nclass C("""\n# text"""):\n    def m(self): pass\n'
    found = discover(source)
    assert texts(found)["f"] == b"    def f(): pass\n"
    assert texts(found)["C.m"] == b"    def m(self): pass\n"


def test_a_string_that_ends_like_a_comment_ends_its_function() -> None:
    found = discover(b'def f():\n    return """\n    # text """\nx = 1\n')
    assert texts(found)["f"].endswith(b'# text """\n')


def test_a_shebang_is_no_comment_of_a_definition() -> None:
    assert texts(discover(b"#!/usr/bin/python\ndef f(): pass\n"))["f"] == b"def f(): pass\n"
    assert texts(discover(b"#!/usr/bin/python\n# f\ndef f(): pass\n"))["f"] == b"# f\ndef f(): pass\n"


@pytest.mark.parametrize(
    "head", [b"# coding: utf-8\n", b"# note\n# vim: set fileencoding=utf-8 :\n", b"\n# coding=utf8\n"]
)
def test_an_encoding_line_is_no_comment_of_a_definition(head: bytes) -> None:
    assert texts(discover(head + b"def f(): pass\n"))["f"] == b"def f(): pass\n"


def test_only_the_first_two_lines_may_declare_an_encoding() -> None:
    found = discover(b"#\n#\n# coding: latin-1\ndef f(): '\xc3\xa9'\n")
    assert texts(found)["@header"] == b""
    assert names(discover(b"x = 1\n# coding: latin-1\ndef f(): '\xc3\xa9'\n")) == ["@header", "f"]


@pytest.mark.parametrize("head", [b"", b"# coding: latin-1\n# \xe9\n"], ids=["UTF-8", "latin-1"])
@pytest.mark.parametrize("source", [b"x = 1\rdef f(): pass\r", b"def f():\n    pass  # hi\rX = 1\n"])
def test_a_file_whose_lines_python_counts_otherwise_is_one_region(head: bytes, source: bytes) -> None:
    found = discover(head + source)
    check_map(found)
    assert names(found) == []
    assert [problem.code for problem in found.problems] == ["SYNTAX"]
    assert rediscover(discover(head), head + source) == found


def test_a_carriage_return_inside_a_string_is_a_letter() -> None:
    assert names(discover(b'def f():\n    """a\rb"""\n\ndef g(): pass\r\n')) == ["@header", "f", "g"]


def test_names_are_those_that_python_compares() -> None:
    found = discover("def \ufb01x(): pass\nclass \u210c:\n    def m(self): pass\n".encode())
    assert names(found) == ["@header", "fix", "H", "H.@header", "H.m"]


def test_a_name_repeated_in_one_container_is_numbered_there_alone() -> None:
    source = b"class C:\n    def m(self): ...\n    def m(self): ...\nclass D:\n    def m(self): ...\nclass C: ...\n"
    found = discover(source)
    assert names(found) == [
        "@header",
        "C~1",
        "C~1.@header",
        "C~1.m~1",
        "C~1.m~2",
        "D",
        "D.@header",
        "D.m",
        "C~2",
        "C~2.@header",
    ]
    assert len({str(each.key) for each in found.regions}) == len(found.regions)


def test_kinds_and_parents() -> None:
    found = discover(
        b"class C:\n    if x:\n        def m(self): ...\n    class D:\n        def n(self): ...\ndef f(): ...\n",
        "a/b.py",
    )
    assert [each.id for each in found.regions] == [
        "file::a/b.py::",
        "shared_header::a/b.py::@header",
        "class::a/b.py::C",
        "class_header::a/b.py::C.@header",
        "method::a/b.py::C.m",
        "class::a/b.py::C.D",
        "class_header::a/b.py::C.D.@header",
        "method::a/b.py::C.D.n",
        "function::a/b.py::f",
    ]
    assert [str(each.parent) for each in found.regions[1:4]] == ["file:a/b.py", "file:a/b.py", "file:a/b.py#C"]


def test_inline_classes_are_known() -> None:
    found = discover(b"class A: pass\nclass B:\n    x = 1\nclass C(\n  D): x = 1\n")
    assert sorted(str(key) for key in found.inline_classes) == ["file:module.py#A", "file:module.py#C"]


def test_a_missing_token_is_named() -> None:
    (problem,) = discover(b"def f(): pass\nx = f(1\n").problems
    assert problem.code == "SYNTAX"
    assert problem.message.startswith("line 2, column ")


def test_what_is_sound_before_the_first_break_is_kept() -> None:
    source = b"def f(): pass\nif x:\n    def g(): pass\n    )\n    def h(): pass\ndef i(): pass\n"
    found = discover(source)
    check_map(found)
    assert names(found) == ["@header", "f", "g"]


def test_one_open_bracket_swallows_no_definition_silently() -> None:
    sound = b"".join(b"def f%d():\n    return %d\n\n\n" % (number, number) for number in range(9))
    found = discover(sound + b"def broken():\n    return call(\n\n\n" + sound)
    check_map(found)
    assert names(found) == ["@header", *(f"f{number}" for number in range(9))]
    assert found.problems[0].code == "SYNTAX"


@pytest.mark.parametrize(
    ("source", "codec"),
    [
        (b"# coding: utf-8\ndef f(): '\xff'\n", "utf-8"),
        (b"def f(): '\xff'\n", "utf-8"),
        (BOM + b"# coding: latin-1\n'\xff'\n", "utf-8"),
        (b"# coding: ascii\n'\xc3\xa9'\n", "ascii"),
        (b"# coding: none-such\ndef f(): pass\n", "none-such"),
        (b"# coding: rot13\ndef f(): pass\n", "rot-13"),
        (b"# coding: utf-7\ndef f(): pass\n", "utf-7"),
        (b"# coding: utf-16\ndef f(): pass\n", "utf-16"),
        (b"# coding: hz\ndef f(): '~\n'\n", "hz"),
        (b"# coding: shift_jis\n'\x82\xa0\x82\n'\n", "shift_jis"),
    ],
)
def test_bytes_outside_the_declared_encoding_leave_the_file_whole(source: bytes, codec: str) -> None:
    found = discover(source)
    check_map(found)
    assert [each.kind for each in found.regions] == [Kind.FILE]
    assert list(found.leaves()) == [found.file]
    assert (found.language, found.problems[0].code) == ("python", "ENCODING")
    assert codec in found.problems[0].message


@pytest.mark.parametrize("codec", ["latin-1", "cp1252", "shift_jis", "euc-jp", "iso-2022-jp", "koi8-r", "gb18030"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_other_encodings_have_the_same_regions(codec: str, line_end: str) -> None:
    letter = {"koi8-r": "ж", "latin-1": "é", "cp1252": "é"}.get(codec, "ソ")
    text = (
        f"# coding: {codec}\nx = '{letter}'\n\n# {letter}\n"
        f"def f{letter}():\n    return '{letter}{letter}'\n\nclass C:\n    def m(self): '{letter}'"
    )
    source = text.replace("\n", line_end).encode(codec)
    found = discover(source)
    check_map(found)
    assert names(found) == ["@header", f"f{letter}", "C", "C.@header", "C.m"]
    plain = discover(text.replace("\n", line_end).replace(f"coding: {codec}", "coding: utf-8").encode())
    decoded = {name: data.decode(codec) for name, data in texts(found).items()}
    assert decoded == {
        name: data.decode().replace("coding: utf-8", f"coding: {codec}") for name, data in texts(plain).items()
    }


def test_a_broken_file_in_another_encoding_tells_the_line() -> None:
    found = discover(b"# coding: latin-1\nx = '\xe9\xe9'\ndef f(): '\xe9'\ny = '\xe9' )\n")
    check_map(found)
    assert names(found) == ["@header", "f"]
    (problem,) = found.problems
    assert found.source[slice(*problem.span)] == b"y = '\xe9' )\n"
    assert problem.message.startswith("line 4,")


def test_ascii_in_a_declared_encoding_is_read_as_it_is() -> None:
    found = discover(b"# coding: latin-1\ndef f(): pass\n")
    assert found.tree is not None
    assert names(found) == ["@header", "f"]


@pytest.mark.parametrize(
    ("source", "language"), [(b"hello\n", "text"), (b"\0\1", "binary"), (b"", "text"), (b"\xff\n", "text")]
)
def test_a_file_of_no_language_with_one_paragraph_is_one_region(source: bytes, language: str) -> None:
    found = discover(source, "notes")
    check_map(found)
    assert (found.language, len(found.regions), found.problems) == (language, 1, ())
    assert list(found.leaves()) == [found.file]


@pytest.mark.parametrize("depth", [50, 5_000])
@pytest.mark.parametrize("unit", ["(", "[", "{", "-", "lambda: ", "not "])
def test_deep_nesting_is_no_danger(depth: int, unit: str) -> None:
    check_map(discover(f"def f(): pass\nx = {unit * depth}1\n".encode()))


@pytest.mark.parametrize("line", ["if x:", "class C:", "def f():", "try:", "with x:", "match x:"])
def test_deep_blocks_are_no_danger(line: str) -> None:
    check_map(discover("".join(f"{' ' * depth}{line}\n" for depth in range(1_200)).encode()))


def test_rediscovery_reads_the_new_bytes() -> None:
    before = discover(b"def f(): pass\n\n\ndef g(): pass\n")
    for source in (
        b"",
        before.source,
        b"def f(): pass\n\n\ndef g(): return 1\n",
        b"x = 1\n" + before.source,
        b"def f( pass\n",
    ):
        after = rediscover(before, source)
        assert after == discover(source)
        before = after


def test_rediscovery_without_a_tree_begins_anew() -> None:
    before = pickle.loads(pickle.dumps(discover(b"def f(): pass\n")))  # noqa: S301 - our own bytes
    assert before.tree is None
    assert before == discover(b"def f(): pass\n")
    assert rediscover(before, b"def g(): pass\n") == discover(b"def g(): pass\n")


def test_rediscovery_follows_a_change_of_language() -> None:
    script = discover(b"#!/usr/bin/python\ndef f(): pass\n", "script")
    assert rediscover(script, b"#!/bin/sh\n").language == "shell"
    assert rediscover(script, b"#!/bin/awk\n").language == "text"
    assert rediscover(discover(b"#!/bin/awk\n", "script"), script.source) == script


def test_rediscovery_follows_a_change_of_encoding() -> None:
    plain = discover(b"# coding: utf-8\ndef f(): '\xc3\xa9'\n")
    other = b"# coding: latin-1\ndef f(): '\xe9'\n"
    assert rediscover(plain, other) == discover(other)
    assert rediscover(discover(other), plain.source) == plain
