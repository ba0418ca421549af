"""Links from sections to keys, and the texts of new notes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.tasks.linking import new_note, note_name, read_links, with_links, without_links
from commonhold.tasks.notes import read_note

ONE = {"a.md#x": ("file:a.py", "gpu:1")}
LINE = st.text(st.characters(exclude_categories=("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")), min_size=1, max_size=40)


def test_links_are_added_once_and_in_order() -> None:
    text = with_links({}, "a.md#x", ["gpu:1", "file:a.py"])
    assert read_links(text) == ONE
    assert with_links(read_links(text), "a.md#x", ["gpu:1"]) == text


def test_links_are_removed_one_by_one_or_all() -> None:
    assert read_links(without_links(ONE, "a.md#x", ["gpu:1", "gpu:2"])) == {"a.md#x": ("file:a.py",)}
    assert read_links(without_links(ONE, "a.md#x", ["gpu:1", "file:a.py"])) == {}
    assert read_links(without_links(ONE, "a.md#x", [])) == {}
    assert read_links(without_links(ONE, "b.md", [])) == ONE


@pytest.mark.parametrize("text", [None, "", "no JSON", "[1]", '{"a.md": 3}', '{"a.md": null}', "3", '"x"', "[" * 9999])
def test_what_is_no_link_is_left_out(text: str | None) -> None:
    assert read_links(text) == {}


def test_what_is_no_key_is_left_out() -> None:
    assert read_links('{"a.md": ["x:1", 3, null, "", "../..", "a.py"]}') == {"a.md": ("x:1",)}


@given(LINE, LINE, st.lists(LINE, max_size=3))
def test_a_new_note_is_read_as_it_was_written(title: str, by: str, applies_to: list[str]) -> None:
    text = new_note("lesson", title, "text\n", date="2026-01-31", by=by, applies_to=applies_to)
    note = read_note("a.md", text.encode())
    assert (note.kind, note.date, note.problem) == ("lesson", "2026-01-31", "")
    assert note.by == " ".join(by.split())
    assert note.applies_to == tuple(each.strip() for each in applies_to if each.strip())
    assert note.sections[-1].text == "text"


@pytest.mark.parametrize(
    ("title", "number", "name"),
    [
        ("Amounts are integers!", 1, "2026-01-31-amounts-are-integers.md"),
        ("../../etc/passwd", 1, "2026-01-31-etc-passwd.md"),
        ("Ä", 2, "2026-01-31-note-2.md"),
        ("x" * 200, 1, f"2026-01-31-{'x' * 60}.md"),
    ],
)
def test_a_note_is_named_by_its_date_and_title(title: str, number: int, name: str) -> None:
    assert note_name("2026-01-31", title, number) == name
