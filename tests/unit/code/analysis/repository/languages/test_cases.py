"""What each language's files offer and use, and whom a change in one of them concerns: cases as text."""

import pytest
from tests.unit.code.analysis.repository.languages.telling import Crossing, Summarised, crossing_cases, summarised_cases

SUMMARIES = [pytest.param(case, id=f"{case.language}: {case.title}") for case in summarised_cases()]
CROSSINGS = [pytest.param(case, id=f"{language}: {case.title}") for language, case in crossing_cases()]


@pytest.mark.parametrize("case", SUMMARIES)
def test_a_summary_says_what_a_file_offers_and_uses(case: Summarised) -> None:
    assert case.told() == case.expected


@pytest.mark.parametrize("case", CROSSINGS)
def test_a_change_concerns_those_who_depend_on_it(case: Crossing) -> None:
    assert case.told() == case.expected
