"""The bench of starting measures what it says, once round."""

import pytest
from bench.starting import LOOKS, _ratio, measured


@pytest.mark.slow
def test_each_command_and_a_killed_daemon_are_measured() -> None:
    figures = {each.name: each for each in measured(rounds=1, kills=1, rest_seconds=0.0)}
    for name in LOOKS:
        for where in ("with a daemon", "without a daemon"):
            assert figures[f"{name}, {where}: wall against python -c pass"].value > 0
            assert figures[f"{name}, {where}: processor against python -c pass"].goal.startswith("≤ 4")
    assert figures["a hook"].value > 0
    assert figures["a hook whose daemon was killed"].goal.startswith("≤ 0.5")


def test_a_ratio_is_ours_against_that_of_python() -> None:
    pairs = [((3.0, 2.0), (1.0, 0.5)), ((5.0, 1.0), (1.0, 0.5))]
    assert [_ratio("any", pairs, place).value for place in (0, 1)] == [4.0, 3.0]
    assert _ratio("any", pairs, 0).goal == "≤ 4: met"
