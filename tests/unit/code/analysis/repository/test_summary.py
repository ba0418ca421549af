"""A summary answers from tables what a look at all of its definitions would answer."""

from hypothesis import given
from hypothesis import strategies as st

from commonhold.code.analysis.module_definitions import Sort
from commonhold.code.analysis.repository.summary import Offer, Summary

spans = st.tuples(st.integers(1, 12), st.integers(0, 12), st.sampled_from((Sort.FUNCTION, Sort.CLASS, Sort.VALUE)))


@given(st.lists(spans, max_size=8), st.integers(0, 26))
def test_the_innermost_definition_around_a_line_is_the_last_to_begin(
    found: list[tuple[int, int, Sort]], line: int
) -> None:
    offers = tuple(
        Offer(qualname=f"d{number}", sort=sort, line=first, end_line=first + more)
        for number, (first, more, sort) in enumerate(found)
    )
    around = [each for each in offers if each.sort is not Sort.VALUE and each.line <= line <= each.end_line]
    expected = max(around, key=lambda each: each.line).qualname if around else ""
    assert Summary("python", offers).definition_at(line) == expected
