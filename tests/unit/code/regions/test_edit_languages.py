"""Edits in the languages that end their blocks with a sign, and in data: what the candidate looks like."""

import pytest
from tests.unit.code.regions.checks import check_map, insert, region, replace, spliced
from tests.unit.code.regions.test_edit import delete

from commonhold.code.regions.discover import discover
from commonhold.code.regions.edit import RegionEdit, splice
from commonhold.code.regions.region import RegionMap
from commonhold.code.regions.scope import neighbours, placed_region
from commonhold.code.regions.syntax import problem_in
from commonhold.kernel.errors import Code, InputError


def made(before: RegionMap, *edits: RegionEdit) -> str:
    """Give the candidate of edits that are in scope, sound, and leave regions that tile."""
    result, after, breach = spliced(before, *edits)
    check_map(after)
    assert breach is None
    assert problem_in(result.source, before.path, before.source) is None
    return result.source.decode()


JAVASCRIPT = discover(
    b"import a from 'a';\n\nexport class C {\n  one() {\n    return 1;\n  }\n\n  two() {}\n}\n\nfunction f() {}\n",
    "a.js",
)
GO = discover(
    b"package a\n\ntype S struct {\n\tx int\n}\n\nfunc (s *S) Get() int { return s.x }\n\nfunc F() {}\n", "a.go"
)
JAVA = discover(b"class C {\n    int x;\n\n    void one() {}\n\n    void one(int a) {\n    }\n}\n", "A.java")
RUST = discover(b"struct S;\n\nimpl S {\n    #[inline]\n    fn one(&self) {}\n}\n\nfn f() {}\n", "a.rs")
RUBY = discover(b"class C\n  def one\n    1\n  end\nend\n", "a.rb")
JSON = discover(b'{\n  "a": 1,\n  "b": {\n    "c": 2,\n    "d": 3\n  }\n}\n', "a.json")


def test_a_method_goes_above_the_brace_that_ends_its_class() -> None:
    source = made(JAVASCRIPT, insert(JAVASCRIPT, "three", "  three() {}\n", container="C"))
    assert source.endswith("  two() {}\n\n  three() {}\n}\n\nfunction f() {}\n")
    source = made(JAVA, insert(JAVA, "two()", "    void two() {}", container="C"))
    assert source.endswith("    void one(int a) {\n    }\n\n    void two() {}\n}\n")
    source = made(RUST, insert(RUST, "two", "    fn two() {}", container="impl S"))
    assert "    fn one(&self) {}\n\n    fn two() {}\n}\n\nfn f() {}\n" in source
    assert made(RUBY, insert(RUBY, "two", "  def two; end", container="C")) == (
        "class C\n  def one\n    1\n  end\n\n  def two; end\nend\n"
    )


def test_a_member_goes_before_the_first_or_behind_a_sibling() -> None:
    source = made(JAVASCRIPT, insert(JAVASCRIPT, "zero", "  zero() {}\n", after="C.@header", container="C"))
    assert "class C {\n  zero() {}\n\n  one() {\n" in source
    source = made(JAVASCRIPT, insert(JAVASCRIPT, "mid", "  mid() {}\n", after="C.one", container="C"))
    assert "    return 1;\n  }\n\n  mid() {}\n\n  two() {}\n}\n" in source


def test_a_member_of_an_empty_class_stands_directly_below_its_brace() -> None:
    before = discover(b"class C {\n}\n", "a.ts")
    assert made(before, insert(before, "m", "  m() {}", container="C")) == "class C {\n  m() {}\n}\n"
    before = discover(b"class C\nend\n", "a.rb")
    assert made(before, insert(before, "m", "  def m; end", container="C")) == "class C\n  def m; end\nend\n"


def test_a_function_at_the_end_of_a_file_gets_one_blank_line() -> None:
    assert made(GO, insert(GO, "G", "func G() {}")).endswith("func F() {}\n\nfunc G() {}\n")
    assert (
        made(GO, insert(GO, "S:Set", "func (s *S) Set() {}", after="S:Get")).count("\n\nfunc (s *S) Set() {}\n\n") == 1
    )


def test_an_overload_is_another_definition() -> None:
    source = made(JAVA, insert(JAVA, "one(String)", "    void one(String a) {}", after="C.one()", container="C"))
    assert "void one() {}\n\n    void one(String a) {}\n\n    void one(int a) {\n" in source


def test_a_definition_is_replaced_with_its_attributes() -> None:
    assert made(RUST, replace(RUST, "impl S.one", "    /// doc\n    fn one(&self) { 1; }")) == (
        "struct S;\n\nimpl S {\n    /// doc\n    fn one(&self) { 1; }\n}\n\nfn f() {}\n"
    )
    assert "func (s *S) Get() int { return 2 }\n\nfunc F" in made(
        GO, replace(GO, "S:Get", "func (s *S) Get() int { return 2 }")
    )
    assert "  one() { return 2; }\n\n  two" in made(JAVASCRIPT, replace(JAVASCRIPT, "C.one", "  one() { return 2; }"))


