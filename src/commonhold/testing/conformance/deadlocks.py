"""No holder waits in a cycle: its youngest member gives way."""
# ruff: noqa: S101, D102, PLR2004 - these are tests: assert is how pytest speaks, and the test's name is its claim

from commonhold.kernel.events import Leaving, WaiterLeft
from commonhold.kernel.outcomes import Denied, Granted, Queued, Released
from commonhold.kernel.refusals import Refusal
from commonhold.testing.conformance.rig import PATIENCE, SHARED, Caller, Conformance, Rig, expect

A, B, C, D = (f"account:{name}" for name in "abcd")


def sent_away(caller: Caller) -> list[str]:
    """Return the holders that left the line so that others can go on."""
    return [event.holder for event in caller.events(WaiterLeft) if event.why is Leaving.DEADLOCK]


class DeadlockConformance(Conformance):
    """Deadlocks, and the holders that give way."""

    def test_a_younger_holder_that_closes_a_deadlock_is_refused_at_once(self, rig: Rig) -> None:
        old, young = self.callers(rig, "old", "young")
        old.lease(A)
        young.lease(B)
        old.wait(B)
        denied = expect(Denied, young.acquire(A, patience=PATIENCE))
        assert denied.code is Refusal.DEADLOCK
        assert [each.holder for each in denied.conflicts] == ["old"]
        assert (old.line(), sent_away(old)) == (["old"], [])

    def test_a_younger_waiter_leaves_the_queue_when_an_older_one_closes_a_deadlock(self, rig: Rig) -> None:
        old, young = self.callers(rig, "old", "young")
        old.lease(A)
        lease = young.lease(B)
        waiter = young.wait(A)
        place = old.wait(B)
        assert (old.line(), sent_away(old)) == (["old"], ["young"])
        assert expect(Denied, young.again(waiter)).code is Refusal.DEADLOCK
        expect(Released, young.release(lease))
        expect(Granted, old.again(place))

    def test_a_deadlock_of_three_is_broken_at_the_youngest(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        for caller, key in ((one, A), (two, B), (three, C)):
            caller.lease(key)
        two.wait(C)
        three.wait(A)
        one.wait(B)
        assert (one.line(), sent_away(one)) == (["two", "one"], ["three"])

    def test_a_deadlock_may_lead_through_a_waiter(self, rig: Rig) -> None:
        zero, one, two, three = self.callers(rig, "zero", "one", "two", "three")
        zero.lease(A)
        one.lease(B)
        three.lease(D)
        one.wait(D)
        two.wait(A, B)
        expect(Queued, three.acquire(A, patience=PATIENCE))
        assert (one.line(), sent_away(one)) == (["one", "three"], ["two"])

    def test_one_of_two_readers_that_both_upgrade_fails_fast(self, rig: Rig) -> None:
        old, young = self.callers(rig, "old", "young")
        mine, others = old.lease(A, mode=SHARED), young.lease(A, mode=SHARED)
        place = old.wait(A, replaces=mine)
        assert expect(Denied, young.acquire(A, patience=PATIENCE, replaces=others)).code is Refusal.DEADLOCK
        young.release(others)
        expect(Granted, old.again(place, replaces=mine))
        assert old.holders() == ["old"]

    def test_a_refused_request_removes_no_other_waiter(self, rig: Rig) -> None:
        old, asker, young = self.callers(rig, "old", "asker", "young")
        old.lease(C)
        asker.lease(A)
        young.lease(B)
        old.wait(A)
        young.wait(A)
        assert expect(Denied, asker.acquire(B, C, patience=PATIENCE)).code is Refusal.DEADLOCK
        assert (old.line(), sent_away(old)) == (["old", "young"], [])

    def test_a_hand_over_that_closes_a_deadlock_removes_its_youngest_waiter(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        lease = one.lease(A)
        two.lease(B)
        three.lease(C)
        two.wait(C)
        three.wait(A)
        one.hand_over(lease, "two")
        assert (one.line(), sent_away(one)) == (["two"], ["three"])

    def test_a_release_that_closes_a_deadlock_removes_its_youngest_waiter(self, rig: Rig) -> None:
        """While two waits for a lease of one, one does not wait for two; without that lease it does."""
        zero, one, two, three = self.callers(rig, "zero", "one", "two", "three")
        zero.lease(A)
        free = one.lease(B)
        one.lease(D)
        three.lease(C)
        three.wait(D)
        two.wait(A, B, C)
        one.wait(A)
        assert sent_away(one) == []
        one.release(free)
        assert (one.line(), sent_away(one)) == (["three", "one"], ["two"])

    def test_a_long_queue_is_no_deadlock(self, rig: Rig) -> None:
        callers = self.callers(rig, *(f"agent-{number}" for number in range(12)))
        callers[0].lease(A)
        for caller in callers[1:]:
            caller.wait(A)
        assert len(callers[0].line()) == 11
        assert sent_away(callers[0]) == []
