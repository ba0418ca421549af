"""Edits to bytes: separators, line ends, encodings, overlaps."""

import pytest
from tests.unit.code.regions.checks import insert, region, replace, spliced

from commonhold.code.regions.discover import discover
from commonhold.code.regions.edit import Delete, Insert, RegionEdit, Replace, splice, text_of
from commonhold.code.regions.region import RegionMap
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.keys import Name, parse

BOM = b"\xef\xbb\xbf"
MODULE = discover(
    b"import a\n\n\ndef f():\n    pass\n\n\n"
    b"class C:\n    x = 1\n\n    def m(self): ...\n\n    def n(self): ...\n\n\ndef g(): ...\n"
)


def made(before: RegionMap, *edits: RegionEdit) -> bytes:
    """Give the candidate of edits that are in scope."""
    result, _, breach = spliced(before, *edits)
    assert breach is None
    return result.source


def refused(before: RegionMap, *edits: RegionEdit) -> InputError:
    with pytest.raises(InputError) as caught:
        splice(before, edits)
    return caught.value


def delete(found: RegionMap, name: str) -> Delete:
    return Delete(region(found, name))


@pytest.mark.parametrize(
    "text", ["def f(): pass", "def f(): pass\n", "\n \t\n\ndef f(): pass\n\n   \n", "\ufeffdef f(): pass"]
)
def test_a_definition_is_stripped_and_ends_in_one_line_end(text: str) -> None:
    before = discover(b"def f():\n    x\n\n\ndef g(): ...")
    assert made(before, replace(before, "f", text)) == b"def f(): pass\n\n\ndef g(): ..."


def test_the_last_definition_keeps_its_missing_line_end() -> None:
    before = discover(b"def f(): ...\ndef g(): ...")
    assert made(before, replace(before, "g", "def g(): pass\n")) == b"def f(): ...\ndef g(): pass"


def test_spaces_at_the_end_of_the_last_line_stay() -> None:
    before = discover(b"def f(): ...\n")
    assert made(before, replace(before, "f", "def f(): pass  \n\n")) == b"def f(): pass  \n"


@pytest.mark.parametrize("text", ["def f():\n    pass", "def f():\r\n    pass", "def f():\r\n    pass\r\n\r\n"])
def test_a_file_that_is_all_crlf_stays_so(text: str) -> None:
    before = discover(b"x = 1\r\n\r\n\r\ndef f(): ...\r\n")
    assert made(before, replace(before, "f", text)) == b"x = 1\r\n\r\n\r\ndef f():\r\n    pass\r\n"


def test_a_mixed_file_takes_text_as_it_is() -> None:
    before = discover(b"x = 1\r\ndef f(): ...\n")
    assert made(before, replace(before, "f", "def f():\n    pass")) == b"x = 1\r\ndef f():\n    pass\n"


def test_a_text_without_code_leaves_nothing() -> None:
    before = discover(b"def f(): ...\nx = 1\n")
    result, _, breach = spliced(before, replace(before, "f", " \n"))
    assert result.source == b"x = 1\n"
    assert breach is not None


def test_a_header_keeps_the_blank_lines_around_it_unless_the_text_brings_its_own() -> None:
    before = discover(b"import a\n\ndef f(): ...\nx = 1\n")
    assert made(before, replace(before, "@header", "import b\n", 0)) == b"import b\n\ndef f(): ...\nx = 1\n"
    assert made(before, replace(before, "@header", "import b\n\n\n", 0)) == b"import b\n\n\ndef f(): ...\nx = 1\n"
    assert made(before, replace(before, "@header", "", 0)) == b"def f(): ...\nx = 1\n"
    assert made(before, replace(before, "@header", "x = 2", 1)) == b"import a\n\ndef f(): ...\nx = 2"


def test_a_header_text_gets_the_line_end_that_what_follows_needs() -> None:
    before = discover(b"import a\ndef f(): ...\n")
    assert made(before, replace(before, "@header", "import b")) == b"import b\ndef f(): ...\n"


