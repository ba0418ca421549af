"""Decisions on runs: who coordinates, which item is next, what each step requires, and what becomes of a claim."""

import pytest
from tests.unit.runs.blackboard import Board
from tests.unit.tasks.table import TTL, kind, task

from commonhold.kernel.errors import InputError
from commonhold.kernel.events import LeaseBroken, LeaseExpired
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.run import (
    ITEM_TRANSITIONS,
    ItemState,
    ItemStep,
    Locking,
    LockPlan,
    Role,
    RoleMessage,
    RunMove,
    RunState,
    TokenUsage,
)
from commonhold.kernel.task import Result, TaskState
from commonhold.runs.commands import (
    CancelRun,
    NoItem,
    PlanRun,
    ResumeRun,
    RunChanged,
    RunRefused,
)
from commonhold.tasks.commands import CancelTask, FailTask, LandTask, ReopenTask

A, B = "file:a.py#f", "file:b.py#g"


def test_a_run_has_the_tasks_of_its_plan_as_items_in_their_order() -> None:
    board = Board()
    board.add(task("known"))
    run = kind(RunChanged, board.start(task("b"), task("known"), task("a", needs=("b",))))
    assert (run.run.state, run.run.holder) == (RunState.RUNNING, "boss")
    assert sorted(board.states()) == ["a", "b", "known"]
    assert set(board.states().values()) == {"open"}


def test_a_plan_that_is_refused_begins_no_run() -> None:
    board = Board()
    refused = kind(RunRefused, board.start(task("a", needs=("b",)), task("b", needs=("a",))))
    assert refused.code is Refusal.TASK_IN_CIRCLE
    assert (board.state.runs, board.state.tasks, board.state.leases) == ({}, {}, {})


def test_items_of_a_run_that_has_not_ended_are_not_taken_into_another() -> None:
    board = Board()
    board.start(task("a"))
    first = board.run_id
    refused = kind(RunRefused, board.start(task("a")))
    assert (refused.code, refused.tasks) == (Refusal.TASK_TAKEN, ("a",))
    assert first in refused.why
    assert kind(RunChanged, board.send(CancelRun("person", first, "wrong plan"))).run.state is RunState.CANCELLED
    assert kind(RunChanged, board.start(task("a"))).run.id != first


def test_cancelling_breaks_the_lease_of_a_coordinator_at_work_on_the_record() -> None:
    board = Board()
    board.start(task("a"))
    item = board.take()
    board.send(CancelRun("person", board.run_id, "wrong plan"))
    assert [each.by for each in board.log if isinstance(each, LeaseBroken)] == ["person"]
    assert board.state.leases == {}
    assert kind(RunRefused, board.ask_post(item, ItemStep.FAIL, "x")).code is Refusal.RUN_ENDED
    assert (board.state.tasks["a"].state, board.state.tasks["a"].tries) == (TaskState.OPEN, 0)


def test_a_run_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(InputError, match="there is no run 'r9'"):
        Board().send(ResumeRun("boss", "r9", "lease", TTL))


def test_a_planner_adds_items_and_its_usage_is_kept() -> None:
    board = Board()
    board.start()
    planned = PlanRun("boss", board.run_id, board.record.fence, (task("a"),), TokenUsage(10, 2, 0.5))
    assert len(kind(RunChanged, board.send(planned)).items) == 1
    assert board.record.usage == TokenUsage(10, 2, 0.5)


def test_taking_an_item_claims_its_task_for_a_session_of_its_own() -> None:
    board = Board()
    board.start(task("a", A, intent="do it"))
    item = board.take()
    record = board.state.tasks["a"]
    assert (item.state, item.round, item.intent) == (ItemState.EDITING, 1, "do it")
    assert record.holder == item.session == f"editor:{board.run_id}.a"
    assert item.locks == LockPlan(Locking.OPTIMISTIC, (A,))


