"""A supervisor keeps its lease while it makes a workspace, which may take longer than the lease lasts."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from commonhold.kernel.managed_session import SessionState
from commonhold.session_host import supervisor
from commonhold.session_host.supervisor import Wishes


class Store:
    """Answers that the session goes on, and notes that it was asked."""

    def __init__(self, record: Any) -> None:
        self.record = record
        self.was_renewed = threading.Event()

    def managed_sessions(self, _session: str) -> Any:
        return SimpleNamespace(sessions=(SimpleNamespace(record=self.record),))

    def renew(self, _lease: str, *, ttl_seconds: float) -> Any:
        assert ttl_seconds == supervisor.TTL_SECONDS
        self.was_renewed.set()
        return SimpleNamespace(outcome="renewed")


def test_the_lease_is_renewed_while_a_long_work_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ASK_SECONDS", "RENEW_SECONDS"):
        monkeypatch.setattr(supervisor, name, 0.0)
    record: Any = SimpleNamespace(id="s1", state=SessionState.RUNNING, fence=1, wish=None, lease_id="l1")
    store: Any = Store(record)
    wishes = Wishes(store, record)
    assert wishes.last(lambda: store.was_renewed.wait(60))

    def fails() -> None:
        raise OSError(28, "no space")

    with pytest.raises(OSError, match="no space"):
        wishes.last(fails)