def test_a_constant_between_two_functions_gets_the_blank_lines_of_the_gap() -> None:
    before = discover(b"def f(): ...\n\n\ndef g(): ...\n")
    made_now = made(before, replace(before, "@header", "x = 1", 1))
    assert made_now == b"def f(): ...\n\n\nx = 1\n\n\ndef g(): ...\n"


def test_a_header_without_a_span_means_its_only_one_with_code() -> None:
    before = discover(b"def f(): ...\n\n\ndef g(): ...\nx = 1\n")
    assert made(before, replace(before, "@header", "x = 2\n")) == b"def f(): ...\n\n\ndef g(): ...\nx = 2\n"


@pytest.mark.parametrize("bom", [b"", BOM])
def test_imports_go_to_the_top_of_a_file_that_has_none(bom: bytes) -> None:
    before = discover(bom + b"def f(): ...\n\n\ndef g(): ...\n")
    assert (
        made(before, replace(before, "@header", "import a\n\n\n"))
        == bom + b"import a\n\n\ndef f(): ...\n\n\ndef g(): ...\n"
    )


def test_a_header_of_several_spans_needs_a_number() -> None:
    before = discover(b"x = 1\ndef f(): ...\n\ndef g(): ...\ny = 1\n")
    error = refused(before, replace(before, "@header", "z = 1\n"))
    assert (error.code, error.fields["spans"]) == (Code.CHANGESET_INVALID, [[0, 0, 6], [2, 33, 39]])
    assert "0, 2" in error.hint
    assert refused(before, replace(before, "@header", "", 3)).code is Code.CHANGESET_INVALID
    assert refused(before, replace(before, "@header", "", -1)).code is Code.CHANGESET_INVALID
    assert refused(before, replace(before, "f", "", 0)).code is Code.CHANGESET_INVALID


@pytest.mark.parametrize("text", ["import b\n", "\ufeffimport b\n"])
def test_a_byte_order_mark_is_neither_lost_nor_doubled(text: str) -> None:
    before = discover(BOM + b"import a\n")
    assert made(before, replace(before, "@header", text)) == BOM + b"import b\n"
    assert made(before, replace(before, "", text)) == BOM + b"import b\n"
    plain = discover(b"import a\n")
    assert made(plain, replace(plain, "", text)) == b"import b\n"


def test_a_whole_file_of_any_kind_is_replaced() -> None:
    before = discover(b"one\r\n", "a.txt")
    assert made(before, Replace(before.file, "two\nthree")) == b"two\r\nthree"
    empty = discover(b"", "a.txt")
    assert made(empty, Replace(empty.file, "é")) == "é".encode()


def test_a_whole_file_is_written_in_the_encoding_that_it_declares() -> None:
    before = discover("# coding: latin-1\nx = 'é'\n".encode("latin-1"))
    assert made(before, replace(before, "", "# coding: cp1252\nx = '€'\n")) == "# coding: cp1252\nx = '€'\n".encode(
        "cp1252"
    )
    assert made(before, replace(before, "", "x = 'é'\n")) == "x = 'é'\n".encode()


def test_a_file_that_cannot_be_read_can_be_replaced() -> None:
    before = discover(b"x = '\xff'\n")
    assert made(before, replace(before, "", "x = 'é'\n")) == "x = 'é'\n".encode()


def test_text_is_written_in_the_encoding_of_the_file() -> None:
    before = discover("# coding: latin-1\ndef f(): 'é'\ndef g(): 'ü'\n".encode("latin-1"))
    assert made(
        before, replace(before, "f", "def f(): 'ö'")
    ) == "# coding: latin-1\ndef f(): 'ö'\ndef g(): 'ü'\n".encode("latin-1")
    error = refused(before, replace(before, "f", "def f(): '€'"))
    assert (error.code, error.fields) == (Code.ENCODING_INVALID, {"path": "module.py", "encoding": "iso8859-1"})


def test_a_lone_surrogate_cannot_be_written() -> None:
    assert refused(MODULE, replace(MODULE, "f", "def f(): '\udc80'")).code is Code.ENCODING_INVALID