def test_an_item_goes_from_a_candidate_to_a_landed_task() -> None:
    board = Board()
    board.start(task("a"), task("b", needs=("a",)))
    written = board.write(board.take(), 41)
    assert kind(NoItem, board.ask_item()).is_over is False
    assert board.post(written, ItemStep.ACCEPT, "checked").state is ItemState.ACCEPTED
    record = board.state.tasks["a"]
    assert (record.state, record.result) == (TaskState.LANDED, Result(admitted=(41,)))
    assert board.take().task_id == "b"


def test_a_post_takes_effect_only_on_the_state_that_its_author_saw() -> None:
    board = Board()
    board.start(task("a"))
    item = board.take()
    board.propose(item)
    assert kind(RunRefused, board.ask_post(item, ItemStep.PROPOSE)).code is Refusal.RUN_CHANGED


@pytest.mark.parametrize("step", sorted(set(ItemStep) - {step for state, step in ITEM_TRANSITIONS if state == "open"}))
def test_no_step_leads_out_of_an_item_that_is_not_taken(step: ItemStep) -> None:
    board = Board()
    board.start(task("a"))
    assert kind(RunRefused, board.ask_post(board.item("a"), step)).code is Refusal.RUN_CHANGED


@pytest.mark.parametrize("step", [ItemStep.TAKE, ItemStep.LAND, ItemStep.EXHAUST, ItemStep.CANCEL])
def test_no_role_can_post_a_step_that_follows_from_the_task(step: ItemStep) -> None:
    board = Board()
    board.start(task("a"))
    assert kind(RunRefused, board.ask_post(board.take(), step)).code is Refusal.RUN_CHANGED


def test_a_replaced_coordinator_can_neither_post_nor_take() -> None:
    board = Board()
    board.start(task("a"), task("b"))
    item, fence = board.take(ttl=10 * TTL), board.record.fence
    board.seconds += TTL
    kind(RunChanged, board.resume("second"))
    board.coordinator = "boss"
    refused = kind(RunRefused, board.ask_post(item, ItemStep.FAIL, "late"))
    assert refused.code is Refusal.RUN_TAKEN
    board.coordinator = "second"
    assert board.record.fence > fence


def test_a_run_is_not_taken_over_while_its_coordinator_lives() -> None:
    board = Board()
    board.start(task("a"))
    board.seconds += TTL / 2
    refused = kind(RunRefused, board.resume("second"))
    assert (refused.code, refused.retry_after_seconds) == (Refusal.RUN_TAKEN, TTL / 2)


def test_a_resumed_item_goes_on_where_it_was_under_the_same_claim() -> None:
    board = Board()
    board.start(task("a"))
    proposed = board.propose(board.take(ttl=10 * TTL))
    board.seconds += TTL
    board.resume("second")
    again = board.take()
    assert (again.state, again.candidate, again.round) == (ItemState.PROPOSED, proposed.candidate, proposed.round)
    assert (board.state.tasks["a"].attempt, again.session) == (1, proposed.session)


def test_an_item_whose_claim_has_ended_is_claimed_anew_and_goes_on_where_it_was() -> None:
    board = Board()
    board.start(task("a"))
    board.write(board.take())
    board.seconds += TTL
    board.resume("second")
    again = board.take()
    assert (again.state, again.admitted, board.state.tasks["a"].attempt) == (ItemState.WRITTEN, (7,), 2)


def test_an_item_whose_claim_was_lost_to_a_stranger_waits_for_it() -> None:
    board = Board()
    board.start(task("a"))
    item = board.take(ttl=1)
    board.seconds += 2
    record = board.claim("stranger")
    assert kind(RunRefused, board.ask_post(item, ItemStep.PROPOSE)).code is Refusal.TASK_CHANGED
    assert kind(NoItem, board.ask_item()).is_over is False
    board.run(FailTask("stranger", "a", record.fence, "gave up"))
    assert board.take().state is ItemState.EDITING


