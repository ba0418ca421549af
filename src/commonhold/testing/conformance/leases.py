"""Leases of one key: how they are granted, how they end, and what their fences guarantee (invariants I1, I2 and I4)."""
# ruff: noqa: S101, D102, PLR2004 - these are tests: assert is how pytest speaks, and the test's name is its claim

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, product

from commonhold.kernel.commands import Acquire, HandOver, Release, Renew
from commonhold.kernel.events import LeaseBroken, LeaseExpired, LeaseHandedOver
from commonhold.kernel.keys import canonical, overlaps
from commonhold.kernel.lease import Base, Lease, Wish
from commonhold.kernel.lease_table import ENDED_BESIDE
from commonhold.kernel.modes import Mode, are_compatible
from commonhold.kernel.outcomes import (
    Asked,
    Broken,
    Denied,
    Granted,
    HandedOver,
    NotHeld,
    Outcome,
    Queued,
    Released,
    Renewed,
)
from commonhold.kernel.refusals import Refusal
from commonhold.testing.conformance.rig import (
    EXCLUSIVE,
    PATIENCE,
    SHARED,
    TTL,
    UPGRADABLE,
    Caller,
    Conformance,
    Rig,
    expect,
)

KEY = "account:1"


def seconds_left(caller: Caller, lease: Lease) -> float:
    """Return the remaining time to live of a lease."""
    now = caller.registry.now()
    assert lease.deadline.epoch == now.epoch
    return lease.deadline.ticks - now.ticks


def refusal(outcome: Outcome) -> Refusal:
    """Return the reason of a refusal."""
    return expect(NotHeld, outcome).code


