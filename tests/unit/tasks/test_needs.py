from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.tasks.table import task

from commonhold.kernel.task import Task, TaskAdded, TaskRecord, TaskState, added_record
from commonhold.tasks.needs import chains, circle, latest_starts

NAMES = [f"t{number}" for number in range(7)]
graphs = st.dictionaries(st.sampled_from(NAMES), st.frozensets(st.sampled_from(NAMES), max_size=3), max_size=7)
FOREVER = float("inf")


def records(*tasks: Task) -> dict[str, TaskRecord]:
    return {each.id: added_record(TaskAdded("one", each), number, 0.0) for number, each in enumerate(tasks, 1)}


def reachable(needs: dict[str, frozenset[str]], start: str) -> set[str]:
    found: set[str] = set()
    ahead = [*needs.get(start, ())]
    while ahead:
        each = ahead.pop()
        if each not in found:
            found.add(each)
            ahead += needs.get(each, ())
    return found


@given(graphs)
def test_a_circle_is_found_exactly_if_a_task_needs_itself_in_the_end(needs: dict[str, frozenset[str]]) -> None:
    found = circle(needs)
    assert bool(found) == any(each in reachable(needs, each) for each in needs)
    if found:
        assert found[0] == found[-1]
        assert all(need in needs[needer] for needer, need in pairwise(found))


def test_a_long_chain_is_no_matter_of_recursion() -> None:
    assert circle({str(number): {str(number + 1)} for number in range(5_000)}) == ()
    assert len(circle({str(number): {str((number + 1) % 5_000)} for number in range(5_000)})) == 5_001


def test_a_chain_is_the_longest_way_to_the_end() -> None:
    found = records(
        task("a", estimate_seconds=1.0),
        task("b", needs=("a",), estimate_seconds=10.0),
        task("c", needs=("a",), estimate_seconds=2.0),
        task("d", needs=("b", "c", "missing"), estimate_seconds=5.0),
    )
    assert chains(found) == {"a": 16.0, "b": 15.0, "c": 7.0, "d": 5.0}


def test_a_task_without_an_estimate_counts_as_ten_minutes() -> None:
    assert chains(records(task("a"))) == {"a": 600.0}


def test_a_deadline_counts_for_all_that_the_task_needs() -> None:
    found = records(
        task("a", estimate_seconds=10.0),
        task("b", needs=("a",), estimate_seconds=20.0, deadline_at=100.0),
        task("c", needs=("a",), estimate_seconds=5.0, deadline_at=1_000.0),
        task("d"),
    )
    assert latest_starts(found) == {"a": 70.0, "b": 80.0, "c": 995.0, "d": FOREVER}


def test_final_tasks_take_no_time() -> None:
    found = records(task("a", estimate_seconds=10.0, deadline_at=50.0))
    landed = {"a": replace(found["a"], state=TaskState.LANDED)}
    assert (chains(landed), latest_starts(landed)) == ({"a": 0.0}, {"a": FOREVER})
