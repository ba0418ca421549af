"""Who is served when: first come, first served, and nobody forever."""

import pytest
from tests.unit.leases.desk import EXCLUSIVE, PATIENCE, SHARED, UPGRADABLE, A, B, C, D, Desk

from commonhold.kernel.commands import Break, Heartbeat
from commonhold.kernel.events import Leaving, WaiterLeft
from commonhold.kernel.keys import canonical
from commonhold.kernel.outcomes import Denied, Granted, Queued
from commonhold.kernel.refusals import Refusal


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_the_first_in_line_is_served_first(desk: Desk) -> None:
    lease = desk.grant("one", A)
    desk.wait("two", A)
    desk.wait("three", A)
    desk.release(lease)
    assert (desk.holders(), desk.line()) == (["two"], ["three"])


def test_a_place_in_line_is_told_with_all_that_stands_before_it(desk: Desk) -> None:
    desk.grant("one", A)
    desk.wait("two", A)
    desk.wait("elsewhere", B, A)
    answer = desk.ask("three", A, patience=PATIENCE)
    assert isinstance(answer, Queued)
    assert answer.position == 3
    assert [(each.holder, each.is_waiting) for each in answer.conflicts] == [
        ("one", False),
        ("two", True),
        ("elsewhere", True),
    ]


def test_whoever_waits_stands_before_newcomers_even_those_that_would_not_wait(desk: Desk) -> None:
    desk.grant("one", A, mode=SHARED)
    desk.wait("two", A)
    answer = desk.ask("three", A, mode=SHARED)
    assert isinstance(answer, Denied)
    assert [(each.holder, each.is_waiting) for each in answer.conflicts] == [("two", True)]
    assert isinstance(desk.ask("three", A, mode=SHARED, patience=PATIENCE), Queued)


def test_readers_next_to_each_other_in_line_are_served_together(desk: Desk) -> None:
    lease = desk.grant("one", A)
    for holder, mode in (("two", SHARED), ("three", UPGRADABLE), ("four", EXCLUSIVE), ("five", SHARED)):
        desk.wait(holder, A, mode=mode)
    desk.release(lease)
    assert (desk.holders(), desk.line()) == (["two", "three"], ["four", "five"])


def test_one_who_waits_elsewhere_is_in_nobodys_way(desk: Desk) -> None:
    lease = desk.grant("one", A)
    desk.grant("two", B)
    desk.wait("three", A, B)
    desk.wait("four", C, A)
    desk.release(lease)
    assert desk.line() == ["three", "four"]
    desk.grant("five", D)


def test_all_keys_are_had_together(desk: Desk) -> None:
    first, second = desk.grant("one", A), desk.grant("two", B)
    desk.wait("three", A, B)
    desk.release(first)
    assert desk.line() == ["three"]
    desk.release(second)
    assert desk.holders() == ["three"]


def test_waiters_are_served_when_a_lease_runs_out(desk: Desk) -> None:
    desk.grant("one", A)
    desk.seconds = 40.0
    desk.wait("two", A)
    desk.seconds = 60.0
    desk.run(Heartbeat("anybody"))
    assert desk.holders() == ["two"]


def test_waiters_are_served_when_a_lease_is_broken(desk: Desk) -> None:
    lease = desk.grant("one", A)
    desk.wait("two", A)
    desk.run(Break(lease.id, "boss", "one hangs"))
    assert desk.holders() == ["two"]


def test_who_shows_no_sign_of_life_loses_the_place_and_blocks_nobody(desk: Desk) -> None:
    lease = desk.grant("one", A)
    dead = desk.wait("two", A)
    desk.seconds = 29.0
    desk.wait("three", A)
    desk.seconds = PATIENCE
    desk.release(lease)
    assert desk.holders() == ["three"]
    assert WaiterLeft("two", dead.id, Leaving.TIMED_OUT) in [each.event for each in desk.log]


