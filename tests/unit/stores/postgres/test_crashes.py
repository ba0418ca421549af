"""The server stops in the middle: nothing that was answered is lost, fences go on, and repeating is safe (I1, I5)."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import psycopg
import pytest
from tests.patience import until
from tests.services.postgres_server import PostgresServer
from tests.unit.stores.postgres.agents import grant, log_of, registry, wish
from tests.unit.stores.postgres.conftest import OpenTables

from commonhold.kernel.commands import Command, Release
from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.events import LeaseGranted
from commonhold.kernel.outcomes import Granted, Outcome
from commonhold.stores.postgres.link import Link
from commonhold.stores.postgres.tables import PostgresTables

pytestmark = pytest.mark.slow

T = TypeVar("T", bound=Outcome)
AGENTS = 4


@dataclass
class Agent:
    """Gets a key of its own and gives it back, again and again. What fails is repeated."""

    name: str
    tables: PostgresTables
    acknowledged: dict[str, int] = field(default_factory=dict)
    failures: list[StoreError] = field(default_factory=list)

    def work(self, is_over: threading.Event) -> None:
        while not is_over.is_set():
            name = f"{self.name}-{len(self.acknowledged)}"
            outcome = self.insist(wish(name, self.name, key=f"key:{self.name}"))
            assert isinstance(outcome, Granted)
            self.acknowledged[name] = outcome.lease.fence
            self.insist(Release(name, self.name))

    def insist(self, command: Command[T]) -> T:
        while True:
            try:
                return registry(self.tables).execute(command)
            except StoreError as fault:
                self.failures.append(fault)
                time.sleep(0.01)


@contextmanager
def at_work(agents: list[Agent]) -> Iterator[None]:
    is_over = threading.Event()
    threads = [threading.Thread(target=agent.work, args=(is_over,)) for agent in agents]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def grants(tables: PostgresTables) -> list[tuple[str, int, int]]:
    events = [(each.sequence, each.event) for each in log_of(tables)]
    return [(event.lease.id, event.lease.fence, at) for at, event in events if isinstance(event, LeaseGranted)]


def test_what_was_answered_is_not_lost(private_postgres: PostgresServer, open_tables: OpenTables) -> None:
    agents = [Agent(f"agent-{number}", open_tables(private_postgres.url)) for number in range(AGENTS)]

    def go_on() -> None:
        goals = [(agent, len(agent.acknowledged) + 3) for agent in agents]
        until(lambda: all(len(agent.acknowledged) >= goal for agent, goal in goals))

    with at_work(agents):
        for stop in (private_postgres.crash, private_postgres.stop, private_postgres.crash):
            go_on()
            stop()
            private_postgres.start()
        go_on()
    acknowledged = {name: fence for agent in agents for name, fence in agent.acknowledged.items()}
    found = grants(agents[0].tables)
    assert {name: fence for name, fence, _ in found} == acknowledged
    assert len(found) == len(acknowledged)
    assert all(fence == sequence for _, fence, sequence in found)
    failures = {(fault.code, fault.retryable) for agent in agents for fault in agent.failures}
    assert failures == {(Code.STORE_UNREACHABLE, True)}


def test_a_commit_whose_answer_is_lost_may_be_repeated(tables: PostgresTables, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Link._run

    def lose_the_answer(link: Link, batch: list[str]) -> object:
        rows = run(link, batch)
        if batch[-1] == "COMMIT":
            link.close()
            raise psycopg.OperationalError("the connection was lost")
        return rows

    tables.now()
    with monkeypatch.context() as patch:
        patch.setattr(Link, "_run", lose_the_answer)
        with pytest.raises(StoreError, match="may have happened") as caught:
            grant(tables, "l1")
    assert caught.value.code is Code.STORE_UNREACHABLE
    assert caught.value.retryable
    assert "same request id or lease id" in caught.value.hint
    assert grant(tables, "l1").fence == 1
    assert [name for name, _, _ in grants(tables)] == ["l1"]


def test_a_commit_that_never_arrived_may_be_repeated(tables: PostgresTables, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Link._run

    def lose_the_question(link: Link, batch: list[str]) -> object:
        if batch[-1] == "COMMIT":
            link.close()
        return run(link, batch)

    tables.now()
    with monkeypatch.context() as patch:
        patch.setattr(Link, "_run", lose_the_question)
        with pytest.raises(StoreError, match="may have happened"):
            grant(tables, "l1")
    assert grants(tables) == []
    assert grant(tables, "l1").fence == 1
