from dataclasses import replace

from commonhold.domain.clock import Deadline
from commonhold.domain.events import (
    CommitRefused,
    Committed,
    CommitUndone,
    Debt,
    Event,
    FileChange,
    LeaseDenied,
    LeaseExpired,
    LeaseGranted,
    LeaseReleased,
    LeaseRenewed,
    Recorded,
)
from commonhold.domain.fold import State, fold
from commonhold.domain.lease import Lease
from commonhold.domain.modes import Mode
from commonhold.domain.refusal import Refusal

UNTIL = Deadline("boot-1", 60.0, 60.0)
LEASE = Lease("l1", 1, "one", "", ("account:1",), Mode.SHARED, "acq", 0.0, UNTIL)
OTHER = replace(LEASE, id="l2", fence=2)


def folded(*events: Event) -> State:
    return fold(Recorded(sequence, 0.0, event) for sequence, event in enumerate(events, 1))


def commit(*paths: str, debts: tuple[Debt, ...] = (), settled: tuple[str, ...] = ()) -> Committed:
    files = tuple(FileChange(path, None, "h", None, 0o644) for path in paths)
    return Committed("one", "", "/w", (), files, (), debts, settled)


def test_nothing_adds_up_to_nothing() -> None:
    assert folded() == State()


def test_leases_begin_are_renewed_and_end() -> None:
    later = Deadline("boot-1", 90.0, 90.0)
    assert folded(LeaseGranted(LEASE), LeaseGranted(OTHER)).leases == {"l1": LEASE, "l2": OTHER}
    renewed = folded(LeaseGranted(LEASE), LeaseRenewed("one", "l1", later))
    assert renewed == State(2, {"l1": replace(LEASE, deadline=later)})
    assert folded(LeaseGranted(LEASE), LeaseGranted(OTHER), LeaseReleased("one", "l1")).leases == {"l2": OTHER}
    assert folded(LeaseGranted(LEASE), LeaseExpired("one", "l1", UNTIL)) == State(2)


def test_commits_are_found_by_path_in_order() -> None:
    assert folded(commit("a", "b"), commit("b")).commits == {"a": (1,), "b": (1, 2)}


def test_a_debt_is_settled_where_it_is_owed() -> None:
    elsewhere = Debt("file:a.py#f", "one", "why", "/other")
    state = folded(commit(debts=(elsewhere,)), commit(settled=(elsewhere.key,)))
    assert state.debts == {elsewhere.place: elsewhere}


def test_debts_are_opened_replaced_and_settled() -> None:
    debt, worse = Debt("file:a.py#f", "one", "why", "/w"), Debt("file:a.py#f", "two", "worse", "/w")
    assert folded(commit(debts=(debt,))).debts == {debt.place: debt}
    assert folded(commit(debts=(debt,)), commit(debts=(worse,))).debts == {debt.place: worse}
    assert folded(commit(debts=(debt,)), commit(settled=(debt.key,))).debts == {}
    assert folded(commit(debts=(debt,)), commit(debts=(worse,), settled=(debt.key,))).debts == {debt.place: worse}


def test_refusals_change_nothing_but_the_sequence() -> None:
    refusals = (
        LeaseDenied("one", "", (), Mode.SHARED, ()),
        CommitRefused("one", "", Refusal.PARSE_INVALID, (), ""),
        CommitUndone("one", "", (), ()),
    )
    assert folded(LeaseGranted(LEASE), *refusals) == State(4, {"l1": LEASE})
