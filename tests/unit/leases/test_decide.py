"""`decide`: what each command is answered, and what is recorded for it."""

from dataclasses import replace

import pytest
from tests.unit.leases.desk import EXCLUSIVE, PATIENCE, SHARED, A, B, C, Desk

from commonhold.kernel.clock import deadline
from commonhold.kernel.commands import (
    Acquire,
    Ask,
    Break,
    HandOver,
    Heartbeat,
    Put,
    RecordPartialWork,
    Release,
    Renew,
    Review,
)
from commonhold.kernel.events import (
    LeaseBroken,
    LeaseClaimed,
    LeaseDenied,
    LeaseExpired,
    LeaseHandedOver,
    LeaseQueued,
    LeaseReleased,
    LeaseRenewed,
    Leaving,
    ReleaseAsked,
    WaiterLeft,
    WaiterSeen,
    WorkLeft,
    WorkReviewed,
)
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import Base, Lease, Wish
from commonhold.kernel.outcomes import (
    Acknowledged,
    Asked,
    Broken,
    Cancelled,
    Denied,
    Granted,
    HandedOver,
    NotHeld,
    NothingLeft,
    Queued,
    Released,
    Renewed,
)
from commonhold.kernel.partial_work import PartialWork, UnfinishedChange
from commonhold.kernel.refusals import Refusal
from commonhold.leases.decide import keys_of

BASES = (Base("file:a.py", "h0"),)
WORK = (UnfinishedChange("file:a.py", "h0", "h1"),)


@pytest.fixture
def desk() -> Desk:
    return Desk()


def lost(desk: Desk) -> Lease:
    """Let the first holder work on a file until its time is over."""
    granted = desk.run(Acquire("l0", "acq", "one", "mend", (A,), EXCLUSIVE, 60.0, None, None, "/w", BASES))
    assert isinstance(granted, Granted)
    desk.seconds = 60.0
    desk.run(Heartbeat("sweeper"))
    return granted.lease


def test_a_grant_has_the_number_of_its_event_as_fence(desk: Desk) -> None:
    command = Acquire("l0", "acq", "one", "mend", (A, B), SHARED, 60.0, None, None, "/w", BASES)
    answer = desk.run(command)
    until = deadline(desk.now, 60.0)
    expected = Lease(
        "l0", 1, "one", "mend", (str(A), str(B)), SHARED, "acq", 1000.0, until, 60.0, worktree="/w", bases=BASES
    )
    assert answer == Granted(expected)
    assert desk.state.leases == {"l0": expected}


def test_a_denial_names_every_conflict_and_grants_nothing(desk: Desk) -> None:
    desk.grant("one", A)
    desk.grant("two", B)
    answer = desk.ask("three", A, B)
    assert isinstance(answer, Denied)
    assert [(each.key, each.holder, each.is_waiting) for each in answer.conflicts] == [
        (str(A), "one", False),
        (str(B), "two", False),
    ]
    assert answer.code is Refusal.LOCK_CONFLICT
    assert desk.holders() == ["one", "two"]
    assert desk.last() == LeaseDenied("three", "of three", (str(A), str(B)), EXCLUSIVE, answer.conflicts)


def test_what_has_run_out_is_ended_and_stands_in_nobodys_way(desk: Desk) -> None:
    first = desk.grant("one", A)
    desk.seconds = 60.0
    second = desk.grant("two", A)
    assert (first.fence, second.fence) == (1, 3)
    assert desk.log[1].event == LeaseExpired("one", first.id, first.deadline)
    assert desk.holders() == ["two"]


def test_after_a_reboot_nothing_is_held(desk: Desk) -> None:
    desk.grant("one", A)
    desk.boot = 2
    desk.grant("two", A)
    assert desk.holders() == ["two"]


def test_asking_again_gives_the_same_lease_and_changes_nothing(desk: Desk) -> None:
    lease = desk.grant("one", A)
    desk.seconds = 50.0
    assert desk.again(lease) == Granted(lease)
    assert desk.events() == ["LeaseGranted"]


@pytest.mark.parametrize(("holder", "key", "mode"), [("two", A, EXCLUSIVE), ("one", B, EXCLUSIVE), ("one", A, SHARED)])
@pytest.mark.parametrize("is_waiting", [False, True])
def test_an_id_stands_for_one_wish(desk: Desk, holder: str, key: object, mode: object, *, is_waiting: bool) -> None:
    if is_waiting:
        desk.grant("zero", A)
    desk.ask("one", A, patience=PATIENCE, name="mine")
    before = len(desk.log)
    answer = desk.ask(holder, key, mode=mode, patience=PATIENCE, name="mine")  # type: ignore[arg-type]
    assert answer == Denied((), Refusal.ID_IN_USE)
    assert len(desk.log) == before


