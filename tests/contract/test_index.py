"""The index against the fold: whatever happens, both add up to the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies
from tests.unit.leases.desk import A, Desk
from tests.unit.leases.stories import Step, stories

from commonhold.kernel.clock import Now, deadline
from commonhold.kernel.commands import Acquire, Command, Heartbeat, Put, RecordPartialWork, Release, Review
from commonhold.kernel.events import CommitUndone, Recorded
from commonhold.kernel.keys import Key, canonical
from commonhold.kernel.lease import Base
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Outcome
from commonhold.kernel.partial_work import UnfinishedChange
from commonhold.kernel.projection import State
from commonhold.kernel.values import Version
from commonhold.leases.decide import decide
from commonhold.stores.memory.deadlines import Deadlines
from commonhold.stores.memory.index import LeaseIndex

pytestmark = pytest.mark.slow


def folded(desk: Desk) -> LeaseIndex:
    index = LeaseIndex()
    for recorded in desk.log:
        index.apply(recorded)
    return index


def told(desk: Desk, story: list[Step]) -> LeaseIndex:
    for step in story:
        step(desk)
    return folded(desk)


def state_of(index: LeaseIndex) -> State:
    return State(
        index.next_sequence - 1,
        {lease.id: lease for lease in index.leases()},
        {waiter.id: waiter for waiter in index.waiters()},
        {lease.id: lease for lease in index.lost()},
        {work.lease_id: work for work in index.works()},
        {value.key: value for value in index.values()},
    )


def copied(state: State) -> LeaseIndex:
    """Load an index as from a store."""
    return LeaseIndex.of(
        leases=reversed(state.leases.values()),
        waiters=reversed(state.waiters.values()),
        values=state.values.values(),
        lost=state.lost.values(),
        works=state.works.values(),
        next_sequence=state.sequence + 1,
    )


@given(stories)
def test_the_index_is_the_fold_of_the_log(story: list[Step]) -> None:
    desk = Desk()
    index = told(desk, story)
    assert state_of(index) == desk.state
    assert state_of(copied(desk.state)) == desk.state
    assert [lease.fence for lease in index.leases()] == sorted(lease.fence for lease in index.leases())
    assert list(index.waiters()) == sorted(index.waiters(), key=lambda waiter: waiter.number)
    for lease in index.leases():
        assert index.lease(lease.id) == lease
        assert lease in index.held_by(lease.holder)
    assert [index.waiter(waiter.id) for waiter in index.waiters()] == list(index.waiters())
    assert index.has_waiters is bool(index.waiters())
    assert sum(len(index.held_by(holder)) for holder in ("one", "two", "three")) == len(index.leases())


@given(stories, stories)
def test_an_index_that_was_loaded_goes_on_like_one_that_was_there_all_along(
    before: list[Step], after: list[Step]
) -> None:
    desk = Desk()
    told(desk, before)
    loaded, start = copied(desk.state), len(desk.log)
    index = told(desk, after)
    for recorded in desk.log[start:]:
        loaded.apply(recorded)
    assert state_of(loaded) == state_of(index)


@given(stories, strategies.small_keys)
def test_whatever_overlaps_is_found(story: list[Step], key: Key) -> None:
    desk = Desk()
    for index in (told(desk, story), copied(desk.state)):
        found = index.overlapping([key])
        assert [lease for lease in found if lease.covering(key)] == [
            lease for lease in index.leases() if lease.covering(key)
        ]
        assert len({lease.id for lease in found}) == len(found)


_ids = st.integers(1, 12).map("l{}".format)
_names = st.sampled_from(("one", "two", "three"))
_keys = st.lists(strategies.small_keys, min_size=1, max_size=2).map(tuple)
_reads = st.lists(st.builds(Version, strategies.small_keys.map(str), st.integers(0, 3)), max_size=2).map(tuple)
_commands: st.SearchStrategy[Command[Outcome]] = st.one_of(
    st.builds(
        Acquire,
        _ids | st.just("new"),
        st.just("acq"),
        _names,
        st.just(""),
        _keys,
        st.sampled_from(Mode),
        st.just(60.0),
        st.sampled_from((None, 20.0)),
        st.none() | _ids,
    ),
    st.builds(Release, _ids, _names),
    st.builds(Put, strategies.small_keys, _names, st.just("x"), st.integers(0, 3), st.none(), _reads),
    st.builds(RecordPartialWork, _ids, _names, st.just((UnfinishedChange("file:a", None, "h"),))),
    st.builds(Review, _ids, _names, st.just("note")),
    st.builds(Heartbeat, _names),
)


@given(stories, _commands, st.sampled_from((0.0, 15.0, 40.0)))
def test_a_decision_from_the_index_is_that_from_the_whole_state(
    story: list[Step], command: Command[Outcome], seconds: float
) -> None:
    desk = Desk()
    index = told(desk, story)
    desk.seconds += seconds
    for _ in range(2):
        assert decide(index.table(command, desk.now), command, desk.now) == decide(
            desk.table(command), command, desk.now
        )


@given(stories)
def test_nothing_remains_of_what_has_ended(story: list[Step]) -> None:
    desk = Desk()
    told(desk, story)
    desk.seconds += 1000.0
    desk.run(Heartbeat("anybody"))
    index = folded(desk)
    kept = (*vars(index._places).values(), index._deadlines._until, index._deadlines._over, index._of_holder)
    assert not any(kept)


def test_a_decision_does_not_see_the_leases_of_others_elsewhere() -> None:
    desk, number = Desk(), 1000
    for each in range(number):
        desk.grant(f"agent-{each}", canonical(f"file:src/{each % 10}/m{each}.py#C.m"))
    index = folded(desk)
    free, held = canonical("file:src/1/new.py#f"), canonical("file:src/1/m1.py")
    table = index.table(Acquire("new", "acq", "one", "", (free,), Mode.EXCLUSIVE, 60.0), desk.now)
    assert table.leases == ()
    table = index.table(Acquire("new", "acq", "agent-7", "", (held,), Mode.EXCLUSIVE, 60.0), desk.now)
    assert [lease.holder for lease in table.leases] == ["agent-1", "agent-7"]
    assert len(index.overlapping([canonical("file:src/1/")])) == number / 10


def test_other_events_only_count() -> None:
    index = LeaseIndex()
    index.apply(Recorded(1, 0.0, CommitUndone("one", "", (), ())))
    assert state_of(index) == State(1)


def test_work_that_is_left_again_under_the_same_lease_is_the_newest() -> None:
    desk = Desk()
    for lease_id, text in (("l1", "first"), ("l2", "first"), ("l1", "second")):
        bases = (Base(str(A), None),)
        desk.run(Acquire(lease_id, "acq", "one", "", (A,), Mode.EXCLUSIVE, 60.0, None, None, "/w", bases))
        desk.seconds += 100.0
        desk.run(Heartbeat("sweeper"))
        desk.run(RecordPartialWork(lease_id, "one", (UnfinishedChange(str(A), None, text),)))
    assert [(work.lease_id, work.changes[0].now) for work in folded(desk).works()] == [
        ("l2", "first"),
        ("l1", "second"),
    ]


NOW = Now("boot-1", 0.0, 0.0)


def test_deadlines_that_no_longer_count_do_not_pile_up() -> None:
    deadlines = Deadlines()
    for number in range(1000):
        deadlines.set("l1", deadline(NOW, 10.0 + number))
    assert sum(map(len, deadlines._heaps.values())) < 100
    assert list(deadlines.over(Now("boot-1", 1008.0, 0.0))) == []
    assert list(deadlines.over(Now("boot-1", 1009.0, 0.0))) == ["l1"]


def test_what_is_over_stays_over_until_it_is_dropped_or_renewed() -> None:
    deadlines = Deadlines()
    for lease_id in ("l1", "l2", "l3"):
        deadlines.set(lease_id, deadline(NOW, 10.0))
    for _ in range(2):
        assert list(deadlines.over(Now("boot-1", 10.0, 0.0))) == ["l1", "l2", "l3"]
    deadlines.drop("l1")
    deadlines.set("l2", deadline(NOW, 20.0))
    assert list(deadlines.over(Now("boot-1", 10.0, 0.0))) == ["l3"]
    assert list(deadlines.over(Now("boot-2", 0.0, 0.0))) == ["l3", "l2"]


def test_what_is_over_is_not_counted_twice_when_the_heap_is_rebuilt() -> None:
    deadlines = Deadlines()
    deadlines.set("l1", deadline(NOW, 10.0))
    assert list(deadlines.over(Now("boot-1", 10.0, 0.0))) == ["l1"]
    for number in range(200):
        deadlines.set("l2", deadline(NOW, 100.0 + number))
    assert list(deadlines.over(Now("boot-1", 10.0, 0.0))) == ["l1"]
    assert all(lease_id == "l2" for heap in deadlines._heaps.values() for _, lease_id in heap)
