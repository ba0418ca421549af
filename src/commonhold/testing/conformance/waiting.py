"""Waiting: first come, first served, and no waiter is blocked forever."""
# ruff: noqa: S101, D102, PLR2004 - these are tests: assert is how pytest speaks, and the test's name is its claim

from commonhold.kernel.events import LeaseClaimed, Leaving, WaiterLeft
from commonhold.kernel.lease import Base
from commonhold.kernel.outcomes import Cancelled, Denied, Granted, HandedOver, NotHeld, Queued
from commonhold.kernel.refusals import Refusal
from commonhold.testing.conformance.leases import seconds_left
from commonhold.testing.conformance.rig import EXCLUSIVE, PATIENCE, SHARED, TTL, Conformance, Rig, expect

KEY = "account:1"


class WaitingConformance(Conformance):
    """Places in line, and how they end."""

    def test_a_waiter_gets_its_position_and_the_conflicts_ahead_of_it(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        one.lease(KEY)
        two.wait(KEY)
        queued = expect(Queued, three.acquire(KEY, patience=PATIENCE))
        assert queued.position == 2
        assert [(each.holder, each.is_waiting) for each in queued.conflicts] == [("one", False), ("two", True)]
        assert (queued.waiter.holder, queued.waiter.keys, queued.waiter.mode) == ("three", (KEY,), EXCLUSIVE)
        with one.registry.read() as view:
            assert [waiter.holder for waiter in view.waiters()] == ["two", "three"]
            assert view.waiters()[1] == queued.waiter

    def test_the_queue_is_served_in_order(self, rig: Rig) -> None:
        callers = self.callers(rig, *(f"agent-{number}" for number in range(6)))
        held = callers[0].lease(KEY)
        waiters = [caller.wait(KEY) for caller in callers[1:]]
        fences = [held.fence]
        for caller, waiter in zip(callers[1:], waiters, strict=True):
            for behind, place in enumerate(waiters[waiters.index(waiter) :], 1):
                asked = callers[waiters.index(place) + 1].again(place)
                assert expect(Queued, asked).position == behind
            callers[callers.index(caller) - 1].release(held)
            held = expect(Granted, caller.again(waiter)).lease
            fences.append(held.fence)
        assert fences == sorted(set(fences))

    def test_a_waiting_writer_comes_before_later_readers(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        reading = one.lease(KEY, mode=SHARED)
        two.wait(KEY)
        assert [each.is_waiting for each in expect(Denied, three.acquire(KEY, mode=SHARED)).conflicts] == [True]
        three.wait(KEY, mode=SHARED)
        one.release(reading)
        assert (one.holders(), one.line()) == (["two"], ["three"])

    def test_consecutive_readers_in_the_queue_are_served_together(self, rig: Rig) -> None:
        callers = self.callers(rig, "one", "two", "three", "four", "five")
        writing = callers[0].lease(KEY)
        for caller, mode in zip(callers[1:], (SHARED, SHARED, EXCLUSIVE, SHARED), strict=True):
            caller.wait(KEY, mode=mode)
        callers[0].release(writing)
        assert (callers[0].holders(), callers[0].line()) == (["two", "three"], ["four", "five"])

    def test_a_waiter_for_several_keys_is_served_when_the_last_is_released(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        first, second = one.lease("account:1"), two.lease("account:2")
        three.wait("account:1", "account:2")
        one.release(first)
        assert three.line() == ["three"]
        two.release(second)
        assert three.holders() == ["three"]

    def test_a_release_serves_the_waiter_in_the_same_step(self, rig: Rig) -> None:
        """A waiter cannot miss a release between a check and the wait: it needs no wake-up."""
        one, two, three = self.callers(rig, "one", "two", "three")
        lease = one.lease(KEY)
        two.wait(KEY)
        one.release(lease)
        assert isinstance(three.acquire(KEY), Denied)
        assert one.holders() == ["two"]

    def test_the_queue_is_served_when_a_lease_expires(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        one.lease(KEY)
        rig.advance(TTL - PATIENCE / 2)
        two.wait(KEY)
        rig.advance(PATIENCE / 2 + 1)
        three.heartbeat()
        assert three.holders() == ["two"]

    def test_the_queue_is_served_when_a_lease_is_broken(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        lease = one.lease(KEY)
        two.wait(KEY)
        three.break_lease(lease)
        assert three.holders() == ["two"]

    def test_the_new_holder_of_a_lease_no_longer_waits_for_it(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY)
        waiter = two.wait(KEY)
        expect(HandedOver, one.hand_over(lease, "two"))
        assert (two.holders(), two.line()) == (["two", "two"], [])
        expect(Granted, two.again(waiter))

    def test_a_waiter_keeps_its_place_by_asking_again(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY)
        waiter = two.wait(KEY)
        for _ in range(3):
            rig.advance(0.6 * PATIENCE)
            one.heartbeat()
            assert expect(Queued, two.again(waiter)).waiter.number == waiter.number
        one.release(lease)
        assert two.holders() == ["two"]

    def test_a_waiter_without_a_sign_of_life_loses_its_place(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        one.lease(KEY)
        waiter = two.wait(KEY)
        rig.advance(PATIENCE + 1)
        three.wait(KEY)
        assert two.line() == ["three"]
        assert WaiterLeft("two", waiter.id, Leaving.TIMED_OUT) in two.events(WaiterLeft)
        assert expect(Queued, two.again(waiter)).position == 2

    def test_a_dead_waiter_does_not_block_later_ones(self, rig: Rig) -> None:
        one, dead, three = self.callers(rig, "one", "dead", "three")
        lease = one.lease(KEY)
        dead.wait(KEY)
        rig.advance(0.6 * PATIENCE)
        three.wait(KEY)
        rig.advance(0.6 * PATIENCE)
        one.release(lease)
        assert (three.holders(), three.line()) == (["three"], [])

    def test_a_dead_waiter_does_not_deny_later_requests(self, rig: Rig) -> None:
        one, dead, three = self.callers(rig, "one", "dead", "three")
        one.lease(KEY, mode=SHARED)
        dead.wait(KEY)
        rig.advance(PATIENCE + 1)
        three.lease(KEY, mode=SHARED)

    def test_a_waiter_claims_its_lease_by_asking_again_and_gets_its_full_time(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY)
        waiter = two.wait(KEY)
        one.release(lease)
        bases = (Base(KEY, "h1"),)
        rig.advance(PATIENCE / 2)
        taken = expect(Granted, two.again(waiter, bases=bases)).lease
        assert (taken.id, taken.is_claimed, taken.worktree, taken.bases) == (waiter.id, True, "/worktree", bases)
        assert TTL - 30 < seconds_left(two, taken) <= TTL
        assert [(each.holder, each.lease_id) for each in two.events(LeaseClaimed)] == [("two", waiter.id)]

    def test_an_unclaimed_lease_goes_to_the_next_waiter_after_its_patience(self, rig: Rig) -> None:
        one, dead, three = self.callers(rig, "one", "dead", "three")
        lease = one.lease(KEY)
        dead.wait(KEY)
        waiter = three.wait(KEY)
        one.release(lease)
        assert three.holders() == ["dead"]
        assert not three.leases()[0].is_claimed
        rig.advance(0.6 * PATIENCE)
        expect(Queued, three.again(waiter))
        rig.advance(0.6 * PATIENCE)
        expect(Granted, three.again(waiter))
        assert three.holders() == ["three"]

    def test_a_heartbeat_claims_no_lease(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY)
        two.wait(KEY)
        one.release(lease)
        rig.advance(0.6 * PATIENCE)
        two.heartbeat()
        rig.advance(0.6 * PATIENCE)
        one.lease(KEY)

    def test_a_renewal_claims_a_lease_too(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY)
        two.wait(KEY)
        one.release(lease)
        (granted,) = two.leases()
        two.renew(granted, TTL)
        rig.advance(PATIENCE + 1)
        assert isinstance(one.acquire(KEY), Denied)

    def test_an_upgrade_that_waited_keeps_the_bases_of_the_lease_that_it_replaces(self, rig: Rig) -> None:
        """Its holder has the key already, and its changes since the first of the two leases must still be found."""
        one, two = self.callers(rig, "one", "two")
        bases = (Base(KEY, "h0"),)
        mine, other = one.lease(KEY, mode=SHARED, bases=bases), two.lease(KEY, mode=SHARED)
        waiter = one.wait(KEY, replaces=mine)
        two.release(other)
        (upgraded,) = one.leases()
        assert (upgraded.id, upgraded.is_claimed, upgraded.bases) == (waiter.id, True, bases)
        assert TTL - 30 < seconds_left(one, upgraded) <= TTL

    def test_a_waiter_that_gives_up_makes_room_for_the_next(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        one.lease(KEY, mode=SHARED)
        waiter = two.wait(KEY)
        three.wait(KEY, mode=SHARED)
        assert expect(NotHeld, three.release(waiter)).code is Refusal.LEASE_LOST
        assert expect(Cancelled, two.release(waiter)).waiter == waiter
        assert (one.holders(), one.line()) == (["one", "three"], [])

    def test_a_ticket_belongs_to_one_request(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        one.lease(KEY)
        waiter = two.wait(KEY)
        for wish in (two.wish("account:2", lease_id=waiter.id), one.wish(KEY, lease_id=waiter.id)):
            assert expect(Denied, one.run(wish)).code is Refusal.ID_IN_USE
        assert one.line() == ["two"]

    def test_a_request_for_a_free_key_does_not_wait(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        assert one.lease(KEY, patience=PATIENCE).is_claimed
        assert one.line() == []

    def test_a_holder_does_not_queue_behind_its_own_waiter(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        one.lease("account:1")
        two.wait("account:1", "account:2")
        one.lease("account:2")
        assert one.holders() == ["one", "one"]

    def test_a_waiter_holds_up_no_keys_but_its_own(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        one.lease("file:src/a.py#f")
        two.wait("file:src/a.py")
        three.lease("file:src/b.py")
        assert isinstance(three.acquire("file:src/a.py#g"), Denied)
        assert isinstance(three.acquire("file:src/", patience=PATIENCE), Queued)
