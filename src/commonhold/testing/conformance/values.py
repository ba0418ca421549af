"""Values: a guarded write takes effect only if nothing that it was based on has changed (invariant I3)."""
# ruff: noqa: S101, D102 - these are tests: assert is how pytest speaks, and the test's name is its claim

from concurrent.futures import ThreadPoolExecutor

from commonhold.kernel.events import ValuePut
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import NotStored, Outcome, Stored
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.values import Value, Version
from commonhold.testing.conformance.rig import (
    EXCLUSIVE,
    SHARED,
    TTL,
    UPGRADABLE,
    Caller,
    Conformance,
    Rig,
    expect,
)

KEY = "account:1"


def stored(outcome: Outcome) -> Value:
    """Return the value that was stored."""
    return expect(Stored, outcome).value


def refusal(outcome: Outcome) -> Refusal:
    """Return why nothing was stored."""
    return expect(NotStored, outcome).code


class ValueConformance(Conformance):
    """Puts, versions, reads and fences."""

    def test_a_value_is_carried_with_a_version_that_grows(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        first = stored(one.put(KEY, "ten", 0))
        assert (first.key, first.text, first.holder) == (KEY, "ten", "one")
        second = stored(two.put(KEY, None, first.version))
        third = stored(one.put(KEY, "zwölf\n€", second.version))
        assert 0 < first.version < second.version < third.version
        assert (second.text, second.holder) == (None, "two")
        with two.registry.read() as view:
            assert view.value(KEY) == third
            assert view.value("account:2") is None
        assert one.events(ValuePut) == [
            ValuePut("one", KEY, "ten"),
            ValuePut("two", KEY, None),
            ValuePut("one", KEY, "zwölf\n€"),
        ]

    def test_a_write_on_an_old_version_is_refused_with_the_present_value(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        now = stored(one.put(KEY, "ten", 0))
        refused = expect(NotStored, two.put(KEY, "twenty", 0))
        assert (refused.code, refused.current) == (Refusal.VERSION_CHANGED, (now,))
        assert expect(NotStored, two.put("account:2", "x", 7)).current == (Value("account:2"),)
        assert two.version(KEY) == Version(KEY, now.version)

    def test_one_of_many_writes_on_one_version_is_stored(self, rig: Rig) -> None:
        callers = self.callers(rig, *(f"agent-{number}" for number in range(8)))
        with ThreadPoolExecutor(len(callers)) as threads:
            outcomes = list(threads.map(lambda caller: caller.put(KEY, caller.name, 0), callers))
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["NotStored"] * 7 + ["Stored"]

    def test_no_update_is_lost_when_all_read_and_write_again(self, rig: Rig) -> None:
        callers = self.callers(rig, *(f"agent-{number}" for number in range(4)))
        with ThreadPoolExecutor(len(callers)) as threads:
            list(threads.map(_count_to_five, callers))
        with callers[0].registry.read() as view:
            assert expect(Value, view.value(KEY)).text == "20"

    def test_a_write_that_relies_on_a_changed_key_is_refused(self, rig: Rig) -> None:
        """Each reads both and writes one, which alone would be a fresh write: the second must not be stored."""
        one, two = self.callers(rig, "one", "two")
        versions = [stored(one.put(key, "on", 0)).version for key in ("doctor:a", "doctor:b")]
        reads = (Version("doctor:a", versions[0]), Version("doctor:b", versions[1]), Version("doctor:c", 0))
        changed = stored(one.put("doctor:a", "off", versions[0], reads=reads))
        refused = expect(NotStored, two.put("doctor:b", "off", versions[1], reads=reads))
        assert (refused.code, refused.current) == (Refusal.READ_CHANGED, (changed,))
        assert two.version("doctor:b").version == versions[1]

    def test_a_key_that_was_read_as_absent_must_still_be_absent(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        one.put("doctor:c", "on", 0)
        assert refusal(two.put(KEY, "x", 0, reads=(Version("doctor:c", 0),))) is Refusal.READ_CHANGED

    def test_a_fence_must_be_that_of_a_live_exclusive_lease_of_the_writer(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease("account:*")
        for outcome in (
            one.put(KEY, "x", 0, fence=lease.fence + 1),
            two.put(KEY, "x", 0, fence=lease.fence),
            one.put("user:1", "x", 0, fence=lease.fence),
        ):
            assert refusal(outcome) is Refusal.LEASE_LOST
        stored(one.put(KEY, "x", 0, fence=lease.fence))

    def test_a_current_fence_alone_is_not_enough(self, rig: Rig) -> None:
        """The lease may have been granted after the read: its holder would overwrite a value that it has not seen."""
        one, two = self.callers(rig, "one", "two")
        two.put(KEY, "ten", 0)
        lease = one.lease(KEY)
        assert refusal(one.put(KEY, "x", 0, fence=lease.fence)) is Refusal.VERSION_CHANGED

    def test_a_writer_whose_lease_has_ended_is_refused_even_without_a_successor(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        lease = one.lease(KEY)
        rig.advance(TTL + 1)
        assert refusal(one.put(KEY, "x", 0, fence=lease.fence)) is Refusal.LEASE_LOST

    def test_the_fence_of_an_earlier_lease_is_refused_under_the_next_one(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        early = one.lease(KEY)
        one.release(early)
        late = one.lease(KEY)
        assert refusal(one.put(KEY, "x", 0, fence=early.fence)) is Refusal.LEASE_LOST
        stored(one.put(KEY, "x", 0, fence=late.fence))

    def test_the_fence_of_a_broken_lease_is_refused(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY)
        two.break_lease(lease)
        assert refusal(one.put(KEY, "x", 0, fence=lease.fence)) is Refusal.LEASE_LOST

    def test_the_fence_before_a_hand_over_is_refused_to_both_holders(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY)
        one.hand_over(lease, "two")
        (given,) = two.leases()
        for caller in (one, two):
            assert refusal(caller.put(KEY, "x", 0, fence=lease.fence)) is Refusal.LEASE_LOST
        stored(two.put(KEY, "x", 0, fence=given.fence))

    def test_readers_do_not_write(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        for mode in (SHARED, UPGRADABLE):
            lease = one.lease(KEY, mode=mode)
            assert refusal(one.put(KEY, "x", 0, fence=lease.fence)) is Refusal.LEASE_LOST
            assert refusal(one.put(KEY, "x", 0, must_hold=True)) is Refusal.LEASE_REQUIRED

    def test_a_lease_can_be_required(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        assert refusal(one.put(KEY, "x", 0, must_hold=True)) is Refusal.LEASE_REQUIRED
        one.lease(KEY)
        stored(one.put(KEY, "x", 0, must_hold=True))
        assert refusal(two.put("account:2", "x", 0, must_hold=True)) is Refusal.LEASE_REQUIRED

    def test_the_lease_of_a_container_counts_and_that_of_a_part_does_not(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        one.lease("account:1:cents")
        assert refusal(one.put(KEY, "x", 0, must_hold=True)) is Refusal.LEASE_REQUIRED
        one.lease("account:*")
        stored(one.put(KEY, "x", 0, must_hold=True))

    def test_a_lease_of_another_holder_in_any_mode_refuses_a_write(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        modes: tuple[Mode, ...] = (SHARED, UPGRADABLE, EXCLUSIVE)
        for mode in modes:
            lease = one.lease("account:*", mode=mode)
            refused = expect(NotStored, two.put(KEY, "x", 0))
            assert refused.code is Refusal.LOCK_CONFLICT
            assert [(each.held, each.holder) for each in refused.conflicts] == [("account:*", "one")]
            one.release(lease)
        stored(two.put(KEY, "x", 0))


def _count_to_five(caller: Caller) -> None:
    """Add one, five times; each time that another was faster, read again."""
    done = 0
    while done < 5:  # noqa: PLR2004 - as the name says
        with caller.registry.read() as view:
            value = view.value(KEY) or Value(KEY)
        outcome = caller.put(KEY, str(int(value.text or 0) + 1), value.version)
        done += isinstance(outcome, Stored)
