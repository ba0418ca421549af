"""Entries in a user's JSON: what goes in comes out again, and not one byte of the rest moves."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.agents.json_entries import Entry, InTheWayError, installed, is_installed, removed, taken
from commonhold.agents.json_text import NotJsonError, parse

OURS = "knocks"


def is_ours(value: Any) -> bool:
    return isinstance(value, dict) and value.get("by") == OURS


def entry(event: str, number: int = 1) -> Entry:
    return Entry(("hooks", event), {"by": OURS, "number": number})


ENTRIES = (entry("Before"), entry("After"), Entry(("servers",), {"by": OURS}, "commonhold"))

BLANKS = st.sampled_from(
    ["", " ", "\n", "\n  ", "\r\n\t", " // it's {mine}, [not] yours\n", '/* " */', "\n/* a\n b */ "]
)
SCALARS = st.sampled_from(["1", "-2.5e3", "true", "null", '"text"', '"a \\" } ] // b"', '"\\u00e9\\\\"', '"é"'])


@st.composite
def written(draw: st.DrawFn, items: Sequence[str], names: Sequence[str] | None) -> str:
    """An array, or an object with these names, as somebody wrote it: any blanks, comments, perhaps a comma too many."""
    blank = iter(draw(st.lists(BLANKS, min_size=4 * len(items) + 1, max_size=4 * len(items) + 1)))
    keys = [""] * len(items) if names is None else [f'{next(blank)}"{name}"{next(blank)}:' for name in names]
    parts = [f"{key}{next(blank)}{item}{next(blank)}" for key, item in zip(keys, items, strict=True)]
    comma = draw(st.sampled_from(["", ","])) if items else ""
    body = ",".join(parts) + comma + next(blank)
    return f"[{body}]" if names is None else f"{{{body}}}"


def arrays(inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(inside, max_size=3).flatmap(lambda items: written(items, None))


def objects(members: Mapping[str, st.SearchStrategy[str]]) -> st.SearchStrategy[str]:
    """Any of these members, in any order."""
    some = st.lists(st.sampled_from(sorted(members)), unique=True)
    return some.flatmap(
        lambda names: st.tuples(*(members[name] for name in names)).flatmap(lambda items: written(items, names))
    )


VALUES = st.recursive(
    SCALARS, lambda inside: arrays(inside) | objects(dict.fromkeys(("a", "b\\n", "command"), inside)), max_leaves=5
)
HOOKS = objects({"Before": arrays(VALUES), "After": arrays(VALUES), "Other": VALUES})
ANYTHING = st.builds("".join, st.tuples(BLANKS, VALUES, BLANKS))
CONFIGURATION = objects({"hooks": HOOKS, "servers": objects({"mine": VALUES}), "a": VALUES})
TEXTS = st.builds("".join, st.tuples(BLANKS, CONFIGURATION, BLANKS))


def plain(text: str) -> Any:
    return parse(text).value


def without_ours(value: Any) -> Any:
    """The same less entries of ours, and less what then holds nothing."""
    if isinstance(value, dict):
        kept = {name: without_ours(each) for name, each in value.items() if not is_ours(each)}
        return {name: each for name, each in kept.items() if each not in ({}, [])}
    if isinstance(value, list):
        return [without_ours(each) for each in value if not is_ours(each)]
    return value


@given(TEXTS)
def test_what_is_put_in_comes_out_again(text: str) -> None:
    made = installed(text, ENTRIES, is_ours)
    assert is_installed(made, ENTRIES, is_ours)
    assert installed(made, ENTRIES, is_ours) == made
    assert without_ours(plain(made)) == without_ours(plain(text))
    assert removed(made, ENTRIES, is_ours) == text


@given(TEXTS | ANYTHING)
def test_what_is_not_ours_is_never_taken(text: str) -> None:
    assert removed(text, ENTRIES, is_ours) == text


@given(TEXTS, st.integers(2, 5))
def test_what_an_earlier_version_put_in_is_replaced(text: str, number: int) -> None:
    old = installed(text, [entry("Before", number), entry("Gone", number)], is_ours)
    assert removed(installed(old, ENTRIES[:2], is_ours), ENTRIES, is_ours) == text


@pytest.mark.parametrize("text", [None, "", " \n", "{}", "{ }\n", "{\n}\n", "{\n    // mine\n}", '{"hooks": {}}\n'])
def test_files_that_hold_nothing(text: str | None) -> None:
    made = installed(text, ENTRIES, is_ours)
    assert is_installed(made, ENTRIES, is_ours)
    assert removed(made, ENTRIES, is_ours) == text


def test_it_is_written_as_the_rest_is() -> None:
    text = '{\r\n    "hooks": {\r\n        "Before": [\r\n            1\r\n        ]\r\n    }\r\n}\r\n'
    made = installed(text, ENTRIES[:1], is_ours)
    assert made == (
        '{\r\n    "hooks": {\r\n        "Before": [\r\n            1,\r\n            {\r\n'
        '                "by": "knocks",\r\n                "number": 1\r\n            }\r\n        ]\r\n    }\r\n}\r\n'
    )


def test_what_the_user_adds_afterwards_stays() -> None:
    made = installed('{\n  "a": 1\n}\n', ENTRIES, is_ours)
    changed = made.replace('"After": [', '"After": [\n      "mine",').replace('"a": 1', '"a": 2')
    assert plain(removed(changed, ENTRIES, is_ours) or "") == {"a": 2, "hooks": {"After": ["mine"]}}


def test_what_is_missing_or_changed_is_seen() -> None:
    made = installed("{}", ENTRIES, is_ours)
    assert not is_installed("{}", ENTRIES, is_ours)
    assert not is_installed(made.replace('"number": 1', '"number": 9', 1), ENTRIES, is_ours)
    assert not is_installed(made, ENTRIES[:1], is_ours)


def test_a_name_that_is_taken_is_left_to_whom_it_belongs() -> None:
    text = '{"servers": {"commonhold": {"url": "mine"}}}'
    made = installed(text, ENTRIES, is_ours)
    assert plain(made)["servers"] == {"commonhold": {"url": "mine"}}
    assert [each.key for each in taken(text, ENTRIES, is_ours)] == ["commonhold"]
    assert removed(made, ENTRIES, is_ours) == text


@pytest.mark.parametrize("text", ['{"hooks": 1}', '{"hooks": {"Before": {}}}', "[]", '"text"'])
def test_what_is_in_the_way(text: str) -> None:
    with pytest.raises(InTheWayError):
        installed(text, ENTRIES, is_ours)


@pytest.mark.parametrize(
    ("text", "line"),
    [("{", 1), ('{"a": 1\n"b": 2}', 2), ("{}\n\nx", 3), ('{"a" 1}', 1), ("{1: 2}", 1), ("[tru]", 1), ("[" * 200, 1)],
)
def test_what_is_no_json_is_told_with_its_line(text: str, line: int) -> None:
    with pytest.raises(NotJsonError) as told:
        parse(text)
    assert told.value.line == line


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
        lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
        max_leaves=20,
    )
)
def test_plain_json_is_read_as_python_reads_it(value: Any) -> None:
    for indent in (None, 2):
        assert parse(json.dumps(value, indent=indent)).value == value
    assert parse("\ufeff" + json.dumps(value, ensure_ascii=False)).value == value


@given(st.text('{}[]",:/*\\n1 a\n'))
def test_rubbish_is_refused_and_nothing_worse(text: str) -> None:
    with suppress(NotJsonError):
        assert parse(text).end <= len(text)
