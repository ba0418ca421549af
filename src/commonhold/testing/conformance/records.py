"""The log: all events in one order, and no state that it does not explain (invariant I9)."""
# ruff: noqa: S101, D102, PLR2004 - these are tests: assert is how pytest speaks, and the test's name is its claim

from commonhold.kernel.events import LeaseGranted, LeaseReleased, LeaseRenewed
from commonhold.kernel.lease import Base
from commonhold.kernel.lease_ports import LeaseView
from commonhold.kernel.partial_work import UnfinishedChange
from commonhold.kernel.projection import State, fold
from commonhold.testing.conformance.rig import PATIENCE, SHARED, TTL, Caller, Conformance, Rig, whole_log

VALUES = ("user:1", "user:2")


def viewed(view: LeaseView, sequence: int) -> State:
    """Return the state as the views of a registry give it."""
    return State(
        sequence,
        {lease.id: lease for lease in view.leases()},
        {waiter.id: waiter for waiter in view.waiters()},
        {lease.id: lease for lease in view.lost()},
        {work.lease_id: work for work in view.works()},
        {value.key: value for key in VALUES if (value := view.value(key))},
    )


class RecordConformance(Conformance):
    """Events and the state that they add up to."""

    def test_events_are_in_one_order_and_can_be_read_in_parts(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        for _ in range(3):
            one.release(one.lease("account:1"))
            two.lease("account:2")
        log = one.log()
        sequences = [each.sequence for each in log]
        assert sequences == sorted(set(sequences))
        assert len(log) == 9
        with two.registry.read() as view:
            assert list(view.events()) == log
            assert list(view.events(limit=4)) == log[:4]
            assert list(view.events(after=sequences[3])) == log[4:]
            assert list(view.events(after=sequences[3], limit=2)) == log[4:6]
            assert view.events(after=sequences[-1]) == ()
            assert list(view.latest(3)) == log[-3:]
            assert list(view.latest(100)) == log

    def test_the_number_of_its_grant_is_the_fence_of_a_lease(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        leases = [one.lease(f"account:{number}") for number in range(3)]
        granted = [each for each in one.log() if isinstance(each.event, LeaseGranted)]
        assert [each.sequence for each in granted] == [lease.fence for lease in leases]
        assert [each.event for each in granted] == list(map(LeaseGranted, leases))

    def test_the_events_of_one_lease_can_be_read_alone(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease("account:1")
        two.lease("account:2")
        one.renew(lease, TTL)
        one.release(lease)
        with two.registry.read() as view:
            mine = view.events(lease_id=lease.id)
            assert [type(each.event) for each in mine] == [LeaseGranted, LeaseRenewed, LeaseReleased]
            assert view.events(after=mine[0].sequence, limit=1, lease_id=lease.id) == mine[1:2]
            assert view.events(lease_id="never") == ()

    def test_a_log_of_several_pages_is_read_to_its_end(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        for _ in range(60):
            one.release(one.lease("account:1"))
        with one.registry.read() as view:
            assert len(list(whole_log(view))) == 120

    def test_events_carry_the_time_of_the_stores_clock(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        one.lease("account:1")
        rig.advance(TTL / 2)
        before = one.registry.now()
        one.lease("account:2")
        after = one.registry.now()
        first, second = (each.at for each in one.log() if isinstance(each.event, LeaseGranted))
        assert before.wall - 1 <= second <= after.wall + 1
        assert second - first >= TTL / 2 - 1

    def test_folding_the_log_gives_what_the_views_say(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        _tell_a_long_story(rig, one, two, three)
        for caller in (one, *self.callers(rig, "later")):
            with caller.registry.read() as view:
                log = list(whole_log(view))
                assert fold(log) == viewed(view, log[-1].sequence)

    def test_every_client_sees_the_same(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        _tell_a_long_story(rig, one, two, three)
        assert one.log() == two.log() == three.log()
        assert one.leases() == two.leases() == three.leases()


def _tell_a_long_story(rig: Rig, one: Caller, two: Caller, three: Caller) -> None:
    """Make each kind of event happen at least once, and leave something of each kind behind."""
    shared, broken = one.lease("account:1", mode=SHARED), two.lease("file:b.py", bases=(Base("file:b.py", "h0"),))
    expiring = three.lease("file:a.py", bases=(Base("file:a.py", None),))
    one.renew(shared, 3 * TTL)
    two.ask_for(shared)
    three.acquire("account:1")
    first = two.wait("account:1")
    three.wait("account:1")
    one.put("user:1", "ten", 0)
    one.put("user:2", "x", 0)
    one.put("user:2", None, one.version("user:2").version)
    one.break_lease(broken)
    one.leave(broken, UnfinishedChange("file:b.py", "h0", "h1"))
    rig.advance(0.6 * PATIENCE)
    two.again(first)
    rig.advance(0.6 * PATIENCE)
    one.release(shared)
    two.again(first)
    one.hand_over(one.lease("file:c.py"), "two")
    three.release(three.wait("file:c.py"))
    rig.advance(TTL + 1)
    one.leave(expiring, UnfinishedChange("file:a.py", None, "h2"))
    one.review(broken)
    two.break_lease(one.lease("account:8", bases=(Base("account:8", None),)))
    one.lease("account:9")
    two.wait("account:9")