def test_an_unknown_encoding_cannot_be_written() -> None:
    before = discover(b"# coding: none-such\n")
    assert refused(before, replace(before, "", "# coding: other\n")).code is Code.ENCODING_INVALID


def test_an_edit_may_not_give_the_other_bytes_another_meaning() -> None:
    before = discover("# coding: latin-1\ndef f(): 'é'\n".encode("latin-1"))
    assert refused(before, replace(before, "@header", "# coding: cp1252\n")).code is Code.ENCODING_INVALID
    plain = discover(b"# coding: latin-1\ndef f(): ...\n")
    assert made(plain, replace(plain, "@header", "# coding: utf-8\n")) == b"# coding: utf-8\ndef f(): ...\n"


def test_the_same_text_keeps_its_spelling() -> None:
    source = b"# coding: iso-2022-jp\n# \x1b$B\x1b(B\ndef f(): ...\n"
    before = discover(source)
    for each in before.regions[1:]:
        assert made(before, Replace(each, text_of(before, each))) == source


def test_text_of_a_region() -> None:
    before = discover(BOM + "x = 'é'\ndef f(): ...\ny = 1\n".encode())
    assert text_of(before, region(before, "@header")) == "x = 'é'\ny = 1\n"
    assert text_of(before, region(before, "@header"), 1) == "y = 1\n"
    assert text_of(before, region(before, "f")) == "def f(): ...\n"
    assert text_of(before, before.file).startswith("x")


@pytest.mark.parametrize("source", [b"'\xff'\n", b"# coding: none-such\n"])
def test_text_that_cannot_be_read_is_refused(source: bytes) -> None:
    before = discover(source)
    with pytest.raises(InputError) as caught:
        text_of(before, before.file)
    assert caught.value.code is Code.ENCODING_INVALID


H, P, N = "def h(): ...", "    def p(self): ...", "\n\n\n"