def test_a_holder_sees_which_of_its_leases_are_wished_for(desk: Desk) -> None:
    lease = desk.grant("one", A)
    assert desk.run(Ask(lease.id, "two", "hotfix")) == Asked(replace(lease, wish=Wish("two", "hotfix")))
    assert desk.last() == ReleaseAsked("one", lease.id, Wish("two", "hotfix"))
    answer = desk.ask("one", B)
    assert isinstance(answer, Granted)
    assert [each.id for each in answer.wished] == [lease.id]
    again = desk.again(answer.lease)
    assert isinstance(again, Granted)
    assert again.wished == answer.wished


def test_a_renewal_sets_the_end(desk: Desk) -> None:
    lease = desk.grant("one", A)
    desk.seconds = 5.0
    answer = desk.run(Renew(lease.id, "one", 10.0))
    until = deadline(desk.now, 10.0)
    assert answer == Renewed(replace(lease, deadline=until, ttl_seconds=10.0))
    assert desk.last() == LeaseRenewed("one", lease.id, until, 10.0)


def test_a_heartbeat_extends_a_lease_by_the_time_of_its_last_renewal(desk: Desk) -> None:
    lease = desk.grant("one", A)
    desk.run(Renew(lease.id, "one", 10.0))
    desk.run(Heartbeat("one"))
    assert desk.state.leases[lease.id].deadline.ticks == 10.0
    desk.seconds = 6.0
    desk.run(Heartbeat("one"))
    assert desk.state.leases[lease.id].deadline.ticks == 16.0


def test_a_release_frees_the_keys(desk: Desk) -> None:
    lease = desk.grant("one", A)
    assert desk.run(Release(lease.id, "one")) == Released(lease)
    assert desk.last() == LeaseReleased("one", lease.id)
    desk.grant("two", A)


def test_a_place_in_line_can_be_given_up_by_who_has_it(desk: Desk) -> None:
    desk.grant("one", A)
    waiter = desk.wait("two", A)
    assert isinstance(desk.run(Release(waiter.id, "three")), NotHeld)
    assert desk.run(Release(waiter.id, "two")) == Cancelled(waiter)
    assert desk.last() == WaiterLeft("two", waiter.id, Leaving.CANCELLED)
    assert desk.line() == []


def test_only_the_holder_renews_releases_and_hands_over(desk: Desk) -> None:
    lease = desk.grant("one", A)
    for command in (Renew(lease.id, "two", 10.0), Release(lease.id, "two"), HandOver(lease.id, "two", "three")):
        why = f"the lease {lease.id} is held by one, not by two"
        assert desk.run(command) == NotHeld(Refusal.NOT_HOLDER, lease.id, why)
    assert desk.events() == ["LeaseGranted"]


def test_what_has_ended_is_not_revived(desk: Desk) -> None:
    lease = desk.grant("one", A)
    desk.seconds = 60.0
    commands = (
        Renew(lease.id, "one", 10.0),
        Release(lease.id, "one"),
        Break(lease.id, "one", "why"),
        Ask(lease.id, "one", "why"),
        HandOver(lease.id, "one", "two"),
        Renew("never", "one", 10.0),
    )
    for command in commands:
        answer = desk.run(command)
        assert isinstance(answer, NotHeld)
        assert answer.code is Refusal.LEASE_LOST
    assert desk.holders() == []


def test_a_forced_break_is_on_record_and_the_next_fence_is_higher(desk: Desk) -> None:
    lease = desk.grant("one", A)
    assert desk.run(Break(lease.id, "boss", "one hangs")) == Broken(lease)
    assert desk.last() == LeaseBroken("one", lease.id, "boss", "one hangs")
    assert desk.grant("two", A).fence > lease.fence


def test_a_lease_changes_hands_with_a_new_fence(desk: Desk) -> None:
    lease = desk.grant("one", A)
    desk.run(Ask(lease.id, "two", "hotfix"))
    answer = desk.run(HandOver(lease.id, "one", "two"))
    assert answer == HandedOver(replace(lease, holder="two", fence=3))
    assert desk.last() == LeaseHandedOver("one", lease.id, "two")
    assert isinstance(desk.run(Renew(lease.id, "one", 10.0)), NotHeld)
    assert isinstance(desk.run(Renew(lease.id, "two", 10.0)), Renewed)


def test_a_lease_is_not_handed_to_one_whom_the_givers_other_lease_excludes(desk: Desk) -> None:
    desk.grant("one", canonical("file:src/"), mode=SHARED)
    lease = desk.grant("one", canonical("file:src/a.py"))
    answer = desk.run(HandOver(lease.id, "one", "two"))
    assert isinstance(answer, Denied)
    assert [(each.held, each.holder) for each in answer.conflicts] == [("file:src/", "one")]
    assert desk.state.leases[lease.id] == lease


