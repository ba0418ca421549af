"""The daemon's look at managed sessions: what keeps them waiting is logged once, where any session could wait."""

import logging
from pathlib import Path

import pytest
from tests.unit.conftest import Git

from commonhold.api.service import Service
from commonhold.bootstrap import open_repository
from commonhold.kernel.errors import Code, StoreError
from commonhold.server.daemon.managed_sessions import LOOK_SECONDS, SessionEngine
from commonhold.sessions.commands import SessionLimits
from commonhold.sessions.queue import SessionQueue
from commonhold.workspace.repository import find_repository


def test_what_keeps_sessions_waiting_is_logged_once(git: Git, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    git("init")
    why = "the disk is full"

    def service() -> Service:
        raise StoreError(Code.DISK_FULL, why, hint="free some space")

    engine = SessionEngine(find_repository(str(tmp_path)), service)
    with caplog.at_level(logging.DEBUG, "commonhold"):
        for number in range(3):
            engine.look(number * 2 * LOOK_SECONDS + 1, number)
        why = "the disk is gone"
        engine.look(9.0, 3)
        (tmp_path / "commonhold.toml").write_text("[", encoding="utf-8")
        engine.look(10.0, 4)
    levels = [each.levelno for each in caplog.records]
    assert levels == [logging.WARNING, logging.DEBUG, logging.DEBUG, logging.WARNING, logging.WARNING]


def test_a_look_without_work_asks_the_store_once(git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git("init")
    (tmp_path / "a.py").write_text("a = 1\n", encoding="utf-8")
    git("add", "a.py")
    git("commit", "-qm", "begin")
    service = open_repository(str(tmp_path), agent="ann")
    service.start_managed_session("do it", agent="agent {prompt_file}")
    queue = service.session_queue
    seen = queue.look(SessionLimits(1))
    assert (seen.has_lost, seen.can_begin, seen.has_work) == (False, True, True)
    asked: list[str] = []

    def count(name: str) -> None:
        kept = getattr(SessionQueue, name)

        def counted(*given: object) -> object:
            asked.append(name)
            return kept(*given)

        monkeypatch.setattr(SessionQueue, name, counted)

    count("read")
    count("execute")
    (tmp_path / "commonhold.toml").write_text("max_sessions = 0", encoding="utf-8")
    engine = SessionEngine(find_repository(str(tmp_path)), lambda: service)
    engine.look(1.0, 1)
    assert asked == ["read"]
    assert engine.has_work
    service.close()


@pytest.mark.parametrize("takes_any", [False, True], ids=["daemon", "worker"])
def test_quotas_of_tenants_are_those_of_the_settings_at_each_look(
    git: Git,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    takes_any: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    git("init")
    git("commit", "--allow-empty", "-qm", "begin")
    service = open_repository(str(tmp_path), agent="ann")
    for tenant in ("acme", "acme", "acme", "other"):
        service.start_managed_session("do it", agent="agent {prompt_file}", tenant=tenant)
    begun: list[str] = []
    monkeypatch.setattr(SessionEngine, "_start", lambda _, record, __: begun.append(record.session.tenant))
    (tmp_path / "commonhold.toml").write_text("[tenants.acme]\nmax_sessions = 1", encoding="utf-8")
    engine = SessionEngine(find_repository(str(tmp_path)), lambda: service, takes_any=takes_any)
    engine.look(1.0, 1)
    assert begun == ["acme", "other"]
    (tmp_path / "commonhold.toml").write_text("[tenants.acme]\nmax_sessions = 2", encoding="utf-8")
    engine.look(2.0, 2)
    assert begun == ["acme", "other", "acme"]
    service.close()


def test_a_wake_brings_the_next_look_forward_but_not_beside_the_last(git: Git, tmp_path: Path) -> None:
    git("init")
    (tmp_path / "commonhold.toml").write_text('store = "postgresql://host/base"', encoding="utf-8")
    looks: list[float] = []

    def service() -> Service:
        looks.append(now)
        raise StoreError(Code.STORE_UNREACHABLE, "the server is away", hint="start it")

    engine = SessionEngine(find_repository(str(tmp_path)), service)
    for now, is_woken in ((10.0, False), (12.0, False), (12.0, True), (12.1, True), (12.3, False), (17.2, False)):
        if is_woken:
            engine.wake()
        engine.look(now, 1)
    assert looks == [10.0, 12.0, 12.3]