def test_what_is_deleted_leaves_no_blank_line_above_a_brace() -> None:
    assert made(JAVASCRIPT, delete(JAVASCRIPT, "C.two")).endswith("    return 1;\n  }\n}\n\nfunction f() {}\n")
    assert made(GO, delete(GO, "S:Get")) == "package a\n\ntype S struct {\n\tx int\n}\n\nfunc F() {}\n"
    assert made(JAVA, delete(JAVA, "C.one(int)")) == "class C {\n    int x;\n\n    void one() {}\n}\n"


def test_the_header_of_a_class_is_replaced_by_span() -> None:
    source = made(JAVA, replace(JAVA, "C.@header", "class C {\n    int y;\n", 0))
    assert source.startswith("class C {\n    int y;\n\n    void one() {}\n")


@pytest.mark.parametrize(
    ("before", "name", "text"),
    [
        (JAVASCRIPT, "C.one", "  one() {}\n  more() {}"),
        (JAVASCRIPT, "f", "class D { f() {} }"),
        (GO, "F", "func F() {\n"),
        (RUST, "f", "fn f() {}\nfn g() {}"),
        (JAVA, "C.one()", "    void one() {} }"),
    ],
)
def test_a_text_that_is_not_just_the_definition_is_out_of_scope_or_broken(
    before: RegionMap, name: str, text: str
) -> None:
    result, _, breach = spliced(before, replace(before, name, text))
    renamed = breach is None and problem_in(result.source, before.path, before.source) is None
    assert not renamed or name == "f"


def test_a_class_with_its_body_on_one_line_takes_no_insert() -> None:
    before = discover(b"class C { m() {} }\n", "a.js")
    with pytest.raises(InputError, match="body on the line of its name") as caught:
        splice(before, [insert(before, "n", "  n() {}", container="C")])
    assert caught.value.code is Code.CHANGESET_INVALID


class TestEntries:
    """Entries of JSON have commas between them: the edit sees to them."""

    def test_the_last_entry_gets_a_comma_when_another_follows(self) -> None:
        assert made(JSON, insert(JSON, "e", '  "e": 4')).endswith('  },\n  "e": 4\n}\n')
        assert '    "d": 3,\n    "e": 4\n  }\n}' in made(JSON, insert(JSON, "e", '    "e": 4,', container="b"))

    def test_an_entry_in_the_middle_has_one(self) -> None:
        assert '"a": 1,\n  "e": 4,\n  "b"' in made(JSON, insert(JSON, "e", '  "e": 4', after="a"))
        assert made(JSON, insert(JSON, "e", '  "e": 4,', after="@header")).startswith('{\n  "e": 4,\n  "a": 1,')

    def test_several_at_one_place(self) -> None:
        edits = [insert(JSON, name, f'    "{name}": 4', container="b") for name in "xyz"]
        assert '"d": 3,\n    "x": 4,\n    "y": 4,\n    "z": 4\n  }\n' in made(JSON, *edits)

    def test_a_replaced_entry_keeps_what_it_needs(self) -> None:
        assert '"a": 5,\n' in made(JSON, replace(JSON, "a", '  "a": 5'))
        assert '"d": 5\n  }' in made(JSON, replace(JSON, "b.d", '    "d": 5,'))
        assert '"b": [\n    1\n  ]\n}' in made(JSON, replace(JSON, "b", '  "b": [\n    1\n  ]'))

    def test_the_entry_before_a_deleted_last_one_loses_its_comma(self) -> None:
        assert '"c": 2\n  }\n}' in made(JSON, delete(JSON, "b.d"))
        assert made(JSON, delete(JSON, "b")) == '{\n  "a": 1\n}\n'
        assert made(JSON, delete(JSON, "a")).startswith('{\n  "b": {\n')
        _, _, breach = spliced(JSON, delete(JSON, "b.c"), delete(JSON, "b.d"))
        assert breach is not None
        assert "add an edit for file:a.json#b" in breach.hint

    def test_commas_in_texts_and_comments_are_none(self) -> None:
        before = discover(b'{\n  "a": "x,", // why,\n  "b": "//y" // no comma\n}\n', "a.jsonc")
        assert made(before, insert(before, "c", '  "c": 1')) == (
            '{\n  "a": "x,", // why,\n  "b": "//y", // no comma\n  "c": 1\n}\n'
        )

    def test_where_it_cannot_be_made_right_the_gate_refuses(self) -> None:
        before = discover(b'{"a": 1}\n', "a.json")
        result, _, breach = spliced(before, insert(before, "b", '"b": 2'))
        assert breach is not None
        assert problem_in(result.source, "a.json", before.source) is not None

    def test_cells_of_a_notebook(self) -> None:
        before = discover(b'{\n "cells": [\n  {\n   "id": "a"\n  }\n ],\n "nbformat": 4\n}\n', "a.ipynb")
        source = made(before, insert(before, "b", '  {\n   "id": "b"\n  }'))
        assert source == '{\n "cells": [\n  {\n   "id": "a"\n  },\n  {\n   "id": "b"\n  }\n ],\n "nbformat": 4\n}\n'
        assert made(before, delete(before, "a")) == '{\n "cells": [\n ],\n "nbformat": 4\n}\n'