def test_a_waiter_that_gives_up_makes_room_for_the_next(desk: Desk) -> None:
    desk.grant("one", A, mode=SHARED)
    writer = desk.wait("two", A)
    desk.wait("three", A, mode=SHARED)
    desk.release(writer)
    assert desk.holders() == ["one", "three"]


def test_whoever_lost_a_place_gets_a_new_one_at_the_end(desk: Desk) -> None:
    desk.grant("one", A)
    waiter = desk.wait("two", A)
    desk.seconds = 29.0
    desk.wait("three", A)
    desk.seconds = PATIENCE
    assert isinstance(desk.again(waiter), Queued)
    assert desk.line() == ["three", "two"]


def test_a_holder_does_not_queue_behind_its_own_waiter(desk: Desk) -> None:
    desk.grant("one", A)
    desk.wait("two", A, B)
    answer = desk.ask("one", B)
    assert isinstance(answer, Granted)


def test_a_holder_that_waits_is_not_behind_one_that_waits_for_it(desk: Desk) -> None:
    desk.grant("one", A)
    desk.wait("two", A, B)
    other = desk.grant("one", C)
    blocking = desk.grant("three", canonical("account:1"))
    desk.wait("one", B, canonical("account:1"))
    desk.release(blocking)
    assert desk.line() == ["two"]
    assert desk.holders() == ["one", "one", "one"]
    assert other.id in desk.state.leases


def test_a_holders_own_places_in_line_do_not_stand_against_each_other(desk: Desk) -> None:
    lease = desk.grant("one", A)
    desk.wait("two", A)
    desk.wait("two", A, mode=SHARED)
    desk.release(lease)
    assert desk.holders() == ["two", "two"]


def test_an_upgrade_that_waits_is_served_when_the_other_readers_are_gone(desk: Desk) -> None:
    mine, other = desk.grant("one", A, mode=SHARED), desk.grant("two", A, mode=SHARED)
    waiter = desk.wait("one", A, replaces=mine.id)
    desk.release(other)
    assert list(desk.state.leases) == [waiter.id]


def test_an_upgrade_of_the_same_keys_need_not_be_come_for(desk: Desk) -> None:
    mine, other = desk.grant("one", A, mode=SHARED), desk.grant("two", A, mode=SHARED)
    waiter = desk.wait("one", A, replaces=mine.id)
    desk.release(other)
    upgraded = desk.state.leases[waiter.id]
    assert (upgraded.is_claimed, upgraded.bases) == (True, mine.bases)


def test_one_of_other_keys_has_to_be_since_nobody_has_looked_at_those(desk: Desk) -> None:
    mine, other = desk.grant("one", A, mode=SHARED), desk.grant("two", A, mode=SHARED)
    waiter = desk.wait("one", A, B, replaces=mine.id)
    desk.release(other)
    assert not desk.state.leases[waiter.id].is_claimed


def test_what_an_upgrade_replaces_is_free_for_the_next_in_the_same_step(desk: Desk) -> None:
    mine, other = desk.grant("one", A, B, mode=SHARED), desk.grant("two", A, mode=SHARED)
    desk.wait("one", A, replaces=mine.id)
    desk.wait("three", B)
    desk.release(other)
    assert (desk.holders(), desk.line()) == (["one", "three"], [])


def test_the_new_holder_of_a_lease_no_longer_waits_for_it(desk: Desk) -> None:
    lease = desk.grant("one", A)
    desk.wait("two", A)
    desk.hand_over(lease, "two")
    assert (desk.holders(), desk.line()) == (["two", "two"], [])


def test_many_wait_and_each_gets_its_turn(desk: Desk) -> None:
    lease = desk.grant("first", A)
    for number in range(20):
        desk.wait(f"agent-{number}", A)
    for number in range(20):
        desk.release(lease)
        (lease,) = desk.state.leases.values()
        assert lease.holder == f"agent-{number}"


def test_with_no_patience_there_is_no_place_in_line(desk: Desk) -> None:
    desk.grant("one", A)
    answer = desk.ask("two", A)
    assert isinstance(answer, Denied)
    assert answer.code is Refusal.LOCK_CONFLICT
    assert desk.line() == []
