"""A block of ours in a text of the user's: in and out again, to the byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.agents.marked_block import HASH, MARKDOWN, Marks, UnendedError, block_in, removed, replaced

TEXTS = st.none() | st.lists(st.sampled_from(["a", " ", "\t", "#", "<!--", "-->", "[b]", "\n", "\r\n", "\r"])).map(
    "".join
)
BODIES = st.lists(st.text("ab =[].\u2028\x0c", min_size=1, max_size=6), min_size=1, max_size=4).map("\n".join)


@given(TEXTS, BODIES, st.sampled_from([HASH, MARKDOWN]))
def test_what_is_put_in_comes_out_again(text: str | None, body: str, marks: Marks) -> None:
    made = replaced(text, body, marks)
    assert made is not None
    assert made.startswith(text or "")
    assert block_in(made, marks) == body
    assert replaced(made, body, marks) == made
    assert removed(made, marks) == text


@given(TEXTS, BODIES, BODIES)
def test_another_body_takes_its_place(text: str | None, body: str, other: str) -> None:
    made = replaced(replaced(text, body, HASH), other, HASH)
    assert made == replaced(text, other, HASH)
    assert replaced(made, "", HASH) == text


@given(TEXTS, BODIES, st.text("ab\n", min_size=1))
def test_what_is_written_below_stays_whole_lines(text: str | None, body: str, below: str) -> None:
    made = replaced(text, body, HASH)
    assert made is not None
    apart = "" if made.endswith("\n") else "\n"
    left = removed(made + apart + below, HASH)
    assert left is not None
    assert left.split() == (text or "").split() + below.split()


@pytest.mark.parametrize(
    "text", ["# commonhold: begin\na\n", "a\n# commonhold: end\n", "# commonhold: end\n# commonhold: begin\n"]
)
def test_half_a_block_is_not_touched(text: str) -> None:
    with pytest.raises(UnendedError):
        replaced(text, "b", HASH)