@pytest.mark.parametrize(
    ("source", "edit", "expected"),
    [
        ("", ("h", H), f"{H}\n"),
        ("\n\n", ("h", H), f"\n\n{H}\n"),
        ("x = 1", ("h", H), f"x = 1{N}{H}\n"),
        ("x = 1\n\n\n\n\n", ("h", H), f"x = 1\n\n\n\n\n{H}\n"),
        ("x = 1\n\n", ("h", H), f"x = 1{N}{H}\n"),
        ("def f(): ...", ("h", H), f"def f(): ...{N}{H}\n"),
        ("def f(): ...\nx = 1\n", ("h", H, "f"), f"def f(): ...{N}{H}{N}x = 1\n"),
        ("def f(): ...\n\n\n\n\nx = 1\n", ("h", H, "f"), f"def f(): ...{N}{H}\n\n\n\n\nx = 1\n"),
        ("def f(): ...\n\n  ", ("h", H, "f"), f"def f(): ...{N}{H}\n\n  "),
        ("import a\ndef f(): ...\n", ("h", H, "@header"), f"import a{N}{H}{N}def f(): ...\n"),
        ("import a\n\n\ndef f(): ...\n", ("h", H, "@header"), f"import a{N}{H}{N}def f(): ...\n"),
        ("def f(): ...\n", ("h", H, "@header"), f"{H}{N}def f(): ...\n"),
        ("import a\n", ("h", H, "@header"), f"import a{N}{H}\n"),
        (
            "if x:\n    def f(): ...\ny = 1\ndef g(): ...\n",
            ("h", H, "@header"),
            f"if x:\n    def f(): ...\ny = 1{N}{H}{N}def g(): ...\n",
        ),
        ("if x:\n    def f(): ...\n", ("h", H, "@header"), f"if x:\n    def f(): ...{N}{H}\n"),
        ("if x:\n    def f(): ...\n    y = 1\n", ("p", P, "f"), f"if x:\n    def f(): ...\n\n{P}\n\n    y = 1\n"),
        ("class C:\n    x = 1", ("p", P, None, "C"), f"class C:\n    x = 1\n\n{P}\n"),
        ("class C:\n    def m(self): ...", ("p", P, None, "C"), f"class C:\n    def m(self): ...\n\n{P}\n"),
        (
            "class C:\n    def m(self): ...\n\n\nx = 1\n",
            ("p", P, None, "C"),
            f"class C:\n    def m(self): ...\n\n{P}\n\n\nx = 1\n",
        ),
        (
            "class C:\n    def m(self): ...\nx = 1\n",
            ("p", P, None, "C"),
            f"class C:\n    def m(self): ...\n\n{P}\n\nx = 1\n",
        ),
        ("class C:\n    def m(self): ...\n", ("p", P, "C.@header", "C"), f"class C:\n{P}\n\n    def m(self): ...\n"),
        (
            "class C:\n    x = 1\n\n    def m(self): ...\n",
            ("p", P, "C.@header", "C"),
            f"class C:\n    x = 1\n\n{P}\n\n    def m(self): ...\n",
        ),
        ("class C:\n    x = 1\n", ("p", P, "C.@header", "C"), f"class C:\n    x = 1\n\n{P}\n"),
        (
            "class C:\n    def m(self): ...\n    y = 1\n",
            ("p", P, "C.m", "C"),
            f"class C:\n    def m(self): ...\n\n{P}\n\n    y = 1\n",
        ),
        ("class C:\n    def m(self): ...", ("h", H, "C"), f"class C:\n    def m(self): ...{N}{H}\n"),
    ],
)
@pytest.mark.parametrize("bom", [b"", BOM], ids=["plain", "bom"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_an_insert_gets_the_blank_lines_that_it_lacks(
    source: str, edit: tuple[str, ...], expected: str, bom: bytes, line_end: str
) -> None:
    before = discover(bom + source.replace("\n", line_end).encode())
    is_crlf = line_end == "\r\n" and "\n" in source
    want = bom + expected.replace("\n", "\r\n" if is_crlf else "\n").encode()
    assert made(before, insert(before, *edit)) == want


def test_inserts_at_one_anchor_keep_their_order() -> None:
    before = discover(b"def f(): ...\n\n\ndef g(): ...\n")
    edits = [insert(before, name, f"def {name}(): ...", "f") for name in ("z", "a", "k")]
    expected = "\n\n\n".join(f"def {name}(): ..." for name in "fzakg") + "\n"
    assert made(before, *edits) == expected.encode()
    result = splice(before, edits)
    assert [result.source[each.start : each.end] for each in result.placed] == [
        b"def z(): ...\n",
        b"def a(): ...\n",
        b"def k(): ...\n",
    ]


def test_an_insert_into_a_class_stands_before_one_behind_the_class() -> None:
    before = discover(b"class C:\n    class D:\n        x = 1")
    edits = [
        insert(before, "h", H),
        insert(before, "p", P, None, "C"),
        insert(before, "q", "        def q(self): ...", None, "C.D"),
    ]
    expected = f"class C:\n    class D:\n        x = 1\n\n        def q(self): ...\n\n{P}{N}{H}\n"
    assert made(before, *edits) == expected.encode()


def test_an_insert_after_what_is_deleted_or_replaced() -> None:
    before = discover(b"x = 1\n\n\ndef f(): ...\n\n\ndef g(): ...\n")
    new = insert(before, "h", H, "f")
    assert made(before, delete(before, "f"), new) == b"x = 1\n\n\ndef h(): ...\n\n\ndef g(): ...\n"
    assert (
        made(before, new, replace(before, "f", "def k(): ..."))
        == b"x = 1\n\n\ndef k(): ...\n\n\ndef h(): ...\n\n\ndef g(): ...\n"
    )


@pytest.mark.parametrize(
    ("name", "container", "after"),
    [("x", "C", None), ("x", "f", None), ("x", "D", "f"), ("x", "", "D.m"), ("x", "D.@header", None)],
)
def test_an_insert_needs_a_place(name: str, container: str, after: str | None) -> None:
    before = discover(b"class C: pass\ndef f(): ...\nclass D:\n    def m(self): ...\n")
    error = refused(before, insert(before, name, "    def x(self): ...", after, container))
    assert error.code is Code.CHANGESET_INVALID
    if container == "C":
        assert "replace file:module.py#C" in error.hint


def test_nothing_is_inserted_into_a_file_without_regions() -> None:
    before = discover(b"text\n", "a.txt")
    edit = Insert(before.file.key.child(Name("f")), None, before.file, "def f(): ...")
    assert refused(before, edit).code is Code.CHANGESET_INVALID


@pytest.mark.parametrize(
    ("source", "gone", "expected"),
    [
        ("x\n\n\ndef f(): ...\n\n\ny\n", "f", "x\n\n\ny\n"),
        ("x\ndef f(): ...\n\n\n\ny\n", "f", "x\n\n\n\ny\n"),
        ("x\n\n\n\ndef f(): ...\ny\n", "f", "x\n\n\n\ny\n"),
        ("x\n\n\ndef f(): ...\n", "f", "x\n"),
        ("x\n\n\ndef f(): ...", "f", "x\n"),
        ("x\n\n\ndef f(): ...\n\n\n", "f", "x\n\n\n"),
        ("def f(): ...\n\n\nx\n", "f", "\n\nx\n"),
        ("def f(): ...\n", "f", ""),
        ("\n\ndef f(): ...\n", "f", ""),
        ("class C:\n    x\n\n    def m(self): ...\n\n\ny\n", "C.m", "class C:\n    x\n\n\ny\n"),
        ("class C:\n    def m(self): ...\n\n    def n(self): ...\n", "C.m", "class C:\n\n    def n(self): ...\n"),
        ("x\n\n\ndef f(): ...\n\n\ndef g(): ...\n\n\ny\n", "f g", "x\n\n\ny\n"),
        ("x\n\n\ndef f(): ...\n\n\ndef g(): ...\n", "g f", "x\n"),
        ("x\ndef f(): ...\ndef g(): ...\n\n\ny\n", "f g", "x\n\n\ny\n"),
        ("x\n\ndef f(): ...\ny\n\n\ndef g(): ...\n", "f g", "x\n\ny\n"),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_a_delete_leaves_no_pile_of_blank_lines(source: str, gone: str, expected: str, line_end: str) -> None:
    before = discover(source.replace("\n", line_end).encode())
    edits = [delete(before, name) for name in gone.split()]
    assert made(before, *edits) == expected.replace("\n", line_end).encode()


def test_a_delete_beside_an_edited_header_leaves_its_text_alone() -> None:
    before = discover(b"import a\n\n\ndef f(): ...\n\n\ny = 1\n")
    assert (
        made(before, delete(before, "f"), replace(before, "@header", "import b\n\n", 0)) == b"import b\n\n\n\ny = 1\n"
    )
    assert made(before, delete(before, "f"), replace(before, "@header", "z = 1\n", 1)) == b"import a\n\n\n\n\nz = 1\n"


def test_only_definitions_are_deleted() -> None:
    assert refused(MODULE, delete(MODULE, "@header")).code is Code.CHANGESET_INVALID
    assert refused(MODULE, delete(MODULE, "")).code is Code.CHANGESET_INVALID


def test_many_edits_at_once() -> None:
    edits: list[RegionEdit] = [
        replace(MODULE, "g", "def g(x): ..."),
        replace(MODULE, "@header", "import b\n\n\n"),
        delete(MODULE, "C.m"),
        replace(MODULE, "C.@header", "class C:\n    x = 2\n\n", 0),
        insert(MODULE, "p", P, "C.n", "C"),
        insert(MODULE, "h", H, "@header"),
    ]
    assert made(MODULE, *edits) == (
        b"import b\n\n\ndef h(): ...\n\n\ndef f():\n    pass\n\n\nclass C:\n    x = 2\n\n\n    def n(self): ...\n\n"
        b"    def p(self): ...\n\n\ndef g(x): ...\n"
    )


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (replace(MODULE, "C", ""), replace(MODULE, "C.m", "")),
        (delete(MODULE, "C"), delete(MODULE, "C.m")),
        (replace(MODULE, "C", ""), replace(MODULE, "C.@header", "", 0)),
        (replace(MODULE, "f", ""), delete(MODULE, "f")),
        (replace(MODULE, "@header", "", 0), replace(MODULE, "@header", "")),
        (replace(MODULE, "", ""), replace(MODULE, "f", "")),
        (replace(MODULE, "", ""), insert(MODULE, "h", H)),
        (replace(MODULE, "C", ""), insert(MODULE, "p", P, None, "C")),
        (delete(MODULE, "C"), insert(MODULE, "p", P, "C.m", "C")),
        (replace(MODULE, "", ""), replace(MODULE, "", "")),
    ],
)
def test_edits_that_overlap_are_refused(left: RegionEdit, right: RegionEdit) -> None:
    for edits in ((left, right), (right, left)):
        error = refused(MODULE, *edits)
        assert error.code is Code.CHANGESET_INVALID
        keys = {str(each.key if isinstance(each, Insert) else each.region.key) for each in edits}
        assert set(error.fields["keys"]) == keys  # type: ignore[call-overload]
        assert all(key in error.message for key in keys)


def test_two_edits_of_one_empty_span_are_refused() -> None:
    before = discover(b"def f(): ...\n")
    twice = [replace(before, "@header", "import a\n", 0), replace(before, "@header", "import b\n")]
    assert refused(before, *twice).code is Code.CHANGESET_INVALID


def test_no_edits_change_nothing() -> None:
    assert splice(MODULE, []).source == MODULE.source


LONE = "def f():\n    pass  # hi\rX = 1\n"


def test_a_lone_carriage_return_is_refused_in_python_alone() -> None:
    before = discover(b"def f(): ...\n")
    for edit in (replace(before, "f", LONE), insert(before, "h", LONE), Replace(before.file, LONE)):
        error = refused(before, edit)
        assert (error.code, "carriage return" in error.message) == (Code.CHANGESET_INVALID, True)
    plain, old = discover(b"a\n", "a.txt"), discover(LONE.encode())
    assert splice(plain, [Replace(plain.file, "a\rb")]).source == b"a\rb"
    assert splice(old, [Replace(old.file, LONE)]).source == LONE.encode()


def test_crlf_text_becomes_lf_in_a_file_that_is_all_lf() -> None:
    before, new = discover(b"x = 1\n\n\ndef f(): ...\n"), discover(b"")
    text = "def f():\r\n    pass\r\n"
    assert made(before, replace(before, "f", text)) == b"x = 1\n\n\ndef f():\n    pass\n"
    assert made(before, Replace(before.file, text)) == b"def f():\n    pass\n"
    assert splice(new, [Replace(new.file, text)]).source == text.encode()


@pytest.mark.parametrize(("first", "second"), [("h", "h"), ("h", "h~1"), ("h~2", "h~2")])
def test_two_inserts_of_one_name_are_refused(first: str, second: str) -> None:
    edits = [Insert(parse(f"module.py#{name}").key(), None, MODULE.file, "def h(): ...\n") for name in (first, second)]
    error = refused(MODULE, *edits)
    assert error.code is Code.CHANGESET_INVALID
    assert error.fields["keys"] == [str(edit.key) for edit in edits]


@pytest.mark.parametrize("above", ["x = 1\n# Helpers:\n", "x = 1  # Helpers:\n", "x = 'a'  # don't:\n"])
def test_a_comment_that_ends_in_a_colon_opens_no_block(above: str) -> None:
    before = discover(above.encode())
    assert made(before, insert(before, "h", "def h(): ...\n")) == f"{above}\n\ndef h(): ...\n".encode()


def test_a_line_that_opens_a_block_may_have_a_comment() -> None:
    before = discover(b"class C:  # why: so\n    def m(self): ...\n")
    text = "    def n(self): ...\n"
    assert made(before, insert(before, "n", text, "C.@header", "C")).startswith(b"class C:  # why: so\n    def n(")