def test_a_task_that_is_done_elsewhere_needs_no_editor() -> None:
    board = Board()
    board.start(task("a"), task("b", needs=("a",)))
    board.finish(board.claim("stranger"))
    board.run(LandTask("queue", "a", "c" * 40, 1, "main"))
    assert board.take().task_id == "b"
    assert board.item("a").state is ItemState.ACCEPTED


def test_stopping_gives_all_claims_back_and_counts_no_attempt() -> None:
    board = Board()
    board.start(task("a", A), task("b", B))
    board.take()
    written = board.write(board.take())
    board.lease(written.session, "file:z.py")
    stopped = kind(RunChanged, board.end(RunMove.STOP, "Ctrl-C"))
    assert stopped.run.state is RunState.STOPPED
    assert sorted(board.states().values()) == ["open", "written"]
    assert board.state.leases == {}
    assert [(each.state, each.tries) for each in board.state.tasks.values()] == [(TaskState.OPEN, 0)] * 2
    kind(RunChanged, board.resume())
    assert [board.take().state for _ in range(2)] == [ItemState.WRITTEN, ItemState.EDITING]


def test_items_that_would_collide_are_not_edited_together() -> None:
    board = Board()
    board.start(task("a", A), task("b", A), task("c", B))
    assert [board.take().task_id, board.take().task_id] == ["a", "c"]
    assert kind(NoItem, board.ask_item()).waiting[0].why == "its keys are in use"


def test_an_item_that_collides_with_work_outside_is_leased_and_comes_last() -> None:
    board = Board()
    board.start(task("a", A), task("b", B))
    board.lease("stranger", A)
    assert board.take().task_id == "b"
    item = board.take()
    assert item.locks is not None
    assert (item.task_id, item.locks.locking, item.locks.why) == ("a", Locking.LEASED, f"stranger uses {A}")


def test_an_item_that_must_be_edited_alone_waits_and_nothing_begins_before_it() -> None:
    board = Board()
    board.start(task("a", A), task("b", B), task("c"))
    first, second = board.take(), board.take()
    refused = board.refuse(first, Refusal.REGION_CHANGED)
    alone = LockPlan(Locking.SERIAL, (A,), "collides again and again")
    assert board.post(refused, ItemStep.REPLAN, locks=alone).state is ItemState.OPEN
    assert board.state.tasks["a"].tries == 0
    assert kind(NoItem, board.ask_item()).is_over is False
    board.post(board.write(second), ItemStep.ACCEPT)
    again = board.take()
    assert (again.task_id, again.locks, again.round) == ("a", alone, 2)
    assert kind(NoItem, board.ask_item()).is_over is False
    board.post(board.write(again), ItemStep.ACCEPT)
    assert board.take().task_id == "c"


def test_a_refused_candidate_keeps_the_claim_and_loses_the_other_leases() -> None:
    board = Board()
    board.start(task("a", A))
    item = board.take()
    board.lease(item.session, A)
    refused = board.refuse(item, Refusal.REQUIRE_ADDITIONAL_LOCKS, B)
    assert [lease.keys for lease in board.state.leases.values() if lease.holder == item.session] == [("task:a",)]
    again = board.post(refused, ItemStep.REPLAN, locks=LockPlan(Locking.LEASED, (A, B)))
    assert (again.state, again.round, again.refusals) == (ItemState.EDITING, 2, 1)


def test_a_failed_check_reopens_the_item_with_the_failure() -> None:
    board = Board()
    board.start(task("a", most_attempts=2))
    reopened = board.post(board.write(board.take()), ItemStep.REJECT, "pytest: 1 failed")
    assert (reopened.state, reopened.failure) == (ItemState.OPEN, "pytest: 1 failed")
    again = board.take()
    assert (again.round, again.is_repair) == (2, True)
    failed = board.post(board.write(again, 8), ItemStep.REJECT, "pytest: 1 failed still")
    assert (failed.state, board.state.tasks["a"].state) == (ItemState.FAILED, TaskState.FAILED)
    assert failed.admitted == (7, 8)


