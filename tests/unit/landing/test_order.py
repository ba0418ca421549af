"""The order of the merge queue: by priority and age, fewest conflicts in a batch, and halves of failed ones."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.kernel.entry import Entry, EntryRecord, EntryState
from commonhold.landing.order import Prediction, arranged, next_batch, predicted


def record(number: int, **rest: object) -> EntryRecord:
    entry = Entry(f"e{number}", f"b{number}", f"c{number}", "refs/heads/main")
    return replace(EntryRecord(entry, number, number, "agent", 0.0, 0.0), **rest)  # type: ignore[arg-type]


def urgent(number: int, priority: int) -> EntryRecord:
    found = record(number)
    return replace(found, entry=replace(found.entry, priority=priority))


def numbers(records: tuple[EntryRecord, ...]) -> list[int]:
    return [each.number for each in records]


def test_priority_goes_first_then_age_up_to_the_size_of_a_batch() -> None:
    queue = [record(1), urgent(2, 1), record(3), record(4)]
    assert numbers(next_batch(queue, {}, "head", 3)) == [2, 1, 3]
    assert next_batch([], {}, "head", 3) == ()


def test_only_what_is_queued_and_not_held_at_this_head_is_tested() -> None:
    queue = [record(1, state=EntryState.TESTING), record(2, held_at="head"), record(3, held_at="older"), record(4)]
    assert numbers(next_batch(queue, {}, "head", 8)) == [3, 4]


def test_a_failed_batch_is_halved_before_others_have_their_turn() -> None:
    queue = [record(number, suspected_in="b1") for number in (1, 2, 3, 4, 5)] + [record(6)]
    assert numbers(next_batch(queue, {}, "head", 8)) == [1, 2, 3]
    assert numbers(next_batch(queue, {}, "head", 2)) == [1, 2]
    assert numbers(next_batch(queue[4:], {}, "head", 8)) == [5]
    assert numbers(next_batch([*queue, urgent(7, 1)], {}, "head", 8)) == [7]
    mixed = [record(1, suspected_in="b2"), record(2, suspected_in="b1"), record(3, suspected_in="b2")]
    assert numbers(next_batch(mixed, {}, "head", 8)) == [1]


def test_a_change_that_meets_others_is_merged_after_them() -> None:
    touched = {
        "e1": frozenset({"file:a.py", "file:b.py"}),
        "e2": frozenset({"file:a.py#f"}),
        "e3": frozenset({"file:b.py#g"}),
    }
    assert numbers(arranged([record(1), record(2), record(3)], touched)) == [2, 3, 1]
    assert numbers(arranged([urgent(1, 1), record(2), record(3)], touched)) == [1, 2, 3]


@given(st.lists(st.sets(st.sampled_from(["file:a.py#f", "file:a.py#g", "file:a.py", "file:b.py"])), max_size=7))
def test_an_arrangement_has_the_same_entries_and_is_one_for_one_input(keys: list[set[str]]) -> None:
    window = [record(number) for number in range(len(keys))]
    touched = {f"e{number}": frozenset(each) for number, each in enumerate(keys)}
    found = arranged(window, touched)
    assert sorted(numbers(found)) == numbers(tuple(window))
    assert found == arranged(list(reversed(window)), touched)


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ({"file:a.py#f"}, {"file:a.py#f", "file:b.py"}, ("file:a.py#f",)),
        ({"file:a.py#f"}, {"file:a.py"}, ("file:a.py#f",)),
        ({"file:a.py#C"}, {"file:a.py#C.m"}, ("file:a.py#C",)),
        ({"file:a.py#f"}, {"file:a.py#g"}, ()),
        ({"file:a.py#@header"}, {"file:a.py#g"}, ()),
        ({"file:a.py#@header"}, {"file:a.py#@header"}, ("file:a.py#@header",)),
        ({"file:a.py#@header"}, {"file:a.py#C.@header"}, ()),
        ({"file:a.py#@header"}, {"file:a.py"}, ("file:a.py#@header",)),
        ({"file:a.py#f"}, {"file:b.py#f"}, ()),
    ],
)
def test_changes_meet_where_they_touch_the_same_regions(
    one: set[str], other: set[str], shared: tuple[str, ...]
) -> None:
    expected = (Prediction("x", "y", shared),) if shared else ()
    assert predicted({"x": frozenset(one), "y": frozenset(other)}) == expected
