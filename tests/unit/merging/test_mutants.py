"""The cases notice what they are there to notice: each defect makes one of them fail.

`make test` takes every third defect, `make stress` all.
"""

from collections.abc import Callable, Iterator
from functools import partial

import pytest
from tests.effort import is_stress
from tests.unit.merging import test_candidates, test_cases, test_conflict_markers
from tests.unit.merging.cases import NAMES
from tests.unit.merging.mutants import MUTANTS


def checks() -> Iterator[Callable[[], None]]:
    for name in NAMES:
        yield partial(test_cases.test_a_case, name, b"\n", b"")
        yield partial(test_cases.test_no_side_of_a_refused_case_is_left_out_of_the_marks, name)
    yield test_conflict_markers.test_a_clash_is_widened_to_whole_lines
    yield test_candidates.test_however_many_there_are_few_are_given
    yield from (partial(test_candidates.test_candidates_of_a_case_are_few_and_past_the_gate, name) for name in NAMES)


def fails(check: Callable[[], None]) -> bool:
    try:
        check()
    except Exception:  # noqa: BLE001  # whatever a defect leads to, the suite would be red
        return True
    return False


@pytest.mark.parametrize("name", [*MUTANTS][:: 1 if is_stress() else 3])
def test_a_defect_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MUTANTS[name](monkeypatch)
    assert any(map(fails, checks()))


def test_without_a_defect_nothing_is_noticed() -> None:
    assert not any(map(fails, checks()))
