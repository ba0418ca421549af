from dataclasses import replace

from commonhold.kernel.clock import Deadline
from commonhold.kernel.events import (
    CommitRefused,
    Committed,
    CommitUndone,
    DebtWaived,
    Event,
    FileChange,
    LeaseBroken,
    LeaseClaimed,
    LeaseDenied,
    LeaseExpired,
    LeaseGranted,
    LeaseHandedOver,
    LeaseQueued,
    LeaseReleased,
    LeaseRenewed,
    Leaving,
    Recorded,
    ReleaseAsked,
    ValuePut,
    WaiterLeft,
    WaiterSeen,
    WorkLeft,
    WorkReviewed,
)
from commonhold.kernel.lease import Base, Lease, Waiter, Wish
from commonhold.kernel.modes import Mode
from commonhold.kernel.obligations import Debt
from commonhold.kernel.partial_work import PartialWork, UnfinishedChange
from commonhold.kernel.projection import State, fold
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.values import Value

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


def test_a_lease_changes_while_it_lives() -> None:
    later, bases = Deadline("boot-1", 90.0, 90.0), (Base("account:1", "h"),)
    waited = replace(LEASE, is_claimed=False)
    claimed = LeaseClaimed("one", "l1", later, "/w", bases)
    expected = replace(LEASE, deadline=later, worktree="/w", bases=bases)
    assert folded(LeaseGranted(waited), claimed).leases == {"l1": expected}
    assert folded(LeaseGranted(waited), LeaseRenewed("one", "l1", later)).leases == {
        "l1": replace(LEASE, deadline=later)
    }
    wished = folded(LeaseGranted(LEASE), ReleaseAsked("one", "l1", Wish("two", "why")))
    assert wished.leases == {"l1": replace(LEASE, wish=Wish("two", "why"))}
    handed = folded(
        LeaseGranted(LEASE), ReleaseAsked("one", "l1", Wish("two", "why")), LeaseHandedOver("one", "l1", "two")
    )
    assert handed.leases == {"l1": replace(LEASE, holder="two", fence=3)}


def test_a_place_in_line_begins_is_kept_up_and_ends() -> None:
    waiter = Waiter("l2", 1, "two", "", ("account:1",), Mode.SHARED, "acq", 0.0, UNTIL, 60.0, 60.0)
    later = Deadline("boot-1", 90.0, 90.0)
    assert folded(LeaseQueued(waiter)).waiters == {"l2": waiter}
    assert folded(LeaseQueued(waiter), WaiterSeen("two", "l2", later)).waiters == {
        "l2": replace(waiter, deadline=later)
    }
    assert folded(LeaseQueued(waiter), WaiterLeft("two", "l2", Leaving.CANCELLED)) == State(2)
    assert folded(LeaseQueued(waiter), LeaseGranted(OTHER)) == State(2, {"l2": OTHER})


def test_a_value_is_the_last_that_was_put() -> None:
    state = folded(
        ValuePut("one", "account:1", "10"), ValuePut("two", "account:2", "x"), ValuePut("two", "account:1", None)
    )
    assert state.values == {
        "account:1": Value("account:1", 3, None, "two", 0.0),
        "account:2": Value("account:2", 2, "x", "two", 0.0),
    }


def test_the_work_of_a_lost_lease_is_looked_for_found_and_reviewed() -> None:
    lease = replace(LEASE, bases=(Base("account:1", "h"),), worktree="/w")
    lost = (LeaseGranted(lease), LeaseBroken("one", "l1", "two", "why"))
    assert folded(*lost) == State(2, lost={"l1": lease})
    assert folded(*lost, WorkLeft("one", "l1", ())) == State(3)
    left = WorkLeft("one", "l1", (UnfinishedChange("account:1", "h", "i"),))
    assert folded(*lost, left) == State(3, works={"l1": PartialWork("l1", "one", "", "/w", left.changes, 0.0)})
    assert folded(*lost, left, WorkReviewed("two", "l1", "kept")) == State(4)


def test_commits_are_found_by_path_in_order() -> None:
    assert folded(commit("a", "b"), commit("b")).commits == {"a": (1,), "b": (1, 2)}


def test_a_debt_is_settled_where_it_is_owed() -> None:
    elsewhere = Debt("file:a.py#f", "one", "why", "/other")
    state = folded(commit(debts=(elsewhere,)), commit(settled=(elsewhere.key,)))
    assert state.debts == {elsewhere.place: elsewhere}


def test_a_debt_is_waived_where_it_is_owed() -> None:
    debt = Debt("file:a.py#f", "one", "why", "/w")
    opened = commit(debts=(debt,))
    assert folded(opened, DebtWaived("two", debt.key, "/other", "never mind")).debts == {debt.place: debt}
    assert folded(opened, DebtWaived("two", debt.key, "/w", "never mind")).debts == {}


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
