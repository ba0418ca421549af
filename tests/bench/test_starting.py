"""The bench of starting measures what it says, once round."""

import pytest
from bench.starting import LOOKS, measured


@pytest.mark.slow
def test_each_command_and_a_killed_daemon_are_measured() -> None:
    figures = {each.name: each for each in measured(rounds=1, kills=1, rest_seconds=0.0)}
    for name in LOOKS:
        for where in ("with a daemon", "without a daemon"):
            assert figures[f"{name}, {where}: wall against python -c pass"].value > 1
            assert figures[f"{name}, {where}: processor against python -c pass"].goal.startswith("≤ 4")
    assert figures["a hook"].value > 0
    assert figures["a hook whose daemon was killed"].goal.startswith("≤ 0.5")
