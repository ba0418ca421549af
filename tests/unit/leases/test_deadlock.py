"""Nobody waits in a circle: the youngest in it gives way."""

import pytest
from tests.unit.leases.desk import PATIENCE, SHARED, UPGRADABLE, A, B, C, D, Desk, E

from commonhold.kernel.events import Leaving, WaiterLeft
from commonhold.kernel.lease import Waiter
from commonhold.kernel.outcomes import Denied, Granted, Queued
from commonhold.kernel.refusals import Refusal


@pytest.fixture
def desk() -> Desk:
    return Desk()


def sent_away(desk: Desk) -> list[str]:
    gone = (each.event for each in desk.log if isinstance(each.event, WaiterLeft))
    return [event.holder for event in gone if event.why is Leaving.DEADLOCK]


def test_the_youngest_is_refused_if_it_is_the_one_that_asks(desk: Desk) -> None:
    desk.grant("old", A)
    desk.grant("young", B)
    desk.wait("old", B)
    answer = desk.ask("young", A, patience=PATIENCE)
    assert isinstance(answer, Denied)
    assert answer.code is Refusal.DEADLOCK
    assert [each.holder for each in answer.conflicts] == ["old"]
    assert desk.line() == ["old"]


def test_the_youngest_leaves_the_line_if_an_older_one_asks(desk: Desk) -> None:
    desk.grant("old", A)
    young = desk.grant("young", B)
    waiter = desk.wait("young", A)
    desk.wait("old", B)
    assert (desk.line(), sent_away(desk)) == (["old"], ["young"])
    assert desk.log[-2].event == WaiterLeft("young", waiter.id, Leaving.DEADLOCK)
    again = desk.again(waiter)
    assert isinstance(again, Denied)
    assert again.code is Refusal.DEADLOCK
    desk.release(young)
    assert desk.line() == []


def test_circles_of_three_are_found(desk: Desk) -> None:
    for holder, key in (("one", A), ("two", B), ("three", C)):
        desk.grant(holder, key)
    desk.wait("two", C)
    desk.wait("three", A)
    desk.wait("one", B)
    assert sent_away(desk) == ["three"]
    assert desk.line() == ["two", "one"]


def test_a_deadlock_may_lead_through_a_waiter(desk: Desk) -> None:
    """One holds B, waits for D. Two waits for A and B. Three holds D, and would wait behind two."""
    desk.grant("zero", A)
    desk.grant("one", B)
    desk.grant("three", D)
    desk.wait("one", D)
    two = desk.wait("two", A, B)
    answer = desk.ask("three", A, patience=PATIENCE)
    assert isinstance(answer, Queued)
    assert sent_away(desk) == ["two"]
    assert isinstance(desk.again(two), Queued)
    assert desk.line() == ["one", "three", "two"]


def test_whoever_asks_may_be_served_at_once_when_the_youngest_gave_way(desk: Desk) -> None:
    desk.grant("one", B)
    desk.grant("three", D)
    desk.wait("one", D)
    desk.wait("two", A, B)
    answer = desk.ask("three", A, patience=PATIENCE)
    assert isinstance(answer, Granted)
    assert answer.lease.is_claimed
    assert (desk.line(), sent_away(desk)) == (["one"], ["two"])


def test_one_of_two_readers_that_both_upgrade_fails_fast(desk: Desk) -> None:
    old, young = desk.grant("old", A, mode=SHARED), desk.grant("young", A, mode=SHARED)
    waiter = desk.wait("young", A, replaces=young.id)
    desk.wait("old", A, replaces=old.id)
    assert sent_away(desk) == ["young"]
    answer = desk.again(waiter)
    assert isinstance(answer, Denied)
    assert answer.code is Refusal.DEADLOCK
    desk.release(young)
    assert desk.holders() == ["old"]


def test_only_one_can_read_upgradably_so_there_is_no_such_circle(desk: Desk) -> None:
    desk.grant("one", A, mode=UPGRADABLE)
    answer = desk.ask("two", A, mode=UPGRADABLE)
    assert isinstance(answer, Denied)
    assert answer.code is Refusal.LOCK_CONFLICT


def test_nobody_else_leaves_when_the_one_that_asks_is_refused(desk: Desk) -> None:
    """Asking would close two circles; in one of them another is the youngest, in the other who asks is."""
    desk.grant("old", C)
    desk.grant("asker", A)
    desk.grant("young", B)
    desk.wait("old", A)
    desk.wait("young", A)
    answer = desk.ask("asker", B, C, patience=PATIENCE)
    assert isinstance(answer, Denied)
    assert answer.code is Refusal.DEADLOCK
    assert (desk.line(), sent_away(desk)) == (["old", "young"], [])


def test_several_circles_are_all_broken(desk: Desk) -> None:
    desk.grant("old", A)
    desk.grant("two", B)
    desk.grant("three", C)
    desk.wait("two", A)
    desk.wait("three", A)
    assert isinstance(desk.ask("old", B, C, patience=PATIENCE), Queued)
    assert sorted(sent_away(desk)) == ["three", "two"]


def test_a_hand_over_may_close_a_circle(desk: Desk) -> None:
    lease = desk.grant("one", A)
    desk.grant("two", B)
    desk.grant("three", C)
    desk.wait("two", C)
    desk.wait("three", A)
    desk.hand_over(lease, "two")
    assert sent_away(desk) == ["three"]
    assert desk.line() == ["two"]


def test_the_end_of_a_lease_may_close_a_circle(desk: Desk) -> None:
    """One waits for A beside two, because two waits for its B. When B is free, one is behind two."""
    desk.grant("zero", A)
    free = desk.grant("one", B)
    desk.grant("one", D)
    desk.grant("three", C)
    desk.wait("three", D)
    two = desk.wait("two", A, B, C)
    desk.wait("one", A)
    assert sent_away(desk) == []
    desk.release(free)
    assert sent_away(desk) == ["two"]
    assert desk.line() == ["three", "one"]
    assert isinstance(desk.again(two), Queued)


def test_ways_that_meet_again_are_no_circle(desk: Desk) -> None:
    """One waits for two and three, both of these for four; nobody of them for one, whom six waits for."""
    for holder, key in (("one", A), ("two", B), ("three", C), ("four", D), ("five", E)):
        desk.grant(holder, key)
    for holder, keys in (("six", [A]), ("four", [E]), ("two", [D]), ("three", [D])):
        desk.wait(holder, *keys)
    desk.wait("one", B, C)
    assert sent_away(desk) == []


def test_a_long_queue_is_no_deadlock(desk: Desk) -> None:
    desk.grant("first", A)
    waiters: list[Waiter] = [desk.wait(f"agent-{number}", A) for number in range(30)]
    assert len(desk.line()) == len(waiters)
    assert sent_away(desk) == []
