"""How a daemon ends."""

from pathlib import Path

import pytest
from tests.unit.conftest import Git

from commonhold.server.daemon import lifetime
from commonhold.server.daemon.lifetime import Lifetime, Times
from commonhold.server.daemon.loop import Loop
from commonhold.workspace.repository import find_repository


def test_a_daemon_whose_state_is_moved_between_two_looks_ends_in_order(
    git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("init")
    monkeypatch.setattr(lifetime, "LOOK_SECONDS", 1e9)
    # It sweeps at each turn: a sweep that fails forgets what was read of the state.
    life = Lifetime(find_repository(str(tmp_path)), Times(idle_seconds=600.0, sweep_seconds=0.0), lambda: None)
    state = tmp_path / ".git/commonhold"

    def move(*_: object) -> None:
        if state.exists():
            state.rename(tmp_path / "old")

    monkeypatch.setattr(Loop, "turn", move)
    life.live()
    assert (tmp_path / "old").exists()
    life.close()
