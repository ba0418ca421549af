"""PostgreSQL beside memory: whatever agents do, both answer the same, and their logs add up to the same (I9)."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies
from tests.effort import examples
from tests.in_memory.store import MemoryStore
from tests.services.pooler import Pooler
from tests.services.postgres_server import Database

from commonhold.kernel.clock import Now
from commonhold.kernel.commands import (
    Acquire,
    Ask,
    Break,
    Command,
    HandOver,
    Heartbeat,
    Put,
    RecordPartialWork,
    Release,
    Renew,
    Review,
)
from commonhold.kernel.keys import Key
from commonhold.kernel.lease import Base
from commonhold.kernel.lease_ports import LeaseView, Once
from commonhold.kernel.modes import Mode
from commonhold.kernel.partial_work import UnfinishedChange
from commonhold.kernel.ports import Clock
from commonhold.kernel.projection import fold
from commonhold.kernel.values import Version
from commonhold.leases.registry import TableRegistry
from commonhold.stores.codec import encode
from commonhold.stores.postgres import open_postgres
from commonhold.stores.postgres.registry import PostgresRegistry
from commonhold.stores.postgres.tables import PostgresTables

pytestmark = pytest.mark.slow

holders = st.sampled_from(("one", "two", "three"))
ids = st.integers(1, 6).map("l{}".format)
ttls = st.sampled_from((10.0, 30.0))


def acquire(lease_id: str, holder: str, keys: list[Key], ttl: float, rest: dict[str, Any]) -> Acquire:
    bases = (Base(str(keys[0]), "h"),)
    return Acquire(lease_id, "acq", holder, "", tuple(keys), rest.pop("mode"), ttl, **rest, worktree="/w", bases=bases)


wishes = st.fixed_dictionaries(
    {
        "mode": st.sampled_from(Mode),
        "patience_seconds": st.sampled_from((None, 20.0)),
        "replaces": st.sampled_from((None, None, "l1", "l2")),
    }
)
acquires = st.builds(
    acquire, ids, holders, st.lists(strategies.small_keys, min_size=1, max_size=2), ttls, wishes.map(dict)
)
commands: st.SearchStrategy[Command[Any]] = st.one_of(
    acquires,
    acquires,
    acquires,
    st.builds(Renew, ids, holders, ttls),
    st.builds(Release, ids, holders),
    st.builds(Break, ids, holders, st.just("why")),
    st.builds(Ask, ids, holders, st.just("why")),
    st.builds(HandOver, ids, holders, holders),
    st.builds(Heartbeat, holders),
    st.builds(RecordPartialWork, ids, holders, st.sampled_from(((), (UnfinishedChange("file:a", None, "h"),)))),
    st.builds(Review, ids, holders, st.just("note")),
    st.builds(
        Put,
        strategies.small_keys,
        holders,
        st.none() | st.just("x"),
        st.integers(0, 1),
        reads=st.just(()) | st.builds(lambda key: (Version(str(key), 0),), strategies.small_keys),
    ),
)
onces = st.none() | st.builds(Once, st.sampled_from(("r1", "r2")), st.just("print"))
steps = st.tuples(st.sampled_from((0.0, 0.0, 0.0, 8.0, 25.0)), onces, commands)
stories = st.lists(st.lists(steps, min_size=1, max_size=3), min_size=1, max_size=12)
"""Transactions of up to three steps; before each, time passes."""


@dataclass
class SameTime:
    """The clock of both: that of the database, read once a step."""

    tables: PostgresTables
    last: Now | None = None

    def now(self) -> Now:
        self.last = self.tables.now()
        return self.last


@dataclass
class Replay:
    """What another clock said last."""

    clock: SameTime

    def now(self) -> Now:
        assert self.clock.last is not None
        return self.clock.last


@dataclass
class Houses:
    """The two stores."""

    url: str
    kind: Callable[[PostgresTables, Clock], TableRegistry]
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.tables = open_postgres(self.url, uuid4().hex, skew=lambda: self.seconds)
        clock = SameTime(self.tables)
        self.ours, self.theirs = self.kind(self.tables, clock), TableRegistry(MemoryStore(), Replay(clock))

    def close(self) -> None:
        self.tables.close()

    def step(self, once: Once | None, command: Command[Any]) -> None:
        ours = self.ours.execute(command, once)
        theirs = self.theirs.execute(command, once)
        assert encode(ours) == encode(theirs)

    def compare(self) -> None:
        with self.ours.read() as ours, self.theirs.read() as theirs:
            assert ours.events() == theirs.events()
            assert seen(ours) == seen(theirs) == seen_in_log(ours)


def seen(view: LeaseView) -> tuple[object, ...]:
    works = sorted(view.works(), key=lambda work: work.lease_id)
    return view.leases(), view.waiters(), sorted(view.lost(), key=lambda lease: lease.id), works


def seen_in_log(view: LeaseView) -> tuple[object, ...]:
    state = fold(view.events())
    leases = tuple(sorted(state.leases.values(), key=lambda lease: lease.fence))
    lost = sorted(state.lost.values(), key=lambda lease: lease.id)
    works = sorted(state.works.values(), key=lambda work: work.lease_id)
    return leases, tuple(state.waiters.values()), lost, works


def run(houses: Houses, story: list[list[tuple[float, Once | None, Command[Any]]]]) -> None:
    with closing(houses):
        for transaction in story:
            houses.seconds += transaction[0][0]
            with houses.ours.together(), houses.theirs.together():
                for _, once, command in transaction:
                    houses.step(once, command)
        houses.compare()


@given(story=stories)
@examples(0.4)
def test_both_answer_the_same(common_database: Database, story: list[Any]) -> None:
    run(Houses(common_database.socket_url, TableRegistry), story)


@given(story=stories)
@examples(0.4)
def test_so_they_do_when_the_command_is_told_beforehand(common_database: Database, story: list[Any]) -> None:
    run(Houses(common_database.socket_url, PostgresRegistry), story)


@given(story=stories)
@examples(0.2)
def test_so_they_do_behind_a_pooler(common_database: Database, pooler: Pooler, story: list[Any]) -> None:
    run(Houses(pooler.url(common_database.name), TableRegistry), story)
