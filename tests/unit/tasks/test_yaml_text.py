"""YAML from others: whatever is in it, it is a value or a ValueError, and soon."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.kernel.errors import Code, InputError
from commonhold.tasks.claim_files import task
from commonhold.tasks.notes import read_note
from commonhold.tasks.plans import read_plan
from commonhold.tasks.yaml_text import read_yaml, text_of

ALIASES = b"".join(b"x%d: &x%d [%s]\n" % (n, n, b", ".join([b"*x%d" % (n - 1)] * 9)) for n in range(1, 12))
BOMB = b"x0: &x0 [a]\n" + ALIASES
MERGES = b"x0: &x0 {a: 1}\n" + ALIASES.replace(b"[", b"{<<: [").replace(b"]", b"]}")
ODD = [
    b"title: !!timestamp soon\n",
    b"title: !!int ''\n",
    b"title: !!bool maybe\n",
    b"title: !!float x\n",
    b"title: !!binary x\n",
    b"title: !!python/object:os.system x\n",
    b"title: &a [*a]\n",
    b"title: 2026-99-99\n",
    b"title: 0x" + b"f" * 8_000 + b"\n",
    b"title: " + b"9" * 8_000 + b"\n",
    b"title: " + b"1" * 400 + b"\n",
    b"priority: " + b"1" * 400 + b"\n",
    b"? [a]\n: b\n",
    b"? {a: b}\n: b\n",
    b"<<: 1\n",
    b"[" * 5_000,
    b"\xff\xfe\x00\xd8",
    BOMB + b"title: *x11\n",
    MERGES + b"title: *x11\n",
]


@pytest.mark.parametrize("content", ODD)
def test_odd_values_are_problems_of_the_file_that_has_them(content: bytes) -> None:
    assert task("fix", content).problem
    with pytest.raises(InputError) as refused:
        read_plan(b"tasks:\n- " + content.replace(b"\n", b"\n  "), 0.0)
    assert refused.value.code is Code.PLAN_INVALID
    assert read_note("n.md", b"---\n" + content + b"---\n# Title\n").kind == ""


@given(st.binary(max_size=60) | st.text("!&*<:[]{}?-.| \nabx019'\"", max_size=40).map(str.encode))
def test_rubbish_is_a_value_or_a_value_error(content: bytes) -> None:
    said = ""
    try:
        said = text_of({"a": read_yaml(content)}, "a") or ""
    except ValueError as fault:
        said = str(fault) or "\n"
    assert "\n" not in said


def test_aliases_are_read() -> None:
    assert read_yaml("a: &a [1]\nb: *a\nc: {<<: {d: 1}}\n") == {"a": [1], "b": [1], "c": {"d": 1}}


def test_a_text_is_the_first_field_that_is_set_as_one_line() -> None:
    assert text_of({"title": "", "task": "a\n b"}, "title", "task") == "a b"
    assert text_of({"title": 404}, "title", "task") == "404"
    assert text_of({}, "title") == ""
    assert text_of({"title": ["a"]}, "title") is None
