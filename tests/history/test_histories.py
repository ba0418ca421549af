"""Many processes at once on a few keys, some killed: what they saw is a history that keeps every promise.

The same on each way to keep leases: in the repository without a daemon and with one, in PostgreSQL, in Redis.
"""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.daemon_process import Place as Repository
from tests.effort import is_stress
from tests.history.crew import Order
from tests.history.record import Operation, Place, read
from tests.history.rules import broken, fence_of, grants, is_exclusive, overlap

import commonhold
from commonhold.kernel.events import LeaseGranted, LeaseQueued

CREW = Path(__file__).with_name("crew.py")
pytestmark = pytest.mark.slow
Choices = dict[str, Any]


@contextmanager
def repository(made: Path) -> Iterator[str]:
    subprocess.run(["git", "init", "--quiet", str(made)], check=True)
    yield str(made)
    Repository(made).end()


@pytest.fixture(params=["direct", "daemon", "postgresql", "redis"])
def choices(request: pytest.FixtureRequest) -> Choices:
    if request.param == "postgresql":
        return {"store": request.getfixturevalue("database").url}
    if request.param == "redis":
        return {"store": request.getfixturevalue("redis_server").url}
    return {"daemon": request.param == "daemon"}


def run(order: Order) -> None:
    crew = subprocess.Popen([sys.executable, str(CREW), json.dumps(asdict(order))], start_new_session=True)
    try:
        assert crew.wait(200) == 0
    finally:
        if crew.poll() is None:
            os.killpg(crew.pid, signal.SIGKILL)
            crew.wait()


def places_in_line(order: Order, history: tuple[Operation, ...]) -> list[Place]:
    """What the store's log tells of those who had to stand in line."""
    with commonhold.open(order.root, agent="reader", **order.choices) as hold:
        tickets = {each.given["ticket"] for each in history if each.what == "acquire" and each.given["wait"]}
        return [place for ticket in sorted(tickets) for place in _places(hold, ticket)]


def _places(hold: commonhold.Commonhold, ticket: str) -> Iterator[Place]:
    """The last place in line under a ticket: who lost one, since it was not heard of, got another at the end."""
    waiter, fence = None, None
    for each in hold.log(lease_id=ticket):
        if isinstance(each.event, LeaseQueued):
            waiter = each.event.waiter
        elif isinstance(each.event, LeaseGranted):
            fence = each.event.lease.fence
    if waiter is not None and waiter.mode is commonhold.Mode.EXCLUSIVE:
        yield Place(waiter.holder, waiter.keys, waiter.number, fence)


def test_every_promise_is_kept(tmp_path: Path, choices: Choices) -> None:
    """A run counts if much happened in it, which is up to the machine: one of four does."""
    workers, seconds, rounds = (8, 3.0, 25) if is_stress() else (5, 1.5, 12)
    missed = []
    for seed in range(1, 5):
        notes = tmp_path / f"notes-{seed}"
        notes.mkdir()
        own = {**choices, "namespace": f"history-{seed}"} if "store" in choices else choices
        with repository(tmp_path / f"repository-{seed}") as root:
            order = Order(root, own, str(notes), workers, 2, seconds, rounds, ttl_seconds=0.5, seed=seed)
            run(order)
            history = read(notes)
            places = places_in_line(order, history)
        assert broken(history, places, killed=["w0", "w1"], slack=0.02) == []
        counted = Counter(f"{each.what} {each.answer.get('outcome', '(no answer)')}" for each in history)
        did_all = all(counted[seen] for seen in ("put stored", "put refused", "renew renewed", "release released"))
        if did_all and counted["acquire granted"] > 20 and any(place.fence is not None for place in places):
            return
        missed.append(counted)
    pytest.fail(f"too little happened: {missed}")


def test_what_the_rules_see_in_a_run_that_was_tampered_with(tmp_path: Path) -> None:
    """The checker is not blind to real histories: one grant that is moved or told twice, and it says so."""
    notes = tmp_path / "notes"
    notes.mkdir()
    with repository(tmp_path / "repository") as root:
        run(Order(root, {"daemon": False}, str(notes), 3, 0, seconds=0.5, rounds=20, ttl_seconds=1.0, seed=2))
    history = read(notes)
    assert broken(history) == []
    first, second = _one_after_the_other(history)
    moved = replace(second, asked=first.asked, answered=first.asked)
    assert any(sentence.startswith("two hold at once") for sentence in broken([*_without(second, history), moved]))
    told_twice = broken([*history, replace(second, holder="other")])
    assert f"the fence {fence_of(second)} was given out 2 times" in told_twice


def _one_after_the_other(history: Iterable[Operation]) -> tuple[Operation, Operation]:
    """Two grants to two workers that cannot both be held: whatever the machine did, the second came after the first."""
    for first, second in combinations(sorted(grants(history), key=fence_of), 2):
        if first.worker != second.worker and overlap(first, second) and is_exclusive(first, second):
            return first, second
    raise AssertionError("nobody ever stood in another's way")


def _without(left_out: Operation, history: Iterable[Operation]) -> list[Operation]:
    return [each for each in history if each is not left_out]
