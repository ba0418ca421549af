"""Edits stay inside their regions, or are told where they do not."""

import pytest
from tests.unit.code.regions.checks import insert, region, replace, spliced

from commonhold.code.regions.discover import discover
from commonhold.code.regions.edit import Delete, Placed, RegionEdit, Replace
from commonhold.code.regions.scope import breach, placed_region
from commonhold.kernel.errors import Code, InputError

MODULE = discover(
    b"import a\n\n\ndef f():\n    pass\n\n\nclass C:\n    x = 1\n\n    def m(self): ...\n\n    y = 2\n\n"
    b"    class D:\n        def n(self): ...\n\n\ndef g(): ...\n\n\nz = 3\n"
)

IN_SCOPE: list[tuple[list[RegionEdit], list[str]]] = [
    ([replace(MODULE, "f", "def f(): return 1")], ["f"]),
    ([replace(MODULE, "f", "def renamed(): ...")], ["renamed"]),
    ([replace(MODULE, "f", "class f:\n    def m(self): ...")], ["f"]),
    ([replace(MODULE, "f", "# why\n@decorate\ndef f(): ...\n    # tail")], ["f"]),
    ([replace(MODULE, "f", "def g(): ...")], ["g~1"]),
    ([replace(MODULE, "C", "def C(): ...")], ["C"]),
    ([replace(MODULE, "C", "class E:\n    def k(self): ...")], ["E"]),
    ([replace(MODULE, "C.m", "    class m:\n        def m(self): ...")], ["C.m"]),
    ([replace(MODULE, "C.D", "    class D:\n        x = 1\n        def o(self): ...")], ["C.D"]),
    ([replace(MODULE, "@header", "import b\n\n\n", 0)], ["@header"]),
    ([replace(MODULE, "@header", "", 0)], ["@header"]),
    ([replace(MODULE, "@header", "\n\n# note\nz = 4", 3)], ["@header"]),
    ([replace(MODULE, "C.@header", "@decorate\nclass C(B):\n", 0)], ["C.@header"]),
    ([replace(MODULE, "C.@header", "", 1)], ["C.@header"]),
    ([replace(MODULE, "C.D.@header", "    class D(B):\n")], ["C.D.@header"]),
    ([insert(MODULE, "h", "def h(): ...", "f")], ["h"]),
    ([insert(MODULE, "g", "def g(x): ...", "g")], ["g~2"]),
    ([insert(MODULE, "h", "class h:\n    def m(self): ...", "@header")], ["h"]),
    ([insert(MODULE, "p", "    def p(self): ...", None, "C")], ["C.p"]),
    ([insert(MODULE, "p", "        def p(self): ...", "C.D.n", "C.D")], ["C.D.p"]),
    ([replace(MODULE, "", "anything (at all")], [""]),
    (
        [replace(MODULE, "f", "def k(): ..."), replace(MODULE, "C.@header", "class C:\n    x = 2\n", 0)],
        ["k", "C.@header"],
    ),
    ([], []),
]


@pytest.mark.parametrize(("edits", "names"), IN_SCOPE)
def test_edits_in_scope(edits: list[RegionEdit], names: list[str]) -> None:
    result, after, found = spliced(MODULE, *edits)
    assert found is None
    assert [placed_region(after, each).key.qualname for each in result.placed] == names


@pytest.mark.parametrize("name", ["f", "C", "C.m", "C.D", "C.D.n", "g"])
def test_deletes_in_scope(name: str) -> None:
    result, after, found = spliced(MODULE, Delete(region(MODULE, name)))
    expected = [each.key for each in MODULE.regions if not each.key.qualname.startswith(name)]
    if name == "C.D.n":
        after = discover(result.source.replace(b"class D:\n", b"class D:\n        pass\n"))
    else:
        assert found is None
    assert [each.key for each in after.regions] == expected
    with pytest.raises(InputError) as caught:
        placed_region(after, result.placed[0])
    assert caught.value.code is Code.REGION_UNKNOWN


@pytest.mark.parametrize(
    ("edit", "part"),
    [
        (replace(MODULE, "f", "def f(): ...\ndef k(): ..."), "exactly one definition"),
        (replace(MODULE, "f", "x = 1"), "exactly one definition"),
        (replace(MODULE, "f", ""), "exactly one definition"),
        (replace(MODULE, "f", "def f(): ...\nx = 1"), "exactly one definition"),
        (replace(MODULE, "f", "def f(): ...\n# at the left"), "exactly one definition"),
        (replace(MODULE, "f", "import b\ndef f(): ..."), "exactly one definition"),
        (replace(MODULE, "f", "# far\n\ndef f(): ..."), "exactly one definition"),
        (replace(MODULE, "f", "if x:\n    def f(): ..."), "exactly one definition"),
        (replace(MODULE, "f", "def f(): '''"), "exactly one definition"),
        (replace(MODULE, "C.m", "def m(self): ..."), "another container"),
        (replace(MODULE, "g", "    def g(self): ..."), "another container"),
        (replace(MODULE, "C.D.n", "    def n(self): ..."), "another container"),
        (insert(MODULE, "h", "def other(): ...", "f"), "defines 'other'"),
        (insert(MODULE, "h", "def h(): ...\ndef i(): ...", "f"), "exactly one definition"),
        (insert(MODULE, "p", "def p(): ...", None, "C"), "another container"),
        (
            replace(MODULE, "@header", "import b\n\n\ndef k(): ...\n\n\n", 0),
            "reaches into the definition file:module.py#k",
        ),
        (replace(MODULE, "@header", "class E: ...\n", 0), "reaches into the definition file:module.py#E"),
        (
            replace(MODULE, "C.@header", "class C:\n    def k(self): ...\n\n", 0),
            "reaches into the definition file:module.py#C.k",
        ),
        (replace(MODULE, "C.@header", "class E:\n    x = 1\n\n", 0), "reaches into the definition file:module.py#E"),
        (replace(MODULE, "C.@header", "x = 1\n", 1), "changes"),
        (replace(MODULE, "C.@header", "class C: ...\nclass C:\n", 0), "changes"),
        (replace(MODULE, "@header", "x = '''\n", 0), "changes file:module.py#f"),
        (replace(MODULE, "@header", "x = (\n", 0), "changes file:module.py#f"),
        (replace(MODULE, "C.D.@header", "    class D:\n        x = 1\n    class E:\n"), "reaches into"),
    ],
)
def test_edits_out_of_scope(edit: RegionEdit, part: str) -> None:
    _, _, found = spliced(MODULE, edit)
    assert found is not None
    assert part in found.message
    assert found.hint
    assert found.key == (edit.region.key if isinstance(edit, Replace | Delete) else edit.key)