def test_an_upgrade_takes_the_place_of_the_lease_it_replaces(desk: Desk) -> None:
    reading = desk.grant("one", A, mode=SHARED)
    writing = desk.grant("one", A, replaces=reading.id)
    assert list(desk.state.leases) == [writing.id]
    assert desk.events() == ["LeaseGranted", "LeaseGranted", "LeaseReleased"]


def test_only_an_own_live_lease_can_be_replaced(desk: Desk) -> None:
    lease = desk.grant("one", A, mode=SHARED)
    for holder, name, code in (("two", lease.id, Refusal.NOT_HOLDER), ("one", "never", Refusal.LEASE_LOST)):
        answer = desk.ask(holder, B, replaces=name)
        assert isinstance(answer, NotHeld)
        assert answer.code is code
    assert desk.events() == ["LeaseGranted"]


def test_an_upgrade_that_waited_goes_on_from_what_it_replaces(desk: Desk) -> None:
    """Its holder is there already; and if it is lost later, its work is looked for from where it began."""
    reading = desk.run(Acquire("r", "acq", "one", "", (A,), SHARED, 60.0, None, None, "/w", BASES))
    other = desk.grant("two", A, mode=SHARED)
    assert isinstance(reading, Granted)
    waiter = desk.wait("one", A, replaces="r")
    desk.release(other)
    upgraded = desk.state.leases[waiter.id]
    assert (upgraded.is_claimed, upgraded.deadline) == (True, deadline(desk.now, 60.0))
    assert (upgraded.worktree, upgraded.bases) == ("/w", BASES)


def test_an_upgrade_of_a_lease_that_nobody_took_must_be_taken_itself(desk: Desk) -> None:
    blocking = desk.grant("zero", A)
    reading = desk.wait("one", A, mode=SHARED)
    other = desk.wait("two", A, mode=SHARED)
    desk.release(blocking)
    waiter = desk.wait("one", A, replaces=reading.id)
    desk.run(Release(other.id, "two"))
    assert not desk.state.leases[waiter.id].is_claimed


def test_an_upgrade_that_waited_replaces_only_what_is_still_the_waiters(desk: Desk) -> None:
    reading = desk.grant("one", A, mode=SHARED)
    other = desk.grant("two", A, mode=SHARED)
    desk.wait("one", A, replaces=reading.id)
    desk.hand_over(reading, "three")
    desk.release(other)
    assert desk.line() == ["one"]
    desk.run(Release(reading.id, "three"))
    assert desk.holders() == ["one"]
    assert desk.state.waiters == {}


def test_a_sign_of_life_lets_the_holders_leases_last_on(desk: Desk) -> None:
    mine, others = desk.grant("one", A), desk.grant("two", B)
    desk.seconds = 29.0
    assert desk.run(Heartbeat("one")) == Acknowledged()
    assert desk.state.leases[mine.id] == mine
    desk.seconds = 31.0
    desk.run(Heartbeat("one"))
    assert desk.state.leases == {mine.id: replace(mine, deadline=deadline(desk.now, 60.0)), others.id: others}
    assert desk.events()[2:] == ["LeaseRenewed"]


def test_a_write_slot_is_over_when_it_is_over_however_lively_its_holder(desk: Desk) -> None:
    """A tool that never wrote, of a session that goes on, keeps nobody from the file for longer."""
    desk.grant("one", canonical("slot:1:a.py"))
    for seconds in (31.0, 59.0, 61.0):
        desk.seconds = seconds
        desk.run(Heartbeat("one"))
    assert desk.state.leases == {}
    assert desk.events() == ["LeaseGranted", "LeaseExpired"]


def test_a_command_about_a_lease_is_no_sign_of_life_for_that_lease(desk: Desk) -> None:
    lease, beside = desk.grant("one", A), desk.grant("one", B)
    desk.seconds = 50.0
    desk.run(Renew(lease.id, "one", 20.0))
    assert [desk.state.leases[each.id].deadline.ticks for each in (lease, beside)] == [70.0, 110.0]


def test_whoever_asks_or_breaks_shows_a_sign_of_life_of_its_own(desk: Desk) -> None:
    lease, mine = desk.grant("one", A), desk.grant("two", B)
    desk.seconds = 50.0
    desk.run(Ask(lease.id, "two", "hotfix"))
    assert [desk.state.leases[each.id].deadline.ticks for each in (lease, mine)] == [60.0, 110.0]


