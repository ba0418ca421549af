"""Arguments of calls: what the state can keep, and what it cannot, wherever it stands in them."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.kernel.arguments import GREATEST, check_arguments
from commonhold.kernel.errors import CommonholdError


@dataclass(frozen=True)
class Record:
    """A value inside of a record."""

    value: Any


def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        st.tuples(inner)
        | st.lists(inner, min_size=1, max_size=2)
        | st.dictionaries(st.just("key"), inner, min_size=1)
        | st.builds(Record, inner)
    )


NUMBERS = st.integers(-GREATEST - 1, GREATEST)
KEPT = st.text(st.characters(codec="utf-8")) | NUMBERS | st.booleans() | st.none() | st.binary() | st.floats()
LOST = st.integers(min_value=GREATEST + 1) | st.integers(max_value=-GREATEST - 2) | st.just("a\ud800b")


@given(st.recursive(KEPT, around, max_leaves=4))
def test_what_the_state_can_keep_is_taken(value: Any) -> None:
    check_arguments(value)


@given(st.recursive(LOST, around, max_leaves=4))
def test_what_it_cannot_keep_is_refused_wherever_it_stands(value: Any) -> None:
    with pytest.raises(CommonholdError) as refused:
        check_arguments(1, value)
    assert refused.value.code in ("TEXT_INVALID", "USAGE")


def test_a_key_of_a_map_is_looked_at_too() -> None:
    with pytest.raises(CommonholdError):
        check_arguments({"a\udcff": 1})
