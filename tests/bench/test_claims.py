"""The bench of claims works, at sizes that show no more than that."""

import pytest

from bench import claims

pytestmark = pytest.mark.slow


def test_races_have_one_winner_each() -> None:
    figures = {figure.name: figure.value for figure in claims.measure(claims.QUICK)}

    assert figures["races"] == claims.QUICK.races
    assert figures["races without exactly one winner"] == 0
