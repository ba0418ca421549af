"""The bench of managed sessions works, at sizes that show no more than that."""

import pytest

from bench import sessions

pytestmark = pytest.mark.slow


def test_sessions_print_and_their_lines_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONHOLD_DAEMON", "on")
    figures = {figure.name: figure.value for figure in sessions.measure(sessions.QUICK)}

    assert len(figures) == 9
    assert all(value > 0 for value in figures.values()), figures
