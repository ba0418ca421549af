"""The default recovery coordinator: which lock plan follows from which outcome."""

from dataclasses import replace

import pytest

from commonhold.kernel.refusals import Refusal
from commonhold.kernel.run import CandidateOutcome, ItemRecord, ItemState, Locking, LockPlan
from commonhold.runs.recovery import MOST_REFUSALS, next_plan

F, G, FILE = "file:a.py#f", "file:a.py#g", "file:a.py"
ITEM = ItemRecord("r1", "a", 1, 1, 0.0, ItemState.REFUSED, 1, locks=LockPlan(Locking.OPTIMISTIC, (F,)), refusals=1)


def planned(item: ItemRecord, code: Refusal, *keys: str, refusals: int = 1) -> LockPlan:
    found = next_plan(replace(item, outcome=CandidateOutcome(code, "", keys), refusals=refusals))
    assert found is not None
    assert found.why
    return replace(found, why="")


def test_additional_locks_widen_the_plan() -> None:
    assert planned(ITEM, Refusal.REQUIRE_ADDITIONAL_LOCKS, G) == LockPlan(Locking.LEASED, (F, G))
    assert planned(ITEM, Refusal.LEASE_REQUIRED, G) == LockPlan(Locking.LEASED, (F, G))


def test_an_escalation_takes_the_whole_file() -> None:
    assert planned(ITEM, Refusal.ESCALATION_REQUIRED, FILE) == LockPlan(Locking.LEASED, (FILE,))
    assert planned(ITEM, Refusal.ESCALATION_REQUIRED) == LockPlan(Locking.LEASED, (FILE,))
    assert planned(ITEM, Refusal.ESCALATION_REQUIRED, "file:b.py#x") == LockPlan(Locking.LEASED, (F, "file:b.py"))


@pytest.mark.parametrize("code", [Refusal.REGION_CHANGED, Refusal.READ_CHANGED, Refusal.LOCK_CONFLICT])
def test_repeated_collisions_are_leased_and_then_edited_alone(code: Refusal) -> None:
    first = planned(ITEM, code)
    assert first == ITEM.locks
    second = planned(ITEM, code, G, refusals=2)
    assert second == LockPlan(Locking.LEASED, (F, G))
    third = planned(replace(ITEM, locks=second), code, refusals=3)
    assert third == LockPlan(Locking.SERIAL, (F, G))
    assert planned(replace(ITEM, locks=third), code, refusals=4) == third


def test_a_plan_that_is_serial_stays_serial_when_it_is_widened() -> None:
    alone = replace(ITEM, locks=LockPlan(Locking.SERIAL, (F,)))
    assert planned(alone, Refusal.REQUIRE_ADDITIONAL_LOCKS, G) == LockPlan(Locking.SERIAL, (F, G))


def test_a_candidate_with_a_fault_of_its_own_keeps_the_plan() -> None:
    assert planned(ITEM, Refusal.PARSE_INVALID) == ITEM.locks


def test_an_attempt_ends_after_many_refusals() -> None:
    assert next_plan(replace(ITEM, refusals=MOST_REFUSALS)) is None
