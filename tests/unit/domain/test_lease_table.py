"""`decide`: examples, then properties over sequences of commands in a small world."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st
from tests import strategies

from commonhold.domain.clock import Now, deadline
from commonhold.domain.commands import Acquire, Release, Renew
from commonhold.domain.events import Event, LeaseExpired, Recorded
from commonhold.domain.fold import State, apply
from commonhold.domain.keys import Key, canonical, overlaps
from commonhold.domain.lease import Denied, Granted, Lease, NotHeld, Released, Renewed
from commonhold.domain.lease_table import LeaseTable, decide, expire
from commonhold.domain.modes import Mode
from commonhold.domain.refusal import Refusal

Command = Acquire | Renew | Release
Answer = Granted | Denied | Renewed | Released | NotHeld


@dataclass
class Table:
    """A table brought up to date by events alone, as a store does it."""

    state: State = field(default_factory=State)
    seconds: float = 0.0
    count: int = 0

    @property
    def now(self) -> Now:
        return Now("boot-1", self.seconds, self.seconds)

    def run(self, command: Command) -> Answer:
        self.record(expire(tuple(self.state.leases.values()), self.now))
        table = LeaseTable(tuple(self.state.leases.values()), self.state.sequence + 1)
        decision = decide(table, command, self.now)
        self.record(decision.events)
        return decision.answer

    def record(self, events: Iterable[Event]) -> None:
        for event in events:
            self.state = apply(self.state, Recorded(self.state.sequence + 1, self.seconds, event))

    def acquire(self, holder: str, *keys: Key, mode: Mode = Mode.EXCLUSIVE, ttl: float = 60.0) -> Answer:
        self.count += 1
        return self.run(Acquire(f"lease-{self.count}", "acq", holder, "task", keys, mode, ttl))

    def live(self) -> list[Lease]:
        return [lease for lease in self.state.leases.values() if lease.is_live(self.now)]


F, G = canonical("file:a.py#f"), canonical("file:a.py#g")


def granted(answer: Answer) -> Lease:
    assert isinstance(answer, Granted)
    return answer.lease


def test_a_grant_has_the_number_of_its_event_as_fence() -> None:
    table = Table()
    lease = granted(table.acquire("one", F, G))
    assert (lease.fence, lease.keys, lease.granted_at) == (1, (str(F), str(G)), 0.0)
    assert lease.deadline == deadline(table.now, 60.0)
    assert table.state.leases == {lease.id: lease}


def test_a_denial_names_every_conflict_and_grants_nothing() -> None:
    table = Table()
    granted(table.acquire("one", F))
    granted(table.acquire("two", G))
    answer = table.acquire("three", F, G)
    assert isinstance(answer, Denied)
    assert [(each.key, each.holder) for each in answer.conflicts] == [(str(F), "one"), (str(G), "two")]
    assert len(table.state.leases) == 2


def test_what_has_run_out_is_recorded_and_stands_in_nobodys_way() -> None:
    table = Table()
    first = granted(table.acquire("one", F))
    table.seconds = 60.0
    second = granted(table.acquire("two", F))
    assert (first.fence, second.fence) == (1, 3)
    assert list(table.state.leases) == [second.id]


def test_what_has_run_out_is_named_and_no_conflict() -> None:
    now = Now("boot-1", 50.0, 50.0)
    leases = (_lease("l1", "one", F, 10.0), _lease("l2", "two", F, 100.0))
    assert expire(leases, now) == (LeaseExpired("one", "l1", leases[0].deadline),)
    decision = decide(LeaseTable(leases, 7), Acquire("l3", "acq", "three", "", (F,), Mode.EXCLUSIVE, 60.0), now)
    assert isinstance(decision.answer, Denied)
    assert [conflict.holder for conflict in decision.answer.conflicts] == ["two"]


def test_a_renewal_sets_the_end() -> None:
    table = Table()
    lease = granted(table.acquire("one", F, ttl=1000.0))
    table.seconds = 5.0
    answer = table.run(Renew(lease.id, "one", 10.0))
    assert isinstance(answer, Renewed)
    assert answer.lease.deadline == deadline(table.now, 10.0)
    assert (answer.lease.fence, table.state.leases[lease.id]) == (lease.fence, answer.lease)


def test_a_release_frees_the_keys() -> None:
    table = Table()
    lease = granted(table.acquire("one", F))
    assert table.run(Release(lease.id, "one")) == Released(lease)
    granted(table.acquire("two", F))


def test_only_the_holder_renews_and_releases() -> None:
    table = Table()
    lease = granted(table.acquire("one", F))
    for command in (Renew(lease.id, "two", 10.0), Release(lease.id, "two")):
        answer = table.run(command)
        assert isinstance(answer, NotHeld)
        assert answer.code == Refusal.NOT_HOLDER
        assert "held by one" in answer.why
    assert table.live() == [lease]


def test_what_has_ended_is_not_revived() -> None:
    table = Table()
    lease = granted(table.acquire("one", F))
    table.seconds = 60.0
    for command in (Renew(lease.id, "one", 10.0), Release(lease.id, "one"), Release("never", "one")):
        answer = table.run(command)
        assert isinstance(answer, NotHeld)
        assert answer.code == Refusal.LEASE_LOST
    assert table.state.leases == {}


def test_a_lease_that_has_run_out_but_was_not_swept_is_lost() -> None:
    lease = _lease("l1", "one", F, 10.0)
    decision = decide(LeaseTable((lease,), 2), Release("l1", "one"), Now("boot-1", 10.0, 10.0))
    assert isinstance(decision.answer, NotHeld)
    assert decision.answer.code is Refusal.LEASE_LOST
    assert decision.events == ()


def _lease(lease_id: str, holder: str, key: Key, ends: float) -> Lease:
    until = deadline(Now("boot-1", 0.0, 0.0), ends)
    return Lease(lease_id, 1, holder, "", (str(key),), Mode.EXCLUSIVE, "acq", 0.0, until)


_holders = st.sampled_from(("one", "two", "three"))
_acquires = st.tuples(
    st.just("acquire"), _holders, st.lists(strategies.small_keys, min_size=1, max_size=3), st.sampled_from(Mode)
)
_others = st.tuples(st.sampled_from(("renew", "release")), _holders, st.integers(1, 12), st.just(Mode.SHARED))
_waits = st.tuples(st.just("wait"), _holders, st.integers(1, 40), st.just(Mode.SHARED))


def play(table: Table, step: tuple[str, str, object, Mode]) -> Answer | None:
    verb, holder, what, mode = step
    match verb, what:
        case "acquire", list(keys):
            return table.acquire(holder, *keys, mode=mode, ttl=30.0)
        case "wait", int(seconds):
            table.seconds += seconds
            return None
        case "renew", _:
            return table.run(Renew(f"lease-{what}", holder, 30.0))
        case _:
            return table.run(Release(f"lease-{what}", holder))


@given(st.lists(_acquires | _others | _waits, max_size=20))
def test_no_two_live_leases_are_incompatible_and_fences_only_rise(steps: list[tuple[str, str, object, Mode]]) -> None:
    table = Table()
    fences: list[int] = []
    for step in steps:
        answer = play(table, step)
        if isinstance(answer, Granted):
            fences.append(answer.lease.fence)
            assert answer.lease.fence == table.state.sequence
        for left, right in combinations(table.live(), 2):
            assert are_at_peace(left, right)
    assert fences == sorted(set(fences))


@given(st.lists(_acquires | _others | _waits, max_size=20), _acquires)
def test_an_acquire_is_denied_only_for_a_reason(
    steps: list[tuple[str, str, object, Mode]], last: tuple[str, str, list[Key], Mode]
) -> None:
    table = Table()
    for step in steps:
        play(table, step)
    _, holder, keys, mode = last
    wanted = Lease("", 0, holder, "", tuple(map(str, keys)), mode, "", 0.0, deadline(table.now, 1.0))
    is_free = all(are_at_peace(wanted, lease) for lease in table.live())
    assert isinstance(play(table, last), Granted) is is_free


def are_at_peace(left: Lease, right: Lease) -> bool:
    """Say whether two leases may live together, in the plainest words."""
    if left.holder == right.holder or left.mode == right.mode == Mode.SHARED:
        return True
    pairs = ((canonical(mine), canonical(theirs)) for mine in left.keys for theirs in right.keys)
    return not any(overlaps(mine, theirs) for mine, theirs in pairs)
