"""Partial work: the changes under a lost lease are flagged for review, and never lost (invariant I8)."""
# ruff: noqa: S101, D102 - these are tests: assert is how pytest speaks, and the test's name is its claim

from commonhold.kernel.events import WorkLeft, WorkReviewed
from commonhold.kernel.lease import Base, Lease
from commonhold.kernel.outcomes import Acknowledged, NothingLeft
from commonhold.kernel.partial_work import PartialWork, UnfinishedChange
from commonhold.testing.conformance.rig import TTL, Caller, Conformance, Rig, expect

KEY = "file:a.py"
BASES = (Base(KEY, "h0"),)
CHANGE = UnfinishedChange(KEY, "h0", "h1")


def lost(caller: Caller) -> tuple[Lease, ...]:
    """Return the leases whose changes have not been searched for."""
    with caller.registry.read() as view:
        return view.lost()


def works(caller: Caller) -> tuple[PartialWork, ...]:
    """Return partial work that waits for review."""
    with caller.registry.read() as view:
        return view.works()


class WorkConformance(Conformance):
    """Lost leases, the changes left under them, and their review."""

    def test_work_under_an_expired_lease_is_found_kept_and_reviewed(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY, bases=BASES)
        rig.advance(TTL + 1)
        two.heartbeat()
        assert lost(two) == (lease,)
        assert expect(Acknowledged, two.leave(lease, CHANGE)).work is None
        (work,) = works(two)
        assert (work.lease_id, work.holder, work.task) == (lease.id, "one", lease.task)
        assert (work.worktree, work.changes, lost(two)) == ("/worktree", (CHANGE,), ())
        assert expect(Acknowledged, two.review(lease, "kept")).work == work
        assert works(two) == ()
        assert [type(each.event) for each in two.log()[-2:]] == [WorkLeft, WorkReviewed]
        assert two.last() == WorkReviewed("two", lease.id, "kept")

    def test_a_broken_lease_may_have_left_work_too(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY, bases=BASES)
        two.break_lease(lease)
        assert lost(two) == (lease,)

    def test_an_expired_lease_without_changes_needs_no_review(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY, bases=BASES)
        two.break_lease(lease)
        expect(Acknowledged, two.leave(lease))
        assert (lost(two), works(two)) == ((), ())
        expect(NothingLeft, two.review(lease))

    def test_a_lease_that_was_given_up_or_had_no_bases_leaves_nothing(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        one.release(one.lease(KEY, bases=BASES))
        two.break_lease(one.lease(KEY))
        assert lost(two) == ()

    def test_partial_work_is_searched_for_once(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY, bases=BASES)
        assert expect(NothingLeft, two.leave(lease, CHANGE)).lease_id == lease.id
        two.break_lease(lease)
        expect(Acknowledged, two.leave(lease, CHANGE))
        expect(NothingLeft, two.leave(lease, CHANGE))
        expect(Acknowledged, two.review(lease))
        expect(NothingLeft, two.review(lease))
        assert len(two.events(WorkLeft)) == 1

    def test_partial_work_is_listed_by_age(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        leases = [one.lease(f"file:{name}.py", bases=(Base(f"file:{name}.py", None),)) for name in "cab"]
        for lease in leases:
            two.break_lease(lease)
            two.leave(lease, UnfinishedChange(lease.keys[0], None, "h1"))
        assert [work.lease_id for work in works(two)] == [lease.id for lease in leases]

    def test_a_search_for_partial_work_is_no_heartbeat_of_the_lost_holder(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        broken = one.lease(KEY, bases=BASES)
        one.lease("file:b.py")
        two.break_lease(broken)
        rig.advance(0.9 * TTL)
        two.leave(broken, CHANGE)
        rig.advance(0.2 * TTL)
        two.lease("file:b.py")

    def test_a_lease_id_that_is_used_again_can_be_lost_again(self, rig: Rig) -> None:
        """A request that comes again much later must not wedge the store."""
        one, two = self.callers(rig, "one", "two")
        for text in ("h1", "h2"):
            for is_looked_for in (False, True):
                lease = one.lease(KEY, bases=BASES, lease_id="again")
                two.break_lease(lease)
                assert lost(two) == (lease,)
                if is_looked_for:
                    two.leave(lease, UnfinishedChange(KEY, "h0", text))
        (work,) = works(two)
        assert work.changes == (UnfinishedChange(KEY, "h0", "h2"),)
