"""Defects, each of which takes one promise away. A simulation that finds none of them proves nothing."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import pytest

from commonhold.commits.turns import Ticket, Turns
from commonhold.kernel import lease, lease_table, projection
from commonhold.kernel.clock import Deadline, Now
from commonhold.kernel.commands import Put
from commonhold.kernel.events import LeaseHandedOver
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.lease_table import Turn
from commonhold.kernel.modes import Mode, are_compatible
from commonhold.leases import decide, registry
from commonhold.stores.memory import index
from commonhold.workspace.in_flight import InFlight

Patch = pytest.MonkeyPatch
_authorise = decide._why_not_authorised
_stale = decide._why_stale
_change = lease_table.Turn.change
_before = lease_table.Turn.before
_changed_lease = projection.changed_lease
_unclaimed = lease_table._unclaimed


def ignore_the_fence(patch: Patch) -> None:
    def authorise(turn: Turn, command: Put) -> object:
        return _authorise(turn, replace(command, fence=None))

    patch.setattr(decide, "_why_not_authorised", authorise)


def ignore_the_leases_of_others(patch: Patch) -> None:
    def authorise(turn: Turn, command: Put) -> object:
        refused = _authorise(turn, command)
        return None if refused and refused.conflicts else refused

    patch.setattr(decide, "_why_not_authorised", authorise)


def ignore_the_version(patch: Patch) -> None:
    patch.setattr(decide, "_why_stale", lambda _values, _command: None)


def ignore_what_was_read(patch: Patch) -> None:
    patch.setattr(decide, "_why_stale", lambda values, command: _stale(values, replace(command, reads=())))


def _leases_before(turn: Turn, waiter: Waiter) -> list[Lease]:
    return [each for each in turn.leases.values() if lease_table.is_in_the_way(each, waiter)]


def serve_out_of_line(patch: Patch) -> None:
    patch.setattr(Turn, "_is_free", lambda turn, waiter, _claims: not _leases_before(turn, waiter))


def let_newcomers_overtake(patch: Patch) -> None:
    patch.setattr(Turn, "before", _leases_before)


def never_expire(patch: Patch) -> None:
    patch.setattr(Turn, "clear", lambda _turn: None)


def expire_by_wall_time(patch: Patch) -> None:
    def has_passed(until: Deadline, now: Now) -> bool:
        return until.epoch != now.epoch or now.wall >= until.wall

    patch.setattr(Deadline, "has_passed", has_passed)


def survive_a_boot(patch: Patch) -> None:
    patch.setattr(Deadline, "has_passed", lambda until, now: now.ticks >= until.ticks)


def keep_the_fence_in_a_hand_over(patch: Patch) -> None:
    def changed_lease(before: Lease, event: Any, sequence: int) -> Lease:
        return _changed_lease(before, event, before.fence if isinstance(event, LeaseHandedOver) else sequence)

    for module in (projection, lease_table, index):
        patch.setattr(module, "changed_lease", changed_lease)


def serve_nobody_after_a_hand_over(patch: Patch) -> None:
    def change(turn: Turn, before: Lease, event: Any) -> Lease:
        had_room = turn._has_room
        changed = _change(turn, before, event)
        turn._has_room = had_room
        return changed

    patch.setattr(Turn, "change", change)


def wait_in_circles(patch: Patch) -> None:
    patch.setattr(decide, "victim", lambda _turn, _waiter: None)
    patch.setattr(decide, "stuck", lambda _turn: None)


def keep_what_nobody_takes(patch: Patch) -> None:
    def unclaimed(waiter: Waiter, fence: int, now: Now) -> Lease:
        return _unclaimed(replace(waiter, patience_seconds=waiter.ttl_seconds), fence, now)

    patch.setattr(lease_table, "_unclaimed", unclaimed)


def act_twice(patch: Patch) -> None:
    patch.setattr(registry, "first_answer", lambda *_: None)


def hear_the_dead(patch: Patch) -> None:
    patch.setattr(decide, "RecordPartialWork", type("NoCommand", (), {}))


def read_beside_a_writer(patch: Patch) -> None:
    def go_together(held: Mode, wanted: Mode) -> bool:
        return are_compatible(held, wanted) or (held, wanted) == (Mode.EXCLUSIVE, Mode.SHARED)

    patch.setattr(lease, "are_compatible", go_together)


def see_no_containers(patch: Patch) -> None:
    patch.setattr(lease, "overlaps", lambda left, right: left == right)


def forget_how_many_slots_there_are(patch: Patch) -> None:
    def before(turn: Turn, waiter: Waiter) -> list[Lease | Waiter]:
        return [claim for claim in _before(turn, waiter) if not lease.shares_slots(claim, waiter)]

    patch.setattr(Turn, "before", before)
    patch.setattr(Turn, "_free_slot", lambda _turn, wanted: wanted.fence)


def give_out_done_work_again(patch: Patch) -> None:
    def value_keys_of(command: Any) -> tuple[str, ...]:
        return decide.value_keys_of(command) if isinstance(command, Put) else ()

    patch.setattr(index, "value_keys_of", value_keys_of)


MUTANTS: Final[Mapping[str, Callable[[Patch], None]]] = {
    mutant.__name__: mutant
    for mutant in (
        ignore_the_fence,
        ignore_the_leases_of_others,
        ignore_the_version,
        ignore_what_was_read,
        serve_out_of_line,
        let_newcomers_overtake,
        never_expire,
        expire_by_wall_time,
        survive_a_boot,
        keep_the_fence_in_a_hand_over,
        serve_nobody_after_a_hand_over,
        wait_in_circles,
        keep_what_nobody_takes,
        act_twice,
        hear_the_dead,
        read_beside_a_writer,
        see_no_containers,
        forget_how_many_slots_there_are,
        give_out_done_work_again,
    )
}


@contextmanager
def _no_turn(_turns: Turns, *names: str, within: Ticket | None = None) -> Iterator[Ticket]:
    yield Ticket(names, within)


def try_again_without_turns(patch: Patch) -> None:
    """Whoever is quicker than the others writes, and the slow starve."""
    patch.setattr(Turns, "take", _no_turn)
    count_every_try(patch)


def count_every_try(patch: Patch) -> None:
    """Who has lost its turn gets no other, and is refused when others have been quicker often enough."""
    patch.setattr(Turns, "regain", lambda _turns, _ticket: None)
    patch.setattr(Turns, "has_turn", lambda _turns, _ticket: True)


def look_at_other_files_before_the_turn(patch: Patch) -> None:
    patch.setattr(Turns, "linked", lambda _turns, _root: 0)


def forget_who_is_in_flight(patch: Patch) -> None:
    """Whoever comes next takes the commits of others for interrupted ones."""
    patch.setattr(InFlight, "flights", lambda _flying: ())


OF_TURNS: Final[Mapping[str, tuple[Callable[[Patch], None], str]]] = {
    try_again_without_turns.__name__: (try_again_without_turns, "somebody starved"),
    count_every_try.__name__: (count_every_try, "somebody starved"),
    look_at_other_files_before_the_turn.__name__: (look_at_other_files_before_the_turn, "and is called with"),
    forget_who_is_in_flight.__name__: (forget_who_is_in_flight, "is 0 times in"),
}
"""Defects of commits that take turns, and what they lead to."""