def test_partial_work_is_kept_until_it_is_reviewed(desk: Desk) -> None:
    lease = lost(desk)
    assert desk.state.lost == {"l0": lease}
    assert desk.run(RecordPartialWork("l0", "one", WORK)) == Acknowledged()
    work = PartialWork("l0", "one", "mend", "/w", WORK, 1060.0)
    assert (desk.state.lost, desk.state.works) == ({}, {"l0": work})
    assert desk.run(RecordPartialWork("l0", "one", WORK)) == NothingLeft("l0")
    assert desk.run(Review("l0", "two", "kept")) == Acknowledged(work)
    assert desk.run(Review("l0", "two", "kept")) == NothingLeft("l0")
    assert [each.event for each in desk.log[-2:]] == [WorkLeft("one", "l0", WORK), WorkReviewed("two", "l0", "kept")]


def test_a_broken_lease_may_have_left_work_too(desk: Desk) -> None:
    desk.run(Acquire("l0", "acq", "one", "mend", (A,), EXCLUSIVE, 60.0, None, None, "/w", BASES))
    desk.run(Break("l0", "boss", "one hangs"))
    assert list(desk.state.lost) == ["l0"]
    desk.run(RecordPartialWork("l0", "one", ()))
    assert (desk.state.lost, desk.state.works) == ({}, {})


def test_a_search_for_partial_work_is_no_heartbeat_of_the_lost_holder(desk: Desk) -> None:
    desk.run(Acquire("l0", "acq", "one", "mend", (A,), EXCLUSIVE, 10.0, None, None, "/w", BASES))
    other = desk.grant("one", B)
    desk.seconds = 59.0
    desk.run(RecordPartialWork("l0", "one", WORK))
    assert desk.state.leases == {other.id: other}
    assert desk.run(RecordPartialWork("l0", "one", WORK)) == Acknowledged()


def test_waiting_is_recorded_and_kept_up_by_asking_again(desk: Desk) -> None:
    desk.grant("one", A)
    waiter = desk.wait("two", A)
    assert desk.last() == LeaseQueued(waiter)
    assert waiter.number == desk.log[-1].sequence
    assert (waiter.deadline, waiter.queued_at) == (deadline(desk.now, PATIENCE), 1000.0)
    desk.seconds = 14.0
    assert isinstance(desk.again(waiter), Queued)
    assert desk.state.waiters == {waiter.id: waiter}
    desk.seconds = 16.0
    answer = desk.again(waiter)
    assert isinstance(answer, Queued)
    assert answer.waiter == replace(waiter, deadline=deadline(desk.now, PATIENCE))
    assert desk.last() == WaiterSeen("two", waiter.id, answer.waiter.deadline)


def test_who_waited_takes_the_lease_by_asking_again(desk: Desk) -> None:
    first = desk.grant("one", A)
    waiter = desk.wait("two", A)
    desk.seconds = 10.0
    desk.release(first)
    granted = desk.state.leases[waiter.id]
    assert not granted.is_claimed
    assert (granted.deadline.ticks, granted.fence) == (10.0 + PATIENCE, desk.log[-1].sequence)
    desk.seconds = 20.0
    answer = desk.run(Acquire(waiter.id, "", "two", "", (A,), EXCLUSIVE, 60.0, PATIENCE, None, "/w", BASES))
    until = deadline(desk.now, 60.0)
    claimed = replace(granted, is_claimed=True, deadline=until, worktree="/w", bases=BASES)
    assert answer == Granted(claimed)
    assert desk.last() == LeaseClaimed("two", waiter.id, until, "/w", BASES)


def test_a_lease_that_nobody_takes_ends_as_the_place_in_line_would_have(desk: Desk) -> None:
    first = desk.grant("one", A)
    desk.wait("two", A)
    desk.wait("three", A)
    desk.release(first)
    desk.seconds = 20.0
    desk.run(Heartbeat("two"))
    desk.seconds = PATIENCE
    desk.run(Heartbeat("three"))
    assert desk.holders() == []
    assert desk.line() == []


def test_a_renewal_claims_a_lease_too(desk: Desk) -> None:
    first = desk.grant("one", A)
    waiter = desk.wait("two", A)
    desk.release(first)
    desk.run(Renew(waiter.id, "two", 60.0))
    assert desk.state.leases[waiter.id].is_claimed


def test_nothing_is_decided_twice_for_one_that_shows_up_in_between(desk: Desk) -> None:
    """What a command ends for others is recorded before what it does itself."""
    desk.grant("one", A)
    desk.wait("two", A, C)
    desk.seconds = 20.0
    desk.again(next(iter(desk.state.waiters.values())))
    desk.seconds = 60.0
    desk.grant("three", B)
    assert desk.events()[-3:] == ["LeaseExpired", "WaiterLeft", "LeaseGranted"]


def test_only_acquiring_and_writing_look_at_keys() -> None:
    assert keys_of(Acquire("l1", "acq", "one", "", (A, B), SHARED, 60.0)) == (A, B)
    assert keys_of(Put(C, "one", "text", 0)) == (C,)
    assert keys_of(Heartbeat("one")) == ()
