"""Markdown files, in numbered sections."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.tasks.notes import MOST_BYTES, read_note

LINES = st.sampled_from(
    ["# A", "## A", "### B", "#### C", "text", "", "===", "---", "```", "~~~", "- item", "    # code", "#no", "## B ##"]
)


def outline(text: str) -> list[tuple[str, str, int]]:
    return [(each.number, each.title, each.line) for each in read_note("a.md", text.encode()).sections]


def test_headings_are_numbered_as_in_a_table_of_contents() -> None:
    text = "# Title\nintro\n## One\n### One one\n### One two\n## Two\n### Two one\n"
    assert outline(text) == [
        ("0", "Title", 1),
        ("1", "One", 3),
        ("1.1", "One one", 4),
        ("1.2", "One two", 5),
        ("2", "Two", 6),
        ("2.1", "Two one", 7),
    ]


def test_without_a_title_headings_of_the_first_level_are_numbered() -> None:
    assert outline("before\n# One\n## Below\n# Two\n") == [
        ("0", "", 1),
        ("1", "One", 2),
        ("1.1", "Below", 3),
        ("2", "Two", 4),
    ]


def test_skipped_levels_give_no_number_twice() -> None:
    assert [number for number, *_ in outline("### a\n## b\n### c\n#### d\n## e\n# f\n")] == [
        "1", "2", "2.1", "2.1.1", "3", "4",
    ]  # fmt: skip


def test_a_section_knows_its_text_and_the_headings_above_it() -> None:
    note = read_note("a.md", b"# T\n\n## One\n\ntext\n\n### Below\n\nmore\n")
    assert [(each.trail, each.text) for each in note.sections] == [((), ""), (("T",), "text"), (("T", "One"), "more")]
    assert [each.name for each in note.sections] == ["a.md#0", "a.md#1", "a.md#1.1"]


def test_underlined_headings_count_and_code_does_not() -> None:
    code = "```sh\n# no heading\n```\n~~~\n## none\n```\n~~~\n\n    # code\n#none\n- item\n---\n"
    text = f"Title\n=====\n\nPart\n----\n{code}"
    assert outline(text) == [("0", "Title", 1), ("1", "Part", 4)]


def test_a_heading_may_be_closed() -> None:
    assert [title for _, title, _ in outline("## A ##\n## B#\n##\n## ## \n##\tC # d #\n")] == [
        "A",
        "B#",
        "",
        "",
        "C # d",
    ]


def test_front_matter_that_is_too_long_is_left_out() -> None:
    assert read_note("a.md", f"---\nkind: lesson\nby: {'x' * 16_384}\n---\n# T\n".encode()).kind == ""


def test_an_open_fence_goes_on_to_the_end() -> None:
    assert outline("# T\n````\n```\n## no\n") == [("0", "T", 1)]


def test_anchors_are_those_of_git_hosts() -> None:
    note = read_note("a.md", "# A.1 `x` & Ä\n## Same\n## Same\n".encode())
    assert [each.anchor for each in note.sections] == ["a1-x--ä", "same", "same-1"]


def test_front_matter_is_read_and_is_no_text() -> None:
    note = read_note(
        "a.md",
        b"\xef\xbb\xbf---\r\nkind: lesson\r\ndate: 2026-01-31\r\nby: ann\r\napplies_to: src/\r\n---\r\n# T\r\nx\r\n",
    )
    assert (note.kind, note.date, note.by, note.applies_to) == ("lesson", "2026-01-31", "ann", ("src/",))
    assert [(each.line, each.text) for each in note.sections] == [(6 + 1, "x")]


@pytest.mark.parametrize(
    "matter", ["- a list", "kind: [", "a: &a [*a]", "kind: {x: y}", "!!python/object:os.system x", "applies_to: 3", ""]
)
def test_front_matter_that_cannot_be_understood_is_left_out(matter: str) -> None:
    note = read_note("a.md", f"---\n{matter}\n---\n# T\n".encode())
    assert (note.kind, note.applies_to, note.problem, note.sections[0].title) == ("", (), "", "T")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a\0b", "it is binary: it has a NUL byte"),
        (b"abc \xff", "it is not UTF-8: byte 4 cannot be decoded"),
        (b"a" * (MOST_BYTES + 1), "it has 1000001 bytes, and a note has at most 1000000"),
    ],
)
def test_a_file_that_is_no_text_is_a_note_with_a_problem(content: bytes, problem: str) -> None:
    note = read_note("a.md", content)
    assert (note.problem, note.sections) == (problem, ())


@given(st.lists(LINES, max_size=30).map("\n".join))
def test_no_number_is_given_twice_and_no_line_is_lost(text: str) -> None:
    sections = read_note("a.md", text.encode()).sections
    assert len({each.number for each in sections}) == len(sections)
    assert [each.line for each in sections] == sorted({each.line for each in sections})
    kept = [line for each in sections for line in (each.title, *each.text.split("\n"))]
    assert [line for line in text.split("\n") if line == "text"] == [line for line in kept if line == "text"]


@given(st.binary(max_size=200))
def test_no_bytes_make_it_fail(content: bytes) -> None:
    assert read_note("a.md", content).path == "a.md"


@pytest.mark.parametrize("value", ["!!timestamp soon", "!!bool x", "!!int ''"])
def test_a_value_that_is_not_of_its_own_type_leaves_the_note_without_fields(value: str) -> None:
    note = read_note("a.md", f"---\nkind: lesson\ndate: {value}\n---\n# Title\n".encode())
    assert (note.kind, [each.title for each in note.sections]) == ("", ["Title"])
