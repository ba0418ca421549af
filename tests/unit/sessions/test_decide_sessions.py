"""Decisions on managed sessions, one transition at a time."""

import json
from dataclasses import replace

import pytest
from tests.unit.sessions.house import FAILED, FINISHED, PAUSED, PLACE, RESULT, House
from tests.unit.tasks.table import TTL, kind

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.managed_session import (
    EndCause,
    SessionAttempt,
    SessionMove,
    SessionMoved,
    SessionState,
    SessionWish,
)
from commonhold.kernel.refusals import Refusal
from commonhold.sessions.choice import AGEING_SECONDS
from commonhold.sessions.commands import NoSession, SessionAction, SessionLimits, SessionRefused, SessionsSettled
from commonhold.stores import codec


def test_a_session_goes_from_the_queue_to_its_review_and_is_approved() -> None:
    house = House()
    queued = house.start("fix it\nplease")
    assert (queued.state, queued.session.title, queued.id) == (SessionState.QUEUED, "fix it", f"s{queued.number}")
    running = house.take()
    assert (running.state, running.attempt, running.fence > 0) == (SessionState.RUNNING, 1, True)
    assert [each.holder for each in house.state.leases.values()] == [f"supervisor:{running.id}"]
    house.report(running)
    awaiting = house.record(running.id)
    assert (awaiting.state, awaiting.result, awaiting.fence) == (SessionState.AWAITING_REVIEW, RESULT, 0)
    assert not house.state.leases
    house.change(running.id, SessionAction.APPROVE, attempt=1, commit="d" * 40)
    assert (house.record(running.id).state, house.record(running.id).commit) == (SessionState.COMPLETED, "d" * 40)


def test_a_failed_session_keeps_its_work_and_is_retried_with_another_text() -> None:
    house = House()
    house.start()
    failed = house.take()
    house.report(failed, FAILED)
    record = house.record(failed.id)
    assert (record.state, record.status, record.cause) == (SessionState.FAILED, 3, EndCause.EXITED)
    assert record.attempts[-1].result == RESULT
    house.change(failed.id, SessionAction.RETRY, task="do it better")
    again = house.take()
    assert (again.attempt, again.tries, again.session.task, again.result) == (2, 1, "do it better", None)
    assert [each.number for each in again.attempts] == [1, 2]


def test_a_lost_supervisor_costs_an_attempt_and_a_growing_pause_until_the_cap() -> None:
    house = House()
    house.start(most_attempts=3)
    pauses = []
    for attempt in (1, 2, 3):
        assert house.take().attempt == attempt
        house.seconds += TTL + 1
        kind(SessionsSettled, house.settle())
        due = house.record("s1").due
        if due is not None:
            pauses.append(due.ticks - house.seconds)
            kind(NoSession, house.ask_claim())
            house.seconds = due.ticks
    record = house.record("s1")
    assert pauses == [1.0, 2.0]
    assert (record.state, record.cause) == (SessionState.FAILED, EndCause.LOST)
    assert "attempt 3 of 3" in record.note


def test_a_supervisor_that_renews_its_lease_is_not_lost() -> None:
    house = House()
    house.start()
    record = house.take()
    house.seconds += TTL - 1
    house.renew(record)
    house.seconds += TTL - 1
    assert kind(SessionsSettled, house.settle()).lost == ()


def test_a_replaced_supervisor_changes_nothing() -> None:
    house = House()
    house.start()
    former = house.take()
    house.seconds += 2 * TTL
    house.settle()
    house.seconds += TTL
    house.take()
    before = house.record("s1")
    assert kind(SessionRefused, house.report(former)).code is Refusal.SESSION_TAKEN
    assert house.record("s1") == before


def test_a_supervisor_reports_ends_only() -> None:
    house = House()
    house.start()
    record = house.take()
    refused = house.report(record, replace(FINISHED, move=SessionMove.APPROVE))
    assert kind(SessionRefused, refused).code is Refusal.SESSION_CHANGED


def test_a_wish_to_cancel_wins_over_a_later_report() -> None:
    house = House()
    house.start()
    record = house.take()
    house.change("s1", SessionAction.CANCEL)
    assert house.record("s1").wish is SessionWish.CANCEL
    assert kind(SessionRefused, house.change("s1", SessionAction.PAUSE)).code is Refusal.SESSION_CHANGED
    house.report(record)
    cancelled = house.record("s1")
    assert (cancelled.state, cancelled.note, cancelled.result) == (SessionState.CANCELLED, "why", RESULT)


def test_a_wish_to_cancel_after_the_report_applies_to_the_review() -> None:
    house = House()
    house.start()
    house.report(house.take())
    house.change("s1", SessionAction.CANCEL)
    assert house.record("s1").state is SessionState.CANCELLED


def test_a_lost_session_that_somebody_wished_to_cancel_is_cancelled() -> None:
    house = House()
    house.start()
    house.take()
    house.change("s1", SessionAction.CANCEL)
    house.seconds += 2 * TTL
    house.settle()
    assert (house.record("s1").state, house.record("s1").cause) == (SessionState.CANCELLED, EndCause.ASKED)


