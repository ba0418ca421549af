"""What is new among complaints: counted by what they say, whatever line they are on."""

from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.code.type_checkers import Diagnostic
from commonhold.typecheck.difference import newly_said

pytestmark = pytest.mark.slow

PATHS = st.sampled_from(["a.py", "b.py"])
ONE = st.builds(Diagnostic, PATHS, st.integers(1, 9), st.sampled_from("xyz"), st.sampled_from(["", "rule"]))
MANY = st.lists(ONE, max_size=12)
TEXT = st.lists(st.sampled_from("pqr"), max_size=9).map("\n".join)
TEXTS = st.fixed_dictionaries({"a.py": TEXT, "b.py": TEXT})
Findings = Mapping[str, list[Diagnostic]]


def by_path(many: list[Diagnostic]) -> Findings:
    return {path: [one for one in many if one.path == path] for path in ("a.py", "b.py")}


def kinds(many: tuple[Diagnostic, ...] | list[Diagnostic]) -> Counter[tuple[str, str, str]]:
    return Counter((one.path, one.code, one.message) for one in many)


@given(MANY, MANY, TEXTS, TEXTS)
def test_it_is_the_difference_of_two_bags(
    old: list[Diagnostic], new: list[Diagnostic], texts: dict[str, str], new_texts: dict[str, str]
) -> None:
    found = newly_said(by_path(old), by_path(new), texts, new_texts)
    assert kinds(found) == kinds(new) - kinds(old)
    assert not Counter(found) - Counter(new)
    assert list(found) == sorted(found, key=lambda one: (one.path, one.line))


@given(MANY, TEXTS, st.integers(1, 5))
def test_lines_that_move_are_nothing_new(many: list[Diagnostic], texts: dict[str, str], by: int) -> None:
    moved = [Diagnostic(one.path, one.line + by, one.message, one.code) for one in many]
    new_texts = {path: "\n" * by + text for path, text in texts.items()}
    assert newly_said(by_path(many), by_path(moved), texts, new_texts) == ()


FEW_LINES = {"a.py": "p\n" * 9}
RESTATED = {
    "another type is quoted": ("x `str`", "x `str | None`", 3, True),
    "in other quotes": ("x 'str' of \"f\"", "x 'int' of \"g\"", 3, True),
    "a number is another": ("expects 2 arguments", "expects 3 arguments", 3, True),
    "on another line": ("x `str`", "x `int`", 4, False),
    "another message": ("x `str`", "y `str`", 3, False),
}


@pytest.mark.parametrize("case", RESTATED)
def test_a_complaint_that_quotes_another_text_is_not_new(case: str) -> None:
    said, now, line, is_old = RESTATED[case]
    old, new = Diagnostic("a.py", 3, said, "rule"), Diagnostic("a.py", line, now, "rule")
    found = newly_said({"a.py": [old]}, {"a.py": [new]}, FEW_LINES, FEW_LINES)
    assert found == (() if is_old else (new,))


def test_each_old_complaint_is_restated_once() -> None:
    old = [Diagnostic("a.py", 3, "x `str`", "rule")]
    new = [Diagnostic("a.py", 3, "x `int`", "rule"), Diagnostic("a.py", 3, "x `float`", "rule")]
    assert len(newly_said({"a.py": old}, {"a.py": new}, FEW_LINES, FEW_LINES)) == 1


def test_a_complaint_that_stays_takes_the_place_of_no_other() -> None:
    old = [Diagnostic("a.py", 3, "x `str`", "rule")]
    new = [*old, Diagnostic("a.py", 3, "x `int`", "rule")]
    assert newly_said({"a.py": old}, {"a.py": new}, FEW_LINES, FEW_LINES) == (new[1],)


def test_a_restated_complaint_moves_with_its_line() -> None:
    old, new = Diagnostic("a.py", 3, "x `str`", "rule"), Diagnostic("a.py", 5, "x `int`", "rule")
    assert newly_said({"a.py": [old]}, {"a.py": [new]}, FEW_LINES, {"a.py": "q\nq\n" + FEW_LINES["a.py"]}) == ()


@given(MANY)
def test_what_went_with_a_file_may_come_with_another(many: list[Diagnostic]) -> None:
    old = [Diagnostic("old.py", one.line, one.message, one.code) for one in many]
    new = [Diagnostic("new.py", one.line, one.message, one.code) for one in many]
    assert newly_said({"old.py": old}, {"new.py": new}, {"old.py": ""}, {"new.py": ""}) == ()


@pytest.mark.parametrize(
    ("text", "new_text", "lines", "new_lines", "named"),
    [
        ("f\ng\n", "f\nf\ng\n", [1], [1, 2], [2]),  # one came below
        ("g\nf\n", "f\ng\nf\n", [2], [1, 3], [1]),  # one came above, and the old one moved
        ("f\n", "f\n", [1], [1, 1], [1]),  # one more on the same line
        ("a\nf\n", "f\nb\nf\n", [2], [1, 3], [1]),
        ("f\nf\n", "f\n", [1, 2], [1], []),
    ],
)
def test_of_several_alike_the_new_one_is_named(
    text: str, new_text: str, lines: list[int], new_lines: list[int], named: list[int]
) -> None:
    old = {"a.py": [Diagnostic("a.py", line, "m") for line in lines]}
    new = {"a.py": [Diagnostic("a.py", line, "m") for line in new_lines]}
    assert [one.line for one in newly_said(old, new, {"a.py": text}, {"a.py": new_text})] == named
