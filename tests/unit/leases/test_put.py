"""`decide` on values: what nothing has changed under is stored, all else is refused (invariant I3)."""

import pytest
from tests.unit.leases.desk import EXCLUSIVE, PATIENCE, SHARED, UPGRADABLE, Desk

from commonhold.kernel.commands import HandOver
from commonhold.kernel.events import ValuePut
from commonhold.kernel.keys import canonical
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import NotStored, Stored
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.values import Value, Version

ALL, ONE, TWO = (canonical(text) for text in ("account:*", "account:1", "account:2"))


@pytest.fixture
def desk() -> Desk:
    return Desk()


def refused(answer: Stored | NotStored) -> Refusal:
    assert isinstance(answer, NotStored)
    return answer.code


def stored(answer: Stored | NotStored) -> Value:
    assert isinstance(answer, Stored)
    return answer.value


def test_a_value_has_the_number_of_its_event_as_version(desk: Desk) -> None:
    first = stored(desk.put("one", ONE, "10", 0))
    assert first == Value("account:1", 1, "10", "one", 1000.0)
    desk.seconds = 5.0
    second = stored(desk.put("two", ONE, None, first.version))
    assert second == Value("account:1", 2, None, "two", 1005.0)
    assert desk.state.values == {"account:1": second}
    assert desk.last() == ValuePut("two", "account:1", None)


def test_a_changed_version_is_refused_with_what_is_there_now(desk: Desk) -> None:
    assert desk.put("one", ONE, "10", 3) == NotStored(
        Refusal.VERSION_CHANGED, "account:1 has version 0, not 3", (Value("account:1"),)
    )
    now = stored(desk.put("one", ONE, "10", 0))
    assert desk.put("two", ONE, "20", 0) == NotStored(Refusal.VERSION_CHANGED, "account:1 has version 1, not 0", (now,))


def test_what_was_read_must_not_have_changed_either(desk: Desk) -> None:
    """Each reads both and writes one: the second would write on what it has not seen."""
    first, second = stored(desk.put("one", ONE, "10", 0)), stored(desk.put("one", TWO, "10", 0))
    reads = (Version("account:1", first.version), Version("account:2", second.version), Version("account:3", 0))
    changed = stored(desk.put("one", ONE, "0", first.version, reads=reads))
    answer = desk.put("two", TWO, "0", second.version, reads=reads)
    assert answer == NotStored(Refusal.READ_CHANGED, "account:1 changed since you read it", (changed,))
    assert desk.state.values["account:2"] == second


def test_a_fence_must_be_that_of_a_live_exclusive_lease_that_covers_the_key(desk: Desk) -> None:
    lease = desk.grant("one", ALL)
    assert refused(desk.put("one", ONE, "10", 0, fence=lease.fence + 1)) is Refusal.LEASE_LOST
    assert refused(desk.put("two", ONE, "10", 0, fence=lease.fence)) is Refusal.LEASE_LOST
    assert refused(desk.put("one", canonical("user:1"), "10", 0, fence=lease.fence)) is Refusal.LEASE_LOST
    stored(desk.put("one", ONE, "10", 0, fence=lease.fence))
    desk.seconds = 60.0
    assert refused(desk.put("one", TWO, "10", 0, fence=lease.fence)) is Refusal.LEASE_LOST


def test_the_fence_of_a_lease_on_a_part_is_not_enough(desk: Desk) -> None:
    lease = desk.grant("one", ONE)
    assert refused(desk.put("one", ALL, "10", 0, fence=lease.fence)) is Refusal.LEASE_LOST


@pytest.mark.parametrize("mode", [SHARED, UPGRADABLE])
def test_readers_do_not_write(desk: Desk, mode: Mode) -> None:
    lease = desk.grant("one", ONE, mode=mode)
    assert refused(desk.put("one", ONE, "10", 0, fence=lease.fence)) is Refusal.LEASE_LOST
    assert refused(desk.put("one", ONE, "10", 0, must_hold=True)) is Refusal.LEASE_REQUIRED


def test_after_a_hand_over_the_old_fence_is_refused(desk: Desk) -> None:
    lease = desk.grant("one", ONE)
    desk.run(HandOver(lease.id, "one", "two"))
    assert refused(desk.put("one", ONE, "10", 0, fence=lease.fence)) is Refusal.LEASE_LOST
    assert refused(desk.put("two", ONE, "10", 0, fence=lease.fence)) is Refusal.LEASE_LOST
    stored(desk.put("two", ONE, "10", 0, fence=2))


def test_a_policy_may_ask_for_a_lease(desk: Desk) -> None:
    assert refused(desk.put("one", ONE, "10", 0, must_hold=True)) is Refusal.LEASE_REQUIRED
    desk.grant("one", ONE)
    stored(desk.put("one", ONE, "10", 0, must_hold=True))


@pytest.mark.parametrize("mode", [SHARED, UPGRADABLE, EXCLUSIVE])
def test_nobody_writes_on_what_another_holds(desk: Desk, mode: Mode) -> None:
    desk.grant("one", ALL, mode=mode)
    answer = desk.put("two", ONE, "10", 0)
    assert isinstance(answer, NotStored)
    assert (answer.code, answer.why) == (Refusal.LOCK_CONFLICT, "one holds account:1")
    assert [(each.key, each.held, each.holder) for each in answer.conflicts] == [("account:1", "account:*", "one")]


def test_whoever_only_waits_does_not_stand_against_a_write(desk: Desk) -> None:
    desk.grant("one", ONE)
    desk.ask("two", ALL, patience=PATIENCE)
    stored(desk.put("three", TWO, "10", 0))