class LeaseConformance(Conformance):
    """Granting, renewing, releasing, breaking, asking for and handing over."""

    def test_a_grant_carries_what_was_asked_for(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        bases = (Base(KEY, "h0"), Base("account:2", None))
        wish = one.wish(KEY, "account:2", mode=SHARED, bases=bases)
        lease = expect(Granted, one.run(wish)).lease
        assert (lease.id, lease.holder, lease.task, lease.keys) == (wish.lease_id, "one", wish.task, (KEY, "account:2"))
        assert (lease.mode, lease.acquisition_id, lease.ttl_seconds) == (SHARED, "acq-1", TTL)
        assert (lease.worktree, lease.bases, lease.wish, lease.is_claimed) == ("/worktree", bases, None, True)
        assert TTL - 30 < seconds_left(one, lease) <= TTL
        assert one.leases() == (lease,)
        with one.registry.read() as view:
            assert view.lease(lease.id) == lease
            assert view.held_by("one") == (lease,)
            assert view.held_by("two") == ()
            assert view.lease("never") is None

    def test_fences_of_a_key_increase_with_every_grant(self, rig: Rig) -> None:
        callers = self.callers(rig, "one", "two")
        fences = []
        for caller in (*callers, *callers, *self.callers(rig, "one", "three")):
            lease = caller.lease(KEY)
            fences.append(lease.fence)
            caller.release(lease)
        assert fences == sorted(set(fences))

    def test_fences_increase_also_after_an_expiry_and_a_forced_break(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        first = one.lease(KEY)
        rig.advance(TTL + 1)
        second = two.lease(KEY)
        one.break_lease(second)
        assert first.fence < second.fence < one.lease(KEY).fence

    def test_modes_are_compatible_as_the_table_says(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        for held, wanted in product(Mode, Mode):
            key = f"mode:{held}:{wanted}"
            one.lease(key, mode=held)
            outcome = two.acquire(key, mode=wanted)
            assert isinstance(outcome, Granted) is are_compatible(held, wanted), (held, wanted)

    def test_a_holder_does_not_conflict_with_itself(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        for mode in (EXCLUSIVE, SHARED, UPGRADABLE, EXCLUSIVE):
            one.lease(KEY, mode=mode)
        assert one.holders() == ["one"] * 4

    def test_one_of_many_simultaneous_requests_is_granted(self, rig: Rig) -> None:
        callers = self.callers(rig, *(f"agent-{number}" for number in range(8)))
        with ThreadPoolExecutor(len(callers)) as threads:
            outcomes = list(threads.map(lambda caller: caller.acquire(KEY), callers))
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Denied"] * 7 + ["Granted"]
        assert len(callers[0].leases()) == 1

    def test_several_keys_are_granted_together_or_not_at_all(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        one.lease("account:7")
        assert isinstance(two.acquire(*(f"account:{number}" for number in range(50))), Denied)
        assert two.holders() == ["one"]
        assert len(three.lease(*(f"account:{number}" for number in range(8, 50))).keys) == 42

    def test_every_conflict_has_its_holder_key_and_end(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        first, second = one.lease("account:1"), two.lease("file:src/a.py", mode=SHARED)
        denied = expect(Denied, three.acquire("account:1", "file:src/", "account:2"))
        assert denied.code is Refusal.LOCK_CONFLICT
        assert [(each.key, each.held, each.holder, each.task, each.mode) for each in denied.conflicts] == [
            ("account:1", "account:1", "one", first.task, EXCLUSIVE),
            ("file:src/", "file:src/a.py", "two", second.task, SHARED),
        ]
        assert [each.expires_at for each in denied.conflicts] == [first.deadline.wall, second.deadline.wall]
        assert not any(each.is_waiting for each in denied.conflicts)

    def test_a_lease_lasts_until_its_time_is_over(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        one.lease(KEY)
        rig.advance(TTL - 60)
        assert isinstance(two.acquire(KEY), Denied)
        rig.advance(61)
        two.lease(KEY)
        assert two.holders() == ["two"]

    def test_a_lease_that_has_ended_is_not_revived(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        expired = one.lease(KEY)
        rig.advance(TTL + 1)
        released = one.lease(KEY)
        one.release(released)
        for lease in (expired, released):
            outcomes = (one.renew(lease, TTL), one.release(lease), one.hand_over(lease, "two"))
            assert set(map(refusal, outcomes)) == {Refusal.LEASE_LOST}
            assert refusal(two.break_lease(lease)) is refusal(two.ask_for(lease)) is Refusal.LEASE_LOST
        assert one.leases() == ()

    def test_a_renewal_sets_the_end_and_never_adds(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        lease = one.lease(KEY)
        for seconds in (TTL, TTL, 100.0, 1000.0):
            renewed = expect(Renewed, one.renew(lease, seconds)).lease
            assert seconds - 30 < seconds_left(one, renewed) <= seconds
            assert (renewed.fence, renewed.granted_at) == (lease.fence, lease.granted_at)
            assert one.leases() == (renewed,)

    def test_a_heartbeat_extends_all_leases_of_its_holder(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        one.lease("account:1")
        one.lease("account:2")
        two.lease("account:3")
        rig.advance(0.6 * TTL)
        one.lease("account:4")
        rig.advance(0.6 * TTL)
        two.heartbeat()
        assert one.holders() == ["one", "one", "one"]

    def test_many_leases_that_expire_at_once_are_ended_in_batches(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        held = [one.lease(f"account:{number}") for number in range(3 * ENDED_BESIDE)]
        rig.advance(TTL + 1)
        two.heartbeat()
        assert len(two.events(LeaseExpired)) == ENDED_BESIDE
        granted = three.lease("account:0", f"account:{len(held) - 1}")  # it does not wait for keys that it needs
        assert granted.fence > held[-1].fence
        assert len(three.events(LeaseExpired)) <= 2 * ENDED_BESIDE + 1
        assert isinstance(one.renew(held[-2], TTL), NotHeld)
        while three.has_expired():
            two.heartbeat()
        assert three.leases() == (granted,)
        ended = [event.lease_id for event in three.events(LeaseExpired)]
        assert sorted(ended) == sorted(lease.id for lease in held)

    def test_a_waiter_is_served_before_all_other_expired_leases_are_ended(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        held = [one.lease(f"account:{number}") for number in range(3 * ENDED_BESIDE)]
        rig.advance(TTL - PATIENCE / 2)
        waiting = two.wait(held[-1].keys[0])
        rig.advance(PATIENCE * 3 / 4)
        three.heartbeat()
        assert waiting.id in {lease.id for lease in three.leases()}
        assert not three.line()

    def test_a_heartbeat_shortens_no_lease(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        lease = one.lease(KEY)
        longer = expect(Renewed, one.renew(lease, 10 * TTL)).lease
        one.heartbeat()
        assert one.leases() == (longer,)

    def test_a_heartbeat_extends_a_lease_by_the_time_of_its_last_renewal(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY)
        one.renew(lease, TTL / 10)
        one.heartbeat()
        rig.advance(TTL / 5)
        two.lease(KEY)

    def test_acquiring_again_with_the_same_id_gives_the_same_lease(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        lease = one.lease(KEY)
        assert expect(Granted, one.again(lease)).lease == lease
        assert one.leases() == (lease,)

    def test_an_id_of_another_request_is_refused(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY)
        others = (
            two.wish(KEY, lease_id=lease.id),
            one.wish("account:2", lease_id=lease.id),
            one.wish(KEY, mode=SHARED, lease_id=lease.id),
        )
        for wish in others:
            assert expect(Denied, one.run(wish)).code is Refusal.ID_IN_USE
        assert one.leases() == (lease,)

    def test_only_the_holder_renews_releases_and_hands_over(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY)
        commands = (Renew(lease.id, "two", TTL), Release(lease.id, "two"), HandOver(lease.id, "two", "three"))
        for command in commands:
            refused = expect(NotHeld, two.run(command))
            assert (refused.code, refused.lease_id) == (Refusal.NOT_HOLDER, lease.id)
        assert one.leases() == (lease,)

    def test_a_released_key_is_free_at_once(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY)
        assert expect(Released, one.release(lease)).lease == lease
        two.lease(KEY)

    def test_a_forced_break_is_recorded_with_its_author_and_reason(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY)
        assert expect(Broken, two.break_lease(lease, "one hangs")).lease == lease
        assert two.events(LeaseBroken) == [LeaseBroken("one", lease.id, "two", "one hangs")]
        assert refusal(one.renew(lease, TTL)) is Refusal.LEASE_LOST
        assert two.lease(KEY).fence > lease.fence

    def test_a_request_to_release_reaches_the_holder_with_its_next_grant(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY)
        wished = expect(Asked, two.ask_for(lease, "a hotfix")).lease
        assert wished.wish == Wish("two", "a hotfix")
        assert expect(Granted, one.acquire("account:2")).wished == (wished,)
        assert expect(Granted, two.acquire("account:3")).wished == ()
        assert expect(Renewed, one.renew(lease, TTL)).lease.wish == wished.wish

    def test_a_lease_that_is_handed_over_has_a_new_fence_and_another_holder(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY)
        two.ask_for(lease)
        given = expect(HandedOver, one.hand_over(lease, "two")).lease
        assert (given.id, given.holder, given.keys, given.wish) == (lease.id, "two", lease.keys, None)
        assert given.fence > lease.fence
        assert one.events(LeaseHandedOver) == [LeaseHandedOver("one", lease.id, "two")]
        assert refusal(one.renew(lease, TTL)) is Refusal.NOT_HOLDER
        assert isinstance(one.acquire(KEY), Denied)
        assert isinstance(two.release(given), Released)

    def test_a_lease_is_not_handed_to_a_holder_that_another_lease_excludes(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        one.lease("file:src/", mode=SHARED)
        lease = one.lease("file:src/a.py")
        denied = expect(Denied, one.hand_over(lease, "two"))
        assert [(each.held, each.holder) for each in denied.conflicts] == [("file:src/", "one")]
        assert lease in one.leases()

    def test_an_upgrade_takes_the_place_of_the_lease_that_it_replaces(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        reading = one.lease(KEY, mode=SHARED)
        writing = one.lease(KEY, replaces=reading)
        assert one.leases() == (writing,)
        assert writing.fence > reading.fence
        assert isinstance(two.acquire(KEY, mode=SHARED), Denied)

    def test_only_a_live_lease_of_ones_own_can_be_replaced(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY, mode=SHARED)
        assert refusal(two.acquire("account:2", replaces=lease)) is Refusal.NOT_HOLDER
        one.release(lease)
        assert refusal(one.acquire("account:2", replaces=lease)) is Refusal.LEASE_LOST
        assert one.leases() == ()

    def test_an_upgrade_waits_for_the_other_readers_and_keeps_new_ones_out(self, rig: Rig) -> None:
        one, two, three = self.callers(rig, "one", "two", "three")
        mine, other = one.lease(KEY, mode=UPGRADABLE), two.lease(KEY, mode=SHARED)
        waiter = one.wait(KEY, replaces=mine)
        assert isinstance(three.acquire(KEY, mode=SHARED), Denied)
        two.release(other)
        assert [lease.id for lease in one.leases()] == [waiter.id]
        assert expect(Granted, one.again(waiter, replaces=mine)).lease.mode is EXCLUSIVE

    def test_a_lease_is_never_live_beside_an_incompatible_one(self, rig: Rig) -> None:
        """In whatever order requests come, the granted leases are compatible."""
        callers = self.callers(rig, "one", "two", "three")
        keys = ("file:src/", "file:src/a.py", "file:src/a.py#f", "account:1")
        for number, (key, mode) in enumerate(product(keys, Mode)):
            callers[number % 3].acquire(key, mode=mode)
        for left, right in combinations(callers[0].leases(), 2):
            is_at_peace = left.holder == right.holder or are_compatible(left.mode, right.mode)
            assert is_at_peace or not overlaps(canonical(left.keys[0]), canonical(right.keys[0]))

    def test_a_request_without_patience_is_never_queued(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        one.lease(KEY)
        wish: Acquire = two.wish(KEY)
        assert not isinstance(two.run(wish), Queued)
        assert two.line() == []
