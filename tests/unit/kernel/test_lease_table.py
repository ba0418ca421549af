"""`decide` over long stories in a small world: what must hold however it goes."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st
from tests import strategies
from tests.unit.leases.desk import Desk
from tests.unit.leases.stories import Step, holders, stories

from commonhold.kernel.clock import deadline
from commonhold.kernel.commands import Heartbeat
from commonhold.kernel.events import LeaseGranted
from commonhold.kernel.keys import Key, canonical, overlaps
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.lease_table import Turn
from commonhold.kernel.modes import Mode
from commonhold.kernel.projection import fold
from commonhold.leases.deadlock import victim

FRIENDS = {(Mode.SHARED, Mode.SHARED), (Mode.SHARED, Mode.UPGRADABLE), (Mode.UPGRADABLE, Mode.SHARED)}


@given(stories)
def test_no_two_live_leases_are_incompatible_and_fences_only_rise(story: list[Step]) -> None:
    desk = Desk()
    for step in story:
        step(desk)
        for left, right in combinations(desk.state.leases.values(), 2):
            assert are_at_peace(left, right)
    grants = [(each.sequence, each.event.lease) for each in desk.log if isinstance(each.event, LeaseGranted)]
    assert all(sequence == lease.fence for sequence, lease in grants)
    assert fold(desk.log) == desk.state


@given(stories)
def test_whoever_waits_has_a_reason_and_an_end(story: list[Step]) -> None:
    desk = Desk()
    for step in story:
        step(desk)
        turn = Turn(desk.table(Heartbeat("")), desk.now)
        for waiter in turn.waiters.values():
            assert turn.before(waiter)
            assert victim(turn, waiter) is None
    desk.seconds += 100.0
    desk.run(Heartbeat("anybody"))
    assert (desk.state.waiters, desk.state.leases) == ({}, {})


@given(stories, holders, st.lists(strategies.small_keys, min_size=1, max_size=2), st.sampled_from(Mode))
def test_a_refusal_has_a_reason(story: list[Step], holder: str, keys: list[Key], mode: Mode) -> None:
    """A grant has none: nobody's lease and nobody's place in line, unless that waits for the one who asks."""
    desk = Desk()
    for step in story:
        step(desk)
    desk.run(Heartbeat("anybody"))
    state = desk.state
    wanted = Waiter("", 0, holder, "", tuple(map(str, keys)), mode, "", 0.0, deadline(desk.now, 1.0), 1.0, 1.0)
    mine = [lease for lease in state.leases.values() if lease.holder == holder]
    ahead = [each for each in state.waiters.values() if all(are_at_peace(each, lease) for lease in mine)]
    claims: list[Lease | Waiter] = [*state.leases.values(), *ahead]
    is_free = all(are_at_peace(wanted, claim) for claim in claims)
    answer = desk.ask(holder, *keys, mode=mode, name="the last")
    assert (type(answer).__name__ == "Granted") is is_free


def are_at_peace(left: Lease | Waiter, right: Lease | Waiter) -> bool:
    """Say whether two claims may live together, in the plainest words."""
    if left.holder == right.holder or (left.mode, right.mode) in FRIENDS:
        return True
    pairs = ((canonical(mine), canonical(theirs)) for mine in left.keys for theirs in right.keys)
    return not any(overlaps(mine, theirs) for mine, theirs in pairs)
