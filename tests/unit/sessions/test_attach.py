"""A person attaches to a session: only to one that is paused, that he has seen so, and that has its workspace here."""

from typing import Any

from tests.unit.sessions.house import FINISHED, PAUSED, House
from tests.unit.tasks.table import TTL, kind

from commonhold.kernel.managed_session import ManagedSessionRecord, SessionState
from commonhold.kernel.options import TenantQuota
from commonhold.kernel.task import Task, TaskState
from commonhold.sessions.commands import (
    SessionAction,
    SessionChanged,
    SessionClaimed,
    SessionLimits,
    SessionRefused,
    SessionReport,
)
from commonhold.sessions.decide import supervisor_of
from commonhold.tasks.commands import TaskClaimed


def paused(house: House, report: SessionReport = PAUSED, **rest: Any) -> ManagedSessionRecord:
    house.start(**rest)
    return kind(SessionChanged, house.report(house.take(), report)).record


def test_a_person_goes_on_with_the_attempt_under_a_lease_of_a_supervisor() -> None:
    house = House()
    before = paused(house)
    after = kind(SessionClaimed, house.attach(before))
    record = after.record
    assert (record.state, record.attached, record.attempt) == (SessionState.RUNNING, "ann", before.attempt)
    assert record.attempts[-1].turns == 2
    assert (after.lease.holder, record.fence) == (supervisor_of(record.id), after.lease.fence)
    awaiting = kind(SessionChanged, house.report(record, FINISHED)).record
    assert (awaiting.state, awaiting.attached) == (SessionState.AWAITING_REVIEW, "")


def test_a_lost_person_is_found_as_a_lost_supervisor_is() -> None:
    house = House()
    record = kind(SessionClaimed, house.attach(paused(house))).record
    house.seconds += TTL + 1
    house.settle()
    lost = house.record(record.id)
    assert (lost.state, lost.attached) == (SessionState.QUEUED, "")


def test_only_one_of_two_persons_gets_it() -> None:
    house = House()
    record = paused(house)
    kind(SessionClaimed, house.attach(record, "ann"))
    assert "ann is attached to" in kind(SessionRefused, house.attach(record, "bob")).why


def test_what_is_not_paused_is_refused() -> None:
    house = House()
    queued = house.start()
    assert "is queued" in kind(SessionRefused, house.attach(queued)).why
    running = house.take()
    assert "is running" in kind(SessionRefused, house.attach(running)).why
    house.report(running, FINISHED)
    assert "is awaiting review" in kind(SessionRefused, house.attach(running)).why


def test_one_that_was_resumed_meanwhile_is_refused() -> None:
    house = House()
    seen = paused(house)
    house.change(seen.id, SessionAction.RESUME)
    assert "was resumed" in kind(SessionRefused, house.attach(seen)).why
    house.take()
    assert "is running" in kind(SessionRefused, house.attach(seen)).why


def test_one_that_is_in_another_attempt_is_refused() -> None:
    house = House()
    seen = paused(house)
    house.change(seen.id, SessionAction.CANCEL)
    house.change(seen.id, SessionAction.RETRY)
    house.report(house.take(), PAUSED)
    assert "in attempt 2" in kind(SessionRefused, house.attach(seen)).why


def test_a_timed_pause_can_be_used() -> None:
    house = House()
    waiting = paused(house, SessionReport(PAUSED.move, "a rate limit", wait_seconds=60))
    record = kind(SessionClaimed, house.attach(waiting)).record
    house.report(record, PAUSED)
    house.seconds += 100
    assert not house.record(record.id).is_due, "a person has left it: it waits to be resumed"


def test_one_of_another_machine_is_refused_with_its_name() -> None:
    house = House()
    why = kind(SessionRefused, house.attach(paused(house), place="elsewhere:/state")).why
    assert "is at host:/state: attach there" in why


def test_the_quota_of_the_tenant_holds_and_the_limit_of_the_machine_does_not() -> None:
    house = House(limits=SessionLimits(1, 10, {"acme": TenantQuota(max_sessions=1)}))
    first, other = paused(house, tenant="acme"), paused(house, tenant="acme")
    third = paused(house, tenant="another")
    record = kind(SessionClaimed, house.attach(first)).record
    assert "tenant acme runs 1 of its 1 sessions" in kind(SessionRefused, house.attach(other)).why
    kind(SessionClaimed, house.attach(third))
    house.report(record, PAUSED)
    kind(SessionClaimed, house.attach(other))


def test_a_person_keeps_the_task_of_the_session_for_as_long_as_he_works() -> None:
    house = House()
    house.add(Task("t", "a task"))
    record = kind(SessionClaimed, house.attach(paused(house, task_id="t", timeout_seconds=TTL))).record
    while house.seconds < 50 * TTL:
        house.renew(record)
        house.seconds += TTL / 2
    assert not isinstance(house.ask("bob", "t"), TaskClaimed)
    house.report(record, FINISHED)
    assert house.state.tasks["t"].state is TaskState.DONE


def test_a_task_that_another_has_claimed_meanwhile_is_left_to_him() -> None:
    house = House()
    house.add(Task("t", "a task"))
    record = paused(house, task_id="t")
    house.claim("bob", "t")
    assert "the task t was claimed by another" in kind(SessionRefused, house.attach(record)).why
    assert house.state.tasks["t"].holder == "bob"
    assert house.record(record.id).state is SessionState.PAUSED
