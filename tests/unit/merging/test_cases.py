"""What is merged and what is refused, case by case: the folders of tests/corpus/merging."""

import pytest
from tests.unit.merging.cases import NAMES, Case, load
from tests.unit.merging.laws import check_laws, check_marks

from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven, Unproven

BOM = b"\xef\xbb\xbf"


def check(case: Case) -> None:
    answer = merge(*case.versions, case.path)
    if case.expected is not None:
        assert answer == Proven(case.expected, answer.notes if isinstance(answer, Proven) else ())
    else:
        assert isinstance(answer, Unproven)
        assert sorted(spot.reason for spot in answer.spots) == sorted(case.reasons)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("mark", [b"", BOM], ids=["plain", "bom"])
def test_a_case(name: str, line_end: bytes, mark: bytes) -> None:
    case = load(name).dressed(line_end, mark)
    check(case)
    check(case.exchanged())


@pytest.mark.parametrize("name", NAMES)
def test_a_case_keeps_the_laws(name: str) -> None:
    case = load(name)
    check_laws(case.base, case.ours, case.theirs, case.path)


@pytest.mark.parametrize("name", NAMES)
def test_no_side_of_a_refused_case_is_left_out_of_the_marks(name: str) -> None:
    case = load(name)
    answer = merge(*case.versions, case.path)
    if isinstance(answer, Unproven):
        check_marks(answer, case.base, case.ours, case.theirs)
        lines = {*(answer.marked or b"").splitlines(), *case.base.splitlines()}
        assert lines >= {*case.ours.splitlines(), *case.theirs.splitlines()}


def test_there_are_cases_of_both_kinds() -> None:
    cases = [load(name) for name in NAMES]
    assert len(cases) >= 40
    assert sum(case.expected is None for case in cases) >= 15
