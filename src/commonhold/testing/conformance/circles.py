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


class CircleConformance(Conformance):
    """Deadlocks, and the holders that give way."""

    def test_the_younger_of_two_is_refused_at_once_if_it_asks_last(self, rig: Rig) -> None:
        old, young = self.callers(rig, "old", "young")
        old.lease(A)
        young.lease(B)
        old.wait(B)
        denied = expect(Denied, young.acquire(A, patience=PATIENCE))
        assert denied.code is Refusal.DEADLOCK
        assert [each.holder for each in denied.conflicts] == ["old"]
        assert (old.line(), sent_away(old)) == (["old"], [])

    def test_the_younger_of_two_leaves_the_line_if_the_older_asks_last(self, rig: Rig) -> None:
        old, young = self.callers(rig, "old", "young")
        old.lease(A)
        lease = young.lease(B)
        waiter = young.wait(A)
        place = old.wait(B)
        assert (old.line(), sent_away(old)) == (["old"], ["young"])
        assert expect(Denied, young.again(waiter)).code is Refusal.DEADLOCK
        expect(Released, young.release(lease))
        expect(Granted, old.again(place))

    def test_a_circle_of_three_is_broken_by_its_youngest(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        for caller, key in ((one, A), (two, B), (three, C)):
            caller.lease(key)
        two.wait(C)
        three.wait(A)
        one.wait(B)
        assert (one.line(), sent_away(one)) == (["two", "one"], ["three"])

    def test_a_circle_may_lead_through_a_place_in_line(self, rig: Rig) -> None:
        zero, one, two, three = self.callers(rig, "zero", "one", "two", "three")
        zero.lease(A)
        one.lease(B)
        three.lease(D)
        one.wait(D)
        two.wait(A, B)
        expect(Queued, three.acquire(A, patience=PATIENCE))
        assert (one.line(), sent_away(one)) == (["one", "three"], ["two"])

    def test_of_two_readers_that_both_want_to_write_one_fails_fast(self, rig: Rig) -> None:
        old, young = self.callers(rig, "old", "young")
        mine, others = old.lease(A, mode=SHARED), young.lease(A, mode=SHARED)
        place = old.wait(A, replaces=mine)
        assert expect(Denied, young.acquire(A, patience=PATIENCE, replaces=others)).code is Refusal.DEADLOCK
        young.release(others)
        expect(Granted, old.again(place, replaces=mine))
        assert old.holders() == ["old"]

    def test_nobody_else_gives_way_to_one_that_is_refused(self, rig: Rig) -> None:
        old, asker, young = self.callers(rig, "old", "asker", "young")
        old.lease(C)
        asker.lease(A)
        young.lease(B)
        old.wait(A)
        young.wait(A)
        assert expect(Denied, asker.acquire(B, C, patience=PATIENCE)).code is Refusal.DEADLOCK
        assert (old.line(), sent_away(old)) == (["old", "young"], [])

    def test_a_hand_over_that_closes_a_circle_sends_its_youngest_away(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        lease = one.lease(A)
        two.lease(B)
        three.lease(C)
        two.wait(C)
        three.wait(A)
        one.hand_over(lease, "two")
        assert (one.line(), sent_away(one)) == (["two"], ["three"])

    def test_a_release_that_closes_a_circle_sends_its_youngest_away(self, rig: Rig) -> None:
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

    def test_a_long_line_is_no_circle(self, rig: Rig) -> None:
        callers = self.callers(rig, *(f"agent-{number}" for number in range(12)))
        callers[0].lease(A)
        for caller in callers[1:]:
            caller.wait(A)
        assert len(callers[0].line()) == 11
        assert sent_away(callers[0]) == []
