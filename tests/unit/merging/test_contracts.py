"""Each side keeps a contract, both together break it: never proven, in whatever language. The cases: `contracts/`."""

from pathlib import Path

import pytest
from tests.unit.merging.sides import Case, cases_in, why_not

_FOLDER = Path(__file__).parent / "contracts"
_CASES = {f"{path.stem}: {case.name}": case for path in sorted(_FOLDER.iterdir()) for case in cases_in(path)}


@pytest.mark.parametrize("case", _CASES.values(), ids=_CASES)
def test_what_breaks_a_contract_is_refused_and_nothing_else(case: Case) -> None:
    for files in (case.files, case.exchanged()):
        found = why_not(files)
        assert (not found) == case.is_proven, found


def test_there_are_cases_of_both_kinds() -> None:
    assert sum(case.is_proven for case in _CASES.values()) >= 10
    assert sum(not case.is_proven for case in _CASES.values()) >= 100