def test_a_run_is_over_when_nothing_can_go_on_without_a_person() -> None:
    board = Board()
    board.start(task("a", most_attempts=1), task("b", needs=("a",)), task("c", needs=("b",)), task("d", takers=("x",)))
    board.post(board.take(), ItemStep.FAIL, "it crashed")
    none = kind(NoItem, board.ask_item())
    assert none.is_over
    assert {each.task_id: each.why for each in none.waiting} == {
        "a": "it is failed: it crashed (attempt 1 of 1)",
        "b": "it needs a, which is failed",
        "c": "it needs b, which cannot begin",
        "d": "only x may take it",
    }
    assert kind(RunRefused, board.end(RunMove.COMPLETE)).code is Refusal.RUN_CHANGED
    assert kind(RunChanged, board.end(RunMove.FAIL)).run.state is RunState.FAILED
    board.run(ReopenTask("person", "a", "the crash is repaired"))
    kind(RunChanged, board.resume())
    assert board.take().task_id == "a"


def test_a_task_that_failed_in_an_earlier_run_fails_with_the_name_of_its_editor() -> None:
    board = Board()
    board.start(task("a", most_attempts=1))
    failed = board.post(board.take(), ItemStep.FAIL, "it crashed")
    kind(RunChanged, board.end(RunMove.FAIL))
    board.start(task("a", most_attempts=1))
    (found,) = kind(NoItem, board.ask_item()).waiting
    assert found.why == f"it is failed: {failed.session} has failed at it: it crashed (attempt 1 of 1)"


def test_a_cancelled_task_cancels_its_item() -> None:
    board = Board()
    board.start(task("a"))
    item = board.take()
    board.run(CancelTask("person", "a", "not wanted"))
    assert kind(RunRefused, board.ask_post(item, ItemStep.PROPOSE)).code is Refusal.RUN_CHANGED
    assert kind(NoItem, board.ask_item()).is_over
    assert board.item("a").state is ItemState.CANCELLED


def test_usage_is_kept_for_each_item_and_repair() -> None:
    board = Board()
    board.start(task("a"))
    item = board.post(board.take(), ItemStep.PROPOSE, usage=TokenUsage(100, 10, 1.0))
    refused = board.post(item, ItemStep.REFUSE)
    editing = board.post(refused, ItemStep.REPLAN, usage=TokenUsage(1, 1, 0.25))
    written = board.post(editing, ItemStep.WRITE, usage=TokenUsage(50, 5, 0.5))
    assert written.usage == TokenUsage(151, 16, 1.75)
    assert written.repair_usage == TokenUsage(51, 6, 0.75)
    assert [(each.role, each.round, each.is_repair) for each in written.spent] == [
        (Role.EDITOR, 1, False),
        (Role.RECOVERY, 1, True),
        (Role.EDITOR, 2, True),
    ]


def test_messages_to_roles_are_kept_with_the_item() -> None:
    board = Board()
    board.start(task("a"))
    message = RoleMessage(Role.EDITOR, "keep the old name as well", Role.VALIDATOR)
    item = board.post(board.write(board.take()), ItemStep.REJECT, "renamed", messages=(message,))
    assert board.take().messages == item.messages == (message,)


def test_a_decision_that_ends_several_leases_ends_and_renews_no_other_twice() -> None:
    board = Board()
    board.start(task("a"), ttl=9 * TTL)
    item = board.take(ttl=9 * TTL)
    theirs = board.lease("stranger", "file:c.py#h")
    board.seconds = TTL * 0.6
    board.lease(item.session, A)
    board.lease(item.session, B)
    board.seconds = TTL * 1.2
    board.post(item, ItemStep.FAIL, "too hard")
    assert [each.lease_id for each in board.log if isinstance(each, LeaseExpired)] == [theirs]
    assert [each.holder for each in board.state.leases.values()] == ["boss"]