def test_a_paused_session_goes_on_in_the_same_attempt_once_it_is_resumed() -> None:
    house = House()
    house.start()
    house.report(house.take(), PAUSED)
    kind(NoSession, house.ask_claim())
    house.change("s1", SessionAction.RESUME)
    again = house.take()
    assert (again.attempt, again.attempts[-1].turns, again.attempts[-1].end) == (1, 2, None)


def test_a_timed_pause_ends_by_itself() -> None:
    house = House()
    house.start()
    house.report(house.take(), replace(PAUSED, wait_seconds=60.0))
    kind(NoSession, house.ask_claim())
    house.seconds += 60.0
    assert house.take().attempt == 1


def test_a_timed_pause_becomes_one_that_a_person_ends() -> None:
    house = House()
    session = house.start()
    house.report(house.take(), replace(PAUSED, wait_seconds=5.0))
    assert house.record(session.id).is_due
    house.change(session.id, SessionAction.PAUSE)
    house.seconds += 10.0
    kind(NoSession, house.ask_claim())
    house.change(session.id, SessionAction.RESUME)
    assert house.take().attempt == 1


def test_a_rate_limit_costs_no_attempt_and_the_pauses_in_a_row_are_counted() -> None:
    house = House()
    house.start(most_attempts=1)
    limited = replace(PAUSED, cause=EndCause.RATE_LIMITED, wait_seconds=60.0)
    for count in (1, 2):
        house.report(house.take(), limited)
        record = house.record("s1")
        assert (record.state, record.tries, record.attempts[-1].rate_limits) == (SessionState.PAUSED, 1, count)
        house.seconds += 60.0
    house.report(house.take(), replace(PAUSED, wait_seconds=0.0))
    assert house.record("s1").attempts[-1].rate_limits == 0


def test_a_person_who_asked_for_a_pause_ends_it_also_if_the_agent_was_rate_limited() -> None:
    house = House()
    house.start()
    record = house.take()
    house.change("s1", SessionAction.PAUSE)
    house.report(record, replace(PAUSED, cause=EndCause.RATE_LIMITED, wait_seconds=60.0))
    house.seconds += 60.0
    kind(NoSession, house.ask_claim())
    house.change("s1", SessionAction.RESUME)
    house.take()


def test_a_report_of_an_earlier_version_has_no_usage() -> None:
    house = House()
    house.start()
    house.take()
    event = SessionMoved("supervisor", "s1", SessionMove.FAIL, 1)
    body = json.loads(codec.encode(event))
    assert body.pop("usage") is None
    assert codec.decode_event("session_moved", json.dumps(body)) == event
    attempt = json.loads(codec.encode(house.record("s1").attempts[0]))
    del attempt["usage"]
    assert codec.decode(json.dumps(attempt), SessionAttempt) == house.record("s1").attempts[0]


def test_a_command_for_another_attempt_changes_nothing() -> None:
    house = House()
    house.start()
    house.report(house.take())
    assert kind(SessionRefused, house.change("s1", SessionAction.APPROVE, attempt=2)).code is Refusal.SESSION_CHANGED
    assert kind(SessionRefused, house.change("s1", SessionAction.PAUSE)).code is Refusal.SESSION_CHANGED


def test_an_unknown_session_is_an_error() -> None:
    with pytest.raises(InputError) as raised:
        House().change("s99", SessionAction.CANCEL)
    assert raised.value.code is Code.SESSION_UNKNOWN


def test_running_sessions_and_reviews_are_limited() -> None:
    house = House(limits=SessionLimits(running=1, awaiting_review=1))
    for _ in range(3):
        house.start()
    first = house.take()
    assert "the limit is 1" in kind(NoSession, house.ask_claim()).why
    house.report(first)
    assert "await review" in kind(NoSession, house.ask_claim()).why
    house.change(first.id, SessionAction.DISCARD)
    house.report(house.take(), replace(PAUSED, wait_seconds=1.0))
    house.report(house.take())
    house.seconds += 1.0
    assert house.take().attempts[-1].turns == 2, "a paused session goes on, whatever awaits review"


def test_a_session_runs_only_at_its_place() -> None:
    house = House()
    house.start(place="elsewhere:/state")
    kind(NoSession, house.ask_claim(PLACE))
    assert house.ask_claim("elsewhere:/state").__class__.__name__ == "SessionClaimed"


def test_no_tenant_starves_behind_one_with_many_sessions() -> None:
    house = House(limits=SessionLimits(running=1, awaiting_review=1000))
    for _ in range(60):
        house.start(tenant="many")
    for number in range(20):
        house.start(tenant=f"tenant{number}")
    order = []
    for _ in range(40):
        record = house.take()
        order.append(record.session.tenant)
        house.report(record, FAILED)
    assert {f"tenant{number}" for number in range(20)} <= set(order[:21])
    assert order.count("many") == 20


def test_priority_decides_within_a_tenant_and_waiting_raises_it() -> None:
    house = House()
    low = house.start(priority=0)
    house.seconds += 3 * AGEING_SECONDS
    high, higher = house.start(priority=2), house.start(priority=5)
    assert [house.take().id for _ in range(3)] == [higher.id, low.id, high.id]


def test_running_sessions_have_different_slots_and_free_ones_are_used_again() -> None:
    house = House()
    for _ in range(3):
        house.start()
    first, second = house.take(), house.take()
    assert (first.slot, second.slot) == (0, 1)
    house.report(first)
    assert house.take().slot == 0
