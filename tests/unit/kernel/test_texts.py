import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.kernel.errors import Code, CommonholdError, InputError
from commonhold.kernel.texts import (
    MAX_HOLDER_LENGTH,
    MAX_TEXT_LENGTH,
    check_holder,
    check_line,
    duration,
    listed,
    quoted,
    short_name,
    short_names,
)


def passes(text: str) -> bool:
    try:
        return check_line(text, "task") == text
    except CommonholdError:
        return False


@given(st.text().filter(passes))
def test_what_passes_is_one_line_of_valid_unicode(text: str) -> None:
    assert len(text.splitlines()) <= 1
    assert text.encode().decode() == text


@pytest.mark.parametrize("text", ["a\nb", "a\x1b[31m", "a\u202eb", "a\u2028b", "a\ud800", "a\u200bb", "a\x85b"])
def test_what_could_deceive_a_reader_is_refused(text: str) -> None:
    with pytest.raises(CommonholdError, match="control character") as caught:
        check_line(text, "task")
    assert caught.value.code is Code.TEXT_INVALID
    assert caught.value.fields == {"field": "task"}


@pytest.mark.parametrize("text", ["", "round to cents", "höhe 日本 \u00a0 \U0001f600", "\ue000"])
def test_any_printable_text_is_taken(text: str) -> None:
    assert check_line(text, "task") == text


def test_a_text_has_a_limit() -> None:
    assert check_line("x" * MAX_TEXT_LENGTH, "task")
    with pytest.raises(CommonholdError, match="at most 2000"):
        check_line("x" * (MAX_TEXT_LENGTH + 1), "task")


@pytest.mark.parametrize("text", ["", " ", "\t"])
def test_a_holder_has_a_name(text: str) -> None:
    with pytest.raises(CommonholdError) as caught:
        check_holder(text)
    assert caught.value.code is Code.HOLDER_MISSING


def test_a_holder_name_has_a_limit() -> None:
    assert check_holder("agent-1") == "agent-1"
    with pytest.raises(CommonholdError) as caught:
        check_holder("x" * (MAX_HOLDER_LENGTH + 1))
    assert caught.value.code is Code.TEXT_INVALID


def test_no_holder_goes_by_the_word_for_none() -> None:
    with pytest.raises(InputError, match="no holder"):
        check_holder("outside")
    assert check_holder("outside-1") == "outside-1"


@given(st.text(max_size=400))
def test_no_words_of_another_end_their_quotation(text: str) -> None:
    told = json.loads(quoted(text))
    assert told == text if len(text) <= 160 else (told[:-1], told[-1]) == (text[:159], "…")
    assert "\n" not in quoted(text)


@given(st.lists(st.text("abc", min_size=1)), st.integers(1, 9))
def test_of_many_names_the_first_are_told_and_how_many_there_are(names: list[str], most: int) -> None:
    first, _, more = listed(names, most).partition(" and ")
    assert first == ", ".join(names[:most])
    assert more == (f"{len(names) - most} more" if len(names) > most else "")


@pytest.mark.parametrize(
    ("holder", "short"),
    [
        ("ann", "ann"),
        ("team:ann", "team:ann"),
        ("refactoring-of-the-billing", "refactoring-of-the-billing"),
        ("claude:26baef9a-7c1e-4c55-9a34-0b1c2d3e4f50", "claude:26baef9a"),
        ("claude:26baef9a-7c1e-4c55-9a34-0b1c2d3e4f50/a8f0c1d2e3f4a5b6", "claude:26baef9a/a8f0"),
        ("claude:26baef9a-7c1e-4c55-9a34-0b1c2d3e4f50/reviewer", "claude:26baef9a/reviewer"),
        ("codex:01997a3b-12ab-7def-8123-4567deadbeef", "codex:deadbeef"),
        ("opencode:ses_5f3a9c2e1ffeAbCdEfGhIjKlMn", "opencode:GhIjKlMn"),
        ("26baef9a-7c1e-4c55-9a34-0b1c2d3e4f50", "26baef9a"),
    ],
)
def test_a_session_is_called_by_a_short_name(holder: str, short: str) -> None:
    assert short_name(holder) == short


def test_several_are_named_once_each() -> None:
    assert short_names(["ann", "bob", "ann"]) == "ann, bob"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-3.0, "less than 1 s"),
        (0.4, "less than 1 s"),
        (1.2, "1 s"),
        (89.0, "89 s"),
        (91.0, "2 min"),
        (540.0, "9 min"),
        (5399.0, "90 min"),
        (7200.0, "2 h"),
        (7500.0, "2 h 5 min"),
        (172799.0, "48 h"),
        (259200.0, "3 days"),
    ],
)
def test_a_time_is_told_as_a_duration(seconds: float, words: str) -> None:
    assert duration(seconds) == words
