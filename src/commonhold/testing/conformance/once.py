"""Work that is done once for all: one runs it at a time until one has released it with a result, which is kept."""
# ruff: noqa: S101, D102 - these are tests: assert is how pytest speaks, and the test's name is its claim

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from commonhold.kernel.commands import Release
from commonhold.kernel.events import Leaving, WaiterLeft
from commonhold.kernel.lease import Lease
from commonhold.kernel.outcomes import Cancelled, Denied, Done, Granted, HandedOver, NotHeld, Outcome, Queued, Released
from commonhold.kernel.refusals import Refusal
from commonhold.testing.conformance.rig import PATIENCE, TTL, Caller, Conformance, Rig, expect

KEY = "migration:42"


def once(caller: Caller, **rest: object) -> Outcome:
    """Ask to do the work."""
    return caller.acquire(KEY, slots=1, is_once=True, **rest)


def begun(caller: Caller) -> Lease:
    """Return the lease of a caller that begins the work."""
    return expect(Granted, once(caller)).lease


class OnceConformance(Conformance):
    """A key under which something is done exactly once."""

    def test_all_later_requests_get_the_result(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = begun(one)
        assert (lease.is_once, lease.slot) == (True, 1)
        assert expect(Released, one.finish(lease, 'applied\n"zwölf" €')).lease == lease
        rig.advance(100 * TTL)
        for caller in (two, one):
            value = expect(Done, once(caller)).value
            assert (value.text, value.holder, value.version > lease.fence) == ('applied\n"zwölf" €', "one", True)
        assert two.leases() == ()

    def test_an_empty_result_is_a_result(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        one.finish(begun(one), "")
        assert expect(Done, once(one)).value.text == ""

    def test_while_the_work_is_done_all_are_denied_its_own_holder_too(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        begun(one)
        for caller in (one, two):
            denied = expect(Denied, once(caller))
            assert (denied.code, [each.holder for each in denied.conflicts]) == (Refusal.LOCK_CONFLICT, ["one"])

    def test_one_of_many_simultaneous_requests_begins(self, rig: Rig) -> None:
        callers = self.callers(rig, *(f"agent-{number}" for number in range(8)))
        with ThreadPoolExecutor(len(callers)) as threads:
            outcomes = list(threads.map(once, callers))
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Denied"] * 7 + ["Granted"]

    def test_a_waiter_gets_the_result_and_no_turn(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        lease = begun(one)
        places = [expect(Queued, once(caller, patience=PATIENCE)).waiter for caller in (two, three)]
        one.finish(lease, "done")
        assert (two.holders(), two.line()) == ([], [])
        for caller, place in zip((two, three), places, strict=True):
            assert expect(Done, caller.again(place)).value.text == "done"
        assert [event.why for event in one.events(WaiterLeft)] == [Leaving.DONE] * 2

    def test_a_release_without_a_result_gives_the_turn_to_the_next(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = begun(one)
        place = expect(Queued, once(two, patience=PATIENCE)).waiter
        one.release(lease)
        taken = expect(Granted, two.again(place)).lease
        assert (taken.is_once, taken.fence > lease.fence) == (True, True)
        two.finish(taken, "second")
        assert expect(Done, once(one)).value.text == "second"

    def test_the_turn_of_a_lost_runner_goes_to_the_next_and_its_late_result_is_refused(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = begun(one)
        rig.advance(TTL - PATIENCE / 2)
        place = expect(Queued, once(two, patience=PATIENCE)).waiter
        rig.advance(PATIENCE / 2 + 1)
        taken = expect(Granted, two.again(place)).lease
        assert expect(NotHeld, one.finish(lease, "late")).code is Refusal.LEASE_LOST
        two.finish(taken, "second")
        assert expect(Done, once(one)).value.text == "second"

    def test_one_result_of_two_runs_is_kept(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = begun(one)
        two.break_lease(lease)
        taken = begun(two)
        with ThreadPoolExecutor(2) as threads:
            ends = [threads.submit(each.finish, mine, each.name) for each, mine in ((one, lease), (two, taken))]
        assert sorted(type(end.result()).__name__ for end in ends) == ["NotHeld", "Released"]
        assert expect(Done, once(one)).value.text == "two"

    def test_only_the_holder_gives_a_result(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = begun(one)
        assert expect(NotHeld, two.finish(lease, "x")).code is Refusal.NOT_HOLDER
        handed = expect(HandedOver, one.hand_over(lease, "two")).lease
        assert expect(NotHeld, one.finish(lease, "x")).code is Refusal.NOT_HOLDER
        expect(Released, two.finish(handed, "y"))

    def test_a_lease_for_other_work_takes_no_result_and_stays(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        lease = one.lease(KEY)
        assert expect(NotHeld, one.finish(lease, "x")).code is Refusal.NOT_ONCE
        assert one.leases() == (lease,)

    def test_a_waiter_gives_no_result_and_keeps_its_place(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = begun(one)
        place = expect(Queued, once(two, patience=PATIENCE)).waiter
        assert expect(NotHeld, two.finish(lease_of(place.id, lease), "x")).code is Refusal.LEASE_LOST
        assert two.line() == ["two"]
        assert isinstance(two.release(place), Cancelled)

    def test_the_key_can_be_leased_otherwise_before_and_after(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        one.finish(begun(one), "done")
        held = two.lease(KEY)
        assert expect(Done, once(one)).value.text == "done"
        two.release(held)
        other = expect(Granted, one.acquire("migration:43", slots=1, is_once=True)).lease
        assert other.keys == ("migration:43",)

    def test_the_first_answer_to_a_repeated_result_is_given_again(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        lease = begun(one)
        command = Release(lease.id, "one", "done")
        first = one.run(command, request_id="r1")
        assert one.run(command, request_id="r1") == first == Released(lease)


def lease_of(lease_id: str, like: Lease) -> Lease:
    """A lease with that id, as a caller that does not know that it still waits would name it."""
    return replace(like, id=lease_id)
