"""States of a repository that follow each other: each shares what has not changed, and answers for its own files."""

import tracemalloc
from collections.abc import Mapping, Sequence
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.index import snapshot
from commonhold.index.cache import NONE
from commonhold.index.snapshot import Shelved
from commonhold.index.summary_cache import SummaryCache

PATHS = [f"p{number}.py" for number in range(6)]
NUMBERS = st.integers(1, 9)


class Stock:
    """Stands for the cache: a summary with an odd number uses and defines `odd`, one with an even number `even`."""

    @property
    def cache(self) -> "Stock":
        return self

    def users(self, name: str) -> Sequence[int]:
        return [number for number in range(1, 10) if number % 2 == (name == "odd")]

    definers = users


def shelved(numbers: Mapping[str, int]) -> Shelved:
    return Shelved(numbers, frozenset(numbers), cast("SummaryCache", Stock()))


@given(
    st.dictionaries(st.sampled_from(PATHS), NUMBERS, min_size=1),
    st.lists(st.dictionaries(st.sampled_from(PATHS), NUMBERS), max_size=8),
)
def test_each_of_many_states_answers_for_its_own_files(first: dict[str, int], changes: list[dict[str, int]]) -> None:
    states = [(shelved(first), first)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot, "_MOST_CHANGED", 3)  # so that a few changes make a state that shares nothing
        for each in changes:
            before, model = states[-1]
            changed = {path: number for path, number in each.items() if path in model}
            states.append((before.with_others(changed), model | changed))
    for state, model in states:
        assert state.numbers == model
        assert [state.number(path) for path in PATHS] == [model.get(path, NONE) for path in PATHS]
        for name, parity in (("odd", 1), ("even", 0)):
            assert state.users(name) == sorted(path for path, number in model.items() if number % 2 == parity)


def test_many_states_of_many_files_take_no_more_memory_than_two() -> None:
    paths = [f"p{number}.py" for number in range(5_000)]
    tracemalloc.start()
    try:
        state = shelved({path: number + 1 for number, path in enumerate(paths)})
        assert state.users("none") == sorted(paths[1:9:2])
        one = tracemalloc.get_traced_memory()[0]
        states = [state]
        for number in range(1_000):
            state = state.with_others({paths[number % 7]: 10_000 + number})
            state.users("none")
            states = [*states[-63:], state]
        assert tracemalloc.get_traced_memory()[0] < 2 * one
    finally:
        tracemalloc.stop()
