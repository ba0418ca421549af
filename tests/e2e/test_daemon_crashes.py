"""The daemon is killed in the middle of its work: what was answered is there, once, and clients go on by themselves."""

import json
import os
import random
import signal
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.daemon_process import Place, client, place, serving
from tests.patience import until

from commonhold import LeaseGranted, LeaseReleased
from commonhold.client import lease_keeper
from commonhold.client.daemon import start as begin_daemon
from commonhold.kernel.events import ValuePut
from commonhold.workspace.repository import find_repository

pytestmark = pytest.mark.slow
WORKERS = 8
KILLS = 4


def kill_now_and_then(found: Place, diaries: list[Path]) -> None:
    """Kill a daemon, and each one that comes after it, when work was done; return when it goes on after the last."""
    chance, killed = random.Random(3), list[int]()
    wait_for_more(diaries)
    for _ in range(KILLS):
        until(lambda: found.is_served and found.pid not in killed, what="a new daemon serves")
        wait_for_more(diaries)
        time.sleep(chance.uniform(0.1, 0.4))
        killed.append(found.pid)
        os.kill(killed[-1], signal.SIGKILL)
    wait_for_more(diaries)


def wait_for_more(diaries: list[Path]) -> None:
    done = sum(len(lines(diary)) for diary in diaries)
    until(lambda: sum(len(lines(diary)) for diary in diaries) > done, what="they go on with their work")


def lines(diary: Path) -> list[str]:
    return diary.read_text().splitlines() if diary.exists() else []


def facts(diaries: list[Path], what: str) -> list[dict[str, Any]]:
    return [fact for diary in diaries for fact in map(json.loads, lines(diary)) if what in fact]


def test_whatever_was_answered_is_there_once(root: Path, tmp_path: Path) -> None:
    diaries = [tmp_path / f"w{number}" for number in range(WORKERS)]
    with place(root) as found, ExitStack() as stack:
        begin_daemon(find_repository(str(root)))
        found.wait_until_served()
        stop = tmp_path / "stop"
        workers = [stack.enter_context(client(root, "load", diary.name, diary, stop)) for diary in diaries]
        kill_now_and_then(found, diaries)
        stop.touch()
        rounds = [worker.hear()["done"] for worker in workers]
        with found.session() as hold:
            log = [each.event for each in hold.log(after=0, limit=100_000)]
            assert hold.leases() == ()
            assert hold.status().waiters == ()
        assert "Traceback" not in found.log
    granted = Counter((event.lease.id, event.lease.fence) for event in log if isinstance(event, LeaseGranted))
    assert granted == Counter((fact["granted"], fact["fence"]) for fact in facts(diaries, "granted"))
    assert set(granted.values()) == {1}
    put = Counter(event.text for event in log if isinstance(event, ValuePut))
    assert put == Counter(fact["stored"] for fact in facts(diaries, "stored"))
    assert len(put) == sum(rounds)
    assert {fact["outcome"] for fact in facts(diaries, "stored")} == {"stored"}
    released = Counter(event.lease_id for event in log if isinstance(event, LeaseReleased))
    assert set(released.items()) == {(lease_id, 1) for lease_id, _ in granted}
    fences = [event.lease.fence for event in log if isinstance(event, LeaseGranted)]
    assert fences == sorted(set(fences))


def test_who_waits_keeps_its_place_when_the_daemon_dies(root: Path) -> None:
    with ExitStack() as stack:
        first = stack.enter_context(serving(root))
        ann = stack.enter_context(first.session("ann"))
        held = ann.acquire("account:1", ttl_seconds=600.0)
        assert held.lease is not None
        waiting = [stack.enter_context(client(root, "stand", agent, "account:1", 60)) for agent in ("bob", "cid")]
        for number, each in enumerate(waiting, 1):
            each.begin()
            until(lambda: len(ann.status().waiters) == number)  # noqa: B023 - asked at once
        first.process.kill()
        first.process.wait()
        stack.callback(Place(root).end)
        assert ann.release(held.lease.id).outcome == "released"
        for each in waiting:
            assert each.hear()["outcome"] == "granted"
            each.go_on()
            assert each.hear()["outcome"] == "released"
        grants = [each.event.lease.holder for each in ann.log(after=0) if isinstance(each.event, LeaseGranted)]
        assert grants == ["ann", "bob", "cid"]


def test_a_held_lease_outlives_the_daemon(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease_keeper, "RENEWALS", 300)
    with ExitStack() as stack:
        first = stack.enter_context(serving(root))
        hold = stack.enter_context(first.session("ann"))
        stack.callback(Place(root).end)
        with hold.hold("account:1", ttl_seconds=600.0) as lease:
            first.process.kill()
            first.process.wait()
            (known,) = hold.leases()
            until(lambda: hold.leases()[0].deadline != known.deadline)
            lease.check()
        assert hold.leases() == ()