class TestDocuments:
    """Sections, keys and paragraphs."""

    def test_a_section_is_inserted_below_its_siblings(self) -> None:
        before = discover(b"# T\n\nx\n\n## A\n\na\n\n# U\n", "a.md")
        source = made(before, insert(before, "B", "## B\n\nb\n", container="T"))
        assert source == "# T\n\nx\n\n## A\n\na\n\n## B\n\nb\n\n# U\n"

    def test_a_heading_of_a_higher_rank_lies_elsewhere(self) -> None:
        before = discover(b"# T\n\n## A\n", "a.md")
        _, _, breach = spliced(before, insert(before, "B", "# B\n", container="T"))
        assert breach is not None
        assert "another container" in breach.message

    def test_a_key_of_yaml_stands_without_a_blank_line(self) -> None:
        before = discover(b"a: 1\nb:\n  c: 2\n", "a.yaml")
        assert made(before, insert(before, "d", "  d: 3", container="b")) == "a: 1\nb:\n  c: 2\n  d: 3\n"
        assert made(before, insert(before, "e", "e: 3", after="a")) == "a: 1\ne: 3\nb:\n  c: 2\n"

    def test_a_table_of_toml_is_parted_and_its_keys_are_not(self) -> None:
        before = discover(b"[a]\nx = 1\n\n[b]\ny = 2\n", "a.toml")
        assert made(before, insert(before, "z", "z = 3", container="a")).startswith("[a]\nx = 1\n")
        assert made(before, delete(before, "b")) == "[a]\nx = 1\n"

    def test_a_paragraph_may_be_inserted_under_any_name(self) -> None:
        before = discover(b"One.\n\nTwo.\n", "a.txt")
        result, after, breach = spliced(before, insert(before, "new", "In between.", after="One"))
        assert (result.source, breach) == (b"One.\n\nIn between.\n\nTwo.\n", None)
        assert str(placed_region(after, result.placed[0]).key) == "file:a.txt#In between"

    def test_a_rule_of_css(self) -> None:
        before = discover(b"a { b: c }\n\n@media print {\n  d { e: f }\n}\n", "a.css")
        source = made(before, insert(before, "g", "  g { h: i }", container="@media print"))
        assert source.endswith("  d { e: f }\n\n  g { h: i }\n}\n")

    def test_a_statement_of_sql_may_be_replaced_and_renamed(self) -> None:
        before = discover(b"SELECT 1;\nCREATE TABLE a (x int);\n", "a.sql")
        assert made(before, replace(before, "CREATE TABLE a", "CREATE TABLE b (x int);")).endswith("TABLE b (x int);\n")
        result, _, _ = spliced(before, replace(before, "SELECT", "SELECT 'x;"))
        assert problem_in(result.source, "a.sql", before.source) is not None


def test_names_are_found_as_people_write_them() -> None:
    assert region(GO, "S.Get").key.qualname == "S:Get"
    assert region(RUST, "impl S.one").key.qualname == "impl S.one"
    assert region(discover(b"# A\n\n## 1.2 x/y\n", "a.md"), "A.1.2 x/y").key.qualname == "A.1%2E2 x%2Fy"
    assert region(discover(b"[tool.ruff]\nx.y = 1\n", "a.toml"), "tool.ruff.x.y").key.qualname == "tool:ruff.x:y"
    with pytest.raises(InputError) as caught:
        region(JAVA, "C.one")
    assert caught.value.code is Code.REGION_AMBIGUOUS
    assert caught.value.fields["choices"] == ["file:A.java#C.one()", "file:A.java#C.one(int)"]


def test_a_neighbour_whose_comma_comes_or_goes_is_told() -> None:
    for edit, name in ((insert(JSON, "e", '    "e": 4', container="b"), "b.d"), (delete(JSON, "b.d"), "b.c")):
        result, after, _ = spliced(JSON, edit)
        pairs = list(neighbours(JSON, after, result.placed))
        assert [(old.key.qualname, new.key.qualname) for old, new in pairs] == [(name, name)]
    result, after, _ = spliced(JAVASCRIPT, insert(JAVASCRIPT, "g", "function g() {}"))
    assert list(neighbours(JAVASCRIPT, after, result.placed)) == []
    result, after, _ = spliced(JSON, replace(JSON, "a", '  "a": 5,'))
    assert list(neighbours(JSON, after, result.placed)) == []