def test_two_header_edits_cannot_hide_a_definition_between_them() -> None:
    edits = [replace(MODULE, "@header", 'import a\nx = """\n', 0), replace(MODULE, "@header", '\n"""\n', 1)]
    _, _, found = spliced(MODULE, *edits)
    assert found is not None
    assert "changes file:module.py#f" in found.message


def test_a_header_edit_may_not_move_definitions_under_a_class() -> None:
    before = discover(b"class A:\n    def m(self): ...\n\n    x = 1\n\n    def n(self): ...\n")
    _, _, found = spliced(before, replace(before, "A.@header", "class B:\n", 1))
    assert found is not None


def test_header_lines_that_no_edit_named_are_watched() -> None:
    """A definition whose text swallows or frees header lines is found by them even where no body changes."""
    before = discover(b"def f(): ...\nx = 1\n")
    result, _, _ = spliced(before, replace(before, "f", "def f(): ..."))
    lost = discover(result.source.replace(b"x = 1", b"x = 2"))
    found = breach(before, lost, result.placed)
    assert found is not None
    assert "changes file:module.py#@header" in found.message
    more = discover(result.source + b"class C:\n    x = 1\n")
    found = breach(before, more, result.placed)
    assert found is not None
    assert "changes file:module.py#C.@header" in found.message


def test_bodies_that_no_edit_named_are_watched() -> None:
    result, _, _ = spliced(MODULE, replace(MODULE, "f", "def f(): ..."))
    for source in (
        result.source.replace(b"def g(): ...", b"def g(): pass"),
        result.source.replace(b"def g(): ...\n", b""),
        result.source + b"def more(): ...\n",
        result.source.replace(b"def g(): ...\n", b"class g: ...\n"),
        result.source.replace(b"def g(): ...\n", b"if x:\n    def g(): ...\n"),
    ):
        assert breach(MODULE, discover(source), result.placed) is not None


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_the_last_definition_may_gain_a_line_end(line_end: bytes) -> None:
    before = discover(b"x = 1" + line_end + b"def f(): ...")
    result, after, found = spliced(before, insert(before, "h", "def h(): ..."))
    assert found is None
    assert after.bytes_of(region(after, "f")) == b"def f(): ..." + line_end
    assert result.source.endswith(b"def h(): ..." + line_end)


def test_the_last_header_line_may_gain_a_line_end() -> None:
    before = discover(b"import a\r\nimport b")
    assert spliced(before, insert(before, "h", "def h(): ..."))[2] is None


def test_an_insert_at_the_top_of_a_file_with_a_byte_order_mark() -> None:
    before = discover(b"\xef\xbb\xbfdef f(): ...\nx = 1\n")
    assert spliced(before, insert(before, "h", "def h(): ...", "@header"))[2] is None
    assert spliced(before, Delete(region(before, "f")))[2] is None
    assert spliced(before, replace(before, "@header", "import a\n\n", 0))[2] is None


def test_one_of_several_classes_with_one_name() -> None:
    before = discover(b"class C:\n    def m(self): ...\n\n\nclass C:\n    def m(self): ...\n")
    result, after, found = spliced(before, replace(before, "C~2.@header", "class C(B):\n"))
    assert found is None
    assert placed_region(after, result.placed[0]).key.qualname == "C~2.@header"
    result, after, found = spliced(before, replace(before, "C~1.m", "    def k(self): ..."))
    assert found is None
    assert placed_region(after, result.placed[0]).key.qualname == "C~1.k"


def test_text_that_is_no_region_is_not_found() -> None:
    result, after, _ = spliced(MODULE, replace(MODULE, "f", "x = 1"))
    with pytest.raises(InputError):
        placed_region(after, result.placed[0])
    header = Placed(replace(MODULE, "C.@header", "", 0), 0, 0)
    with pytest.raises(InputError):
        placed_region(discover(b"x = 1\n"), header)


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"], ids=["lf", "crlf"])
def test_every_region_takes_its_own_text(line_end: bytes) -> None:
    before = discover(MODULE.source.replace(b"\n", line_end))
    for each in before.regions[2:]:
        spans = range(len(each.spans)) if each.key.is_header else [None]
        for span in spans:
            text = "\n".join(before.source[slice(*each.spans[span or 0])].decode().splitlines()) + "\n"
            result, _, found = spliced(before, Replace(each, text, span))
            assert (result.source, found) == (before.source, None)
