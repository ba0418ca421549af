"""How a daemon ends, and what does not end it."""

import errno
from pathlib import Path

import pytest
from tests.unit.conftest import Git

from commonhold.server.daemon import lifetime
from commonhold.server.daemon.examining import Examining
from commonhold.server.daemon.indexing import Indexing
from commonhold.server.daemon.lifetime import Lifetime, Times
from commonhold.server.daemon.loop import Loop
from commonhold.server.notify.notifier import Notifier
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


_NO_DESCRIPTOR = OSError(errno.EMFILE, "too many open files")
_NO_THREAD = RuntimeError("can't start new thread")


@pytest.mark.parametrize(
    ("work", "fault"), [(Indexing, _NO_DESCRIPTOR), (Examining, _NO_THREAD), (Notifier, _NO_THREAD)]
)
def test_background_work_that_the_system_refuses_is_tried_again_later(
    work: type, fault: Exception, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("init")
    monkeypatch.setattr(lifetime, "BACKGROUND_PAUSE_SECONDS", 0.0)
    life = Lifetime(find_repository(str(tmp_path)), Times(idle_seconds=600.0), lambda: None)
    tries = []

    def refuse(*_: object) -> None:
        tries.append(work)
        if len(tries) == 2:
            life.end()
        raise fault

    monkeypatch.setattr(work, "look", refuse)
    life.live()
    assert len(tries) == 2
    life.close()
