"""Slots: several leases of one key at once, and never more than its number of slots."""
# ruff: noqa: S101, D102, PLR2004 - these are tests: assert is how pytest speaks, and the test's name is its claim

from concurrent.futures import ThreadPoolExecutor

from commonhold.kernel.events import Leaving, WaiterLeft
from commonhold.kernel.outcomes import Broken, Denied, Granted, HandedOver, NotStored, Queued
from commonhold.kernel.refusals import Refusal
from commonhold.testing.conformance.rig import EXCLUSIVE, PATIENCE, TTL, Caller, Conformance, Rig, expect

KEY = "gpu:box"


class SlotConformance(Conformance):
    """A key of which a number of leases may exist at once."""

    def test_as_many_leases_as_slots_are_granted_each_with_its_own_slot_and_a_higher_fence(self, rig: Rig) -> None:
        one, two, three, four = self.callers(rig, "one", "two", "three", "four")
        leases = [caller.lease(KEY, slots=3) for caller in (one, two, three)]
        assert [(lease.slots, lease.slot) for lease in leases] == [(3, 1), (3, 2), (3, 3)]
        assert len({lease.fence for lease in leases}) == 3
        assert [lease.fence for lease in leases] == sorted(lease.fence for lease in leases)
        denied = expect(Denied, four.acquire(KEY, slots=3))
        assert denied.code is Refusal.LOCK_CONFLICT
        assert [each.holder for each in denied.conflicts] == ["one", "two", "three"]
        assert one.leases() == tuple(leases)

    def test_a_slot_that_becomes_free_is_given_out_again_with_a_higher_fence(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        first, second = one.lease(KEY, slots=2), two.lease(KEY, slots=2)
        one.release(first)
        third = three.lease(KEY, slots=2)
        assert (third.slot, third.fence > second.fence) == (1, True)

    def test_each_lease_takes_a_slot_those_of_one_holder_too(self, rig: Rig) -> None:
        """One session may run several commands at once: a limit that it shared with itself would limit nothing."""
        (one,) = self.callers(rig, "one")
        assert [one.lease(KEY, slots=2).slot for _ in range(2)] == [1, 2]
        denied = expect(Denied, one.acquire(KEY, slots=2))
        assert (denied.code, [each.holder for each in denied.conflicts]) == (Refusal.LOCK_CONFLICT, ["one"])
        assert expect(Queued, one.acquire(KEY, slots=2, patience=PATIENCE)).position == 1

    def test_no_more_simultaneous_requests_are_granted_than_there_are_slots(self, rig: Rig) -> None:
        callers = self.callers(rig, *(f"agent-{number}" for number in range(8)))
        with ThreadPoolExecutor(len(callers)) as threads:
            outcomes = list(threads.map(lambda caller: caller.acquire(KEY, slots=3), callers))
        granted = [each.lease.slot for each in outcomes if isinstance(each, Granted)]
        assert (sorted(granted), len(callers[0].leases())) == ([1, 2, 3], 3)

    def test_waiters_for_a_slot_are_served_in_order(self, rig: Rig) -> None:
        callers = self.callers(rig, *(f"agent-{number}" for number in range(6)))
        held = [caller.lease(KEY, slots=2) for caller in callers[:2]]
        waiters = [caller.wait(KEY, slots=2) for caller in callers[2:]]
        for place, waiter in enumerate(waiters, 1):
            queued = expect(Queued, callers[place + 1].again(waiter))
            assert queued.position == place
            assert [each.is_waiting for each in queued.conflicts] == [False, False] + [True] * (place - 1)
        callers[1].release(held[1])
        assert callers[0].holders() == ["agent-0", "agent-2"]
        assert expect(Granted, callers[2].again(waiters[0])).lease.slot == 2
        callers[0].release(held[0])
        assert callers[0].holders() == ["agent-2", "agent-3"]
        assert callers[0].line() == ["agent-4", "agent-5"]

    def test_a_later_request_gets_no_slot_before_earlier_waiters(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        lease = one.lease(KEY)
        two.wait(KEY, slots=1)
        assert [each.holder for each in expect(Denied, three.acquire(KEY, slots=1)).conflicts] == ["one", "two"]
        one.release(lease)
        assert one.holders() == ["two"]

    def test_waiters_for_slots_are_served_together_behind_an_exclusive_lease(self, rig: Rig) -> None:
        one, two, three, four = self.callers(rig, "one", "two", "three", "four")
        lease = one.lease(KEY)
        for caller in (two, three, four):
            caller.wait(KEY, slots=2)
        one.release(lease)
        assert (one.holders(), one.line()) == (["two", "three"], ["four"])
        assert [each.slot for each in one.leases()] == [1, 2]

    def test_a_lease_on_all_of_the_key_waits_for_all_slots_and_keeps_later_ones_behind_it(self, rig: Rig) -> None:
        one, two, three, four = self.callers(rig, "one", "two", "three", "four")
        leases = [caller.lease(KEY, slots=4) for caller in (one, two)]
        place = three.wait(KEY)
        assert [each.holder for each in expect(Denied, four.acquire(KEY, slots=4)).conflicts] == ["three"]
        for caller, lease in zip((one, two), leases, strict=True):
            assert expect(Queued, three.again(place)).position == 1
            caller.release(lease)
        assert (three.holders(), three.leases()[0].slot) == (["three"], 0)

    def test_another_number_of_slots_is_refused_with_the_holders_of_the_first(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY, slots=3)
        for caller in (one, two):
            for patience in (None, PATIENCE):
                denied = expect(Denied, caller.acquire(KEY, slots=4, patience=patience))
                assert denied.code is Refusal.SLOTS_DIFFER
                assert [each.holder for each in denied.conflicts] == ["one"]
        one.release(lease)
        assert two.lease(KEY, slots=4).slots == 4

    def test_another_number_of_slots_than_a_waiter_wants_is_refused(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        one.lease(KEY)
        two.wait(KEY, slots=2)
        assert expect(Denied, three.acquire(KEY, slots=3, patience=PATIENCE)).code is Refusal.SLOTS_DIFFER

    def test_slots_of_different_keys_do_not_count_together_and_a_part_conflicts_with_the_whole(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        one.lease(KEY, slots=1)
        two.lease("gpu:other", slots=1)
        for key in ("gpu:box:1", "gpu:*"):
            assert [each.held for each in expect(Denied, two.acquire(key, slots=1)).conflicts] == [KEY]

    def test_a_slot_whose_holder_is_lost_goes_to_the_next(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        one.lease(KEY, slots=2)
        rig.advance(TTL / 2)
        two.lease(KEY, slots=2)
        rig.advance(TTL / 2 - PATIENCE / 2)
        three.wait(KEY, slots=2)
        rig.advance(PATIENCE / 2 + 1)
        two.heartbeat()
        assert (two.holders(), [each.slot for each in two.leases()]) == (["two", "three"], [2, 1])

    def test_a_slot_that_is_taken_by_force_goes_to_the_next(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY, slots=1)
        two.wait(KEY, slots=1)
        expect(Broken, two.break_lease(lease))
        assert two.holders() == ["two"]

    def test_a_slot_can_be_handed_over_beside_the_others(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY, slots=2)
        two.lease(KEY, slots=2)
        handed = expect(HandedOver, one.hand_over(lease, "two")).lease
        assert (handed.slot, two.holders()) == (1, ["two", "two"])

    def test_a_ticket_for_one_number_of_slots_is_for_no_other(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        lease = one.lease(KEY, slots=2)
        assert expect(Granted, one.again(lease)).lease == lease
        for slots in (0, 3):
            assert expect(Denied, one.again(lease, slots=slots)).code is Refusal.ID_IN_USE

    def test_a_slot_beside_others_gives_no_right_to_write(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        lease = one.lease(KEY, slots=2)
        assert expect(NotStored, one.put(KEY, "x", 0, fence=lease.fence)).code is Refusal.LEASE_LOST
        assert expect(NotStored, one.put(KEY, "x", 0, must_hold=True)).code is Refusal.LEASE_REQUIRED

    def test_a_waiter_for_a_slot_is_in_no_deadlock_while_another_holder_may_release(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        one.lease(KEY, slots=2)
        free = two.lease(KEY, slots=2)
        three.lease("account:1")
        three.wait(KEY, slots=2)
        one.wait("account:1")
        assert one.line() == ["three", "one"]
        two.release(free)
        assert three.holders() == ["one", "three", "three"]

    def test_a_deadlock_through_all_slots_is_broken(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        one.lease(KEY, slots=2)
        two.lease(KEY, slots=2)
        three.lease("account:1")
        three.wait(KEY, slots=2)
        one.wait("account:1")
        outcome = two.acquire("account:1", patience=PATIENCE)
        assert _were_cut(three) == ["three"]
        assert expect(Queued, outcome).position == 2

    def test_a_waiter_for_a_second_slot_is_in_no_deadlock(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        lease = one.lease(KEY, slots=1)
        place = one.wait(KEY, slots=1)
        one.release(lease)
        assert expect(Granted, one.again(place)).lease.mode is EXCLUSIVE


def _were_cut(caller: Caller) -> list[str]:
    return [event.holder for event in caller.events(WaiterLeft) if event.why is Leaving.DEADLOCK]
