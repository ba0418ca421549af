"""Decisions on tasks: who gets which, what each transition requires, and what becomes of an attempt."""

import pytest
from tests.unit.tasks.table import COMMIT, TTL, Table, kind, task

from commonhold.kernel.commands import Break, HandOver, Release, Renew
from commonhold.kernel.errors import InputError
from commonhold.kernel.events import LeaseBroken
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.task import Move, Result, TaskMoved, TaskState
from commonhold.tasks.commands import (
    AddTasks,
    CancelTask,
    ClaimTask,
    Expected,
    FailTask,
    FinishTask,
    LandTask,
    NoTask,
    RefuseTask,
    ReopenTask,
    SettleTasks,
    StrandTask,
    TaskChanged,
    TaskClaimed,
    TaskRefused,
    TasksAdded,
    TasksRefused,
    TasksSettled,
    UndoTask,
)


def test_tasks_without_a_name_are_numbered_by_the_log() -> None:
    table = Table()
    assert [each.id for each in table.add(task(""), task("named"), task(""))] == ["t1", "named", "t3"]
    assert [each.number for each in table.state.tasks.values()] == [1, 2, 3]


def test_a_circle_of_needs_is_refused_and_shown() -> None:
    table = Table()
    tasks = (task("a", needs=("c",)), task("b", needs=("a",)), task("c", needs=("b",)))
    refused = kind(TasksRefused, table.run(AddTasks("one", tasks)))
    assert (refused.code, refused.tasks) == (Refusal.TASK_IN_CIRCLE, ("a", "c", "b", "a"))
    assert refused.why.endswith("a -> c -> b -> a")
    assert table.state.tasks == {}


def test_a_need_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(InputError, match="the task 'a' needs 'nowhere'"):
        Table().add(task("a", needs=("nowhere",)))


def test_the_same_plan_can_be_added_again_and_another_under_its_names_cannot() -> None:
    table = Table()
    table.add(task("a"))
    again = kind(TasksAdded, table.run(AddTasks("two", (task("a"), task("b", needs=("a",))))))
    assert ([each.id for each in again.records], again.unchanged) == (["b"], ("a",))
    refused = kind(TasksRefused, table.run(AddTasks("two", (task("c"), task("a", priority=1)))))
    assert (refused.code, refused.tasks) == (Refusal.TASK_EXISTS, ("a",))
    twice = kind(TasksRefused, table.run(AddTasks("two", (task("d"), task("d")))))
    assert (twice.tasks, "d" in table.state.tasks) == (("d",), False)


def test_three_processes_of_one_name_make_one_claim() -> None:
    """A name is no identity: the second process of it is told who has the task, and not given the same task again."""
    table = Table()
    table.add(task("t1", takers=("writer",)))
    claimed = kind(TaskClaimed, table.ask("writer"))
    for _ in range(2):
        refused = kind(NoTask, table.ask("writer", "t1"))
        assert (refused.code, refused.why) == (
            Refusal.TASK_TAKEN,
            f"t1 cannot be claimed: it is claimed by writer (attempt 1) under the fence {claimed.record.fence}",
        )
    stranger = table.run(FinishTask("writer", "t1", Result(COMMIT), claimed.record.fence + 1))
    assert kind(TaskRefused, stranger).code is Refusal.TASK_TAKEN
    kind(TaskChanged, table.finish(claimed.record))


def test_a_session_sees_which_other_tasks_it_has_claimed() -> None:
    table = Table()
    table.add(task("a"), task("b"))
    table.claim("one", "a")
    assert kind(TaskClaimed, table.ask("one")).others == ("a",)


def test_a_refused_claim_names_another_task() -> None:
    table = Table()
    table.add(task("a", "file:a.py"), task("busy", "file:a.py"), task("free", "file:b.py"))
    table.claim("one", "a")
    assert kind(NoTask, table.ask("two", "a")).instead == "free"


def test_a_claim_under_the_id_of_another_lease_is_refused() -> None:
    table = Table()
    table.add(task("a"), task("b"))
    lease = table.claim("one", "a").lease_id
    assert kind(NoTask, table.run(ClaimTask("two", lease, TTL))).code is Refusal.ID_IN_USE


def test_without_tasks_there_is_nothing_to_claim() -> None:
    table = Table()
    assert kind(NoTask, table.ask("one")).why == "there is no open task"
    table.complete(table.claim("one", table.add(task("a"))[0].id))
    assert kind(NoTask, table.ask("one")).waiting == ()
    assert kind(NoTask, table.ask("one", "a")).why == "a cannot be claimed: it is complete: its change has landed"


def test_done_is_not_landed() -> None:
    table = Table()
    table.add(task("a"), task("b", needs=("a",)))
    done = kind(TaskChanged, table.finish(table.claim("one"))).record
    assert table.conditions() == {"a": "stranded", "b": "blocked"}
    assert kind(NoTask, table.ask("two")).waiting[1].why == "it needs a, which is done but has not landed"
    wrong = table.run(LandTask("queue", "a", "d" * 40, done.attempt, "main"))
    assert kind(TaskRefused, wrong).why == "a has another commit by now"
    table.run(LandTask("queue", "a", COMMIT, done.attempt, "main"))
    assert table.conditions() == {"a": "landed", "b": "ready"}


def test_a_result_without_a_commit_lands_at_once() -> None:
    table = Table()
    table.add(task("a"))
    claimed = table.claim("one")
    found = table.run(FinishTask("one", "a", Result(admitted=(3, 5)), claimed.fence, "in the shared checkout"))
    record = kind(TaskChanged, found).record
    assert (record.state, record.result, record.note) == (
        TaskState.LANDED,
        Result(admitted=(3, 5)),
        "in the shared checkout",
    )


def test_a_done_task_can_be_given_the_commit_that_it_became() -> None:
    table = Table()
    table.add(task("a"))
    table.finish(table.claim("one"))
    squashed = "e" * 40
    record = kind(TaskChanged, table.run(FinishTask("person", "a", Result(squashed), note="squashed"))).record
    assert (record.state, record.result) == (TaskState.DONE, Result(squashed))
    assert kind(TaskRefused, table.run(FinishTask("person", "a", Result()))).code is Refusal.TASK_CHANGED


def test_a_landed_task_is_stranded_again_when_its_target_is_reset() -> None:
    table = Table()
    table.add(task("a"), task("b", needs=("a",)))
    landed = table.complete(table.claim("one"))
    table.run(StrandTask("queue", "a", COMMIT, landed.attempt, "main was reset"))
    assert table.conditions() == {"a": "stranded", "b": "blocked"}


def test_a_task_refused_at_landing_waits_for_its_session_then_for_everybody() -> None:
    table = Table()
    table.add(task("a"))
    table.finish(table.claim("one"))
    table.run(RefuseTask("queue", "a", "a check failed", 50.0))
    assert table.conditions() == {"a": "reserved"}
    assert kind(NoTask, table.ask("two")).waiting[0].why == "it was refused at landing and is reserved for one"
    table.seconds += 51.0
    record = table.claim("two")
    assert record.result == Result(COMMIT)
    assert (record.attempts[0].end, record.attempts[0].note) == (Move.REFUSE, "a check failed")


def test_the_session_of_a_refused_task_gets_it_before_all_others() -> None:
    table = Table()
    table.add(task("a"), task("urgent", priority=9))
    table.finish(table.claim("one", "a"))
    table.run(RefuseTask("queue", "a", "a check failed", 50.0))
    assert table.claim("one").id == "a"


def test_a_task_that_is_refused_at_landing_too_often_fails() -> None:
    table = Table()
    table.add(task("a", most_attempts=1))
    table.finish(table.claim("one"))
    record = kind(TaskChanged, table.run(RefuseTask("queue", "a", "a check failed", 50.0))).record
    assert (record.state, record.note) == (TaskState.FAILED, "a check failed (attempt 1 of 1)")


@pytest.mark.parametrize("how", ["expires", "released", "broken", "reboot"])
def test_a_task_returns_when_its_lease_ends_in_any_way(how: str) -> None:
    table = Table()
    table.add(task("a"))
    claimed = table.claim("one")
    if how == "expires":
        table.seconds += TTL
    elif how == "reboot":
        table.boot += 1
    else:
        ended = Release(claimed.lease_id, "one") if how == "released" else Break(claimed.lease_id, "person", "it hangs")
        table.lease_command(ended)
    assert table.run(SettleTasks("two")) == TasksSettled(("a",))
    again = table.claim("two")
    assert again.fence > claimed.fence
    first, second = again.attempts
    assert (first.holder, first.end, first.note) == ("one", Move.RETURN, "its lease ended before it was done")
    assert (second.holder, second.ended_at) == ("two", None)


@pytest.mark.parametrize(("attempts", "found"), [(3, "open"), (1, "failed"), (1, "reopened")])
def test_a_late_finish_counts_unless_another_session_has_claimed_the_task(attempts: int, found: str) -> None:
    table = Table()
    table.add(task("a", most_attempts=attempts))
    claimed = table.claim("one")
    table.seconds += TTL
    table.run(SettleTasks("two"))
    assert table.state.tasks["a"].state is (TaskState.OPEN if found == "open" else TaskState.FAILED)
    if found == "reopened":
        table.run(ReopenTask("person", "a", "the session was only slow"))
    assert kind(TaskRefused, table.run(FailTask("one", "a", claimed.fence, "too late"))).code is Refusal.TASK_CHANGED
    done = kind(TaskChanged, table.finish(claimed)).record
    assert (done.state, done.holder, done.fence) == (TaskState.DONE, "one", claimed.fence)
    assert (done.attempts[-1].end, done.attempts[-1].ended_at) == (Move.FINISH, table.seconds)


def test_a_late_finish_after_another_claim_is_refused_and_says_why() -> None:
    table = Table()
    table.add(task("a"))
    claimed = table.claim("one")
    table.seconds += TTL
    again = table.claim("one")
    assert kind(TaskRefused, table.finish(claimed)).code is Refusal.TASK_TAKEN
    table.run(FailTask("one", "a", again.fence, "cannot"))
    refused = kind(TaskRefused, table.finish(again))
    assert refused.why == "a is not claimed: it is open (cannot)"
    assert kind(TaskRefused, table.finish(claimed)).code is Refusal.TASK_CHANGED


def test_no_late_finish_goes_round_a_refusal_at_landing_or_a_cancellation() -> None:
    table = Table()
    table.add(task("a", most_attempts=1), task("b"))
    for each, ending in (
        ("a", RefuseTask("queue", "a", "a check failed", 50.0)),
        ("b", CancelTask("person", "b", "no")),
    ):
        claimed = table.claim("one", each)
        if each == "a":
            table.finish(claimed)
        table.run(ending)
        assert kind(TaskRefused, table.finish(claimed)).code is Refusal.TASK_CHANGED
        if each == "b":
            table.run(ReopenTask("person", each, "after all"))
            assert kind(TaskRefused, table.finish(claimed)).code is Refusal.TASK_CHANGED


def test_signs_of_life_keep_a_claim() -> None:
    table = Table()
    table.add(task("a"))
    claimed = table.claim("one")
    for _ in range(3):
        table.seconds += 0.9 * TTL
        table.lease_command(Renew(claimed.lease_id, "one", TTL))
    kind(TaskChanged, table.finish(claimed))


def test_a_claim_goes_to_the_session_that_its_lease_was_handed_to() -> None:
    table = Table()
    table.add(task("a"))
    claimed = table.claim("one")
    table.lease_command(HandOver(claimed.lease_id, "one", "two"))
    assert kind(TaskRefused, table.finish(claimed)).code is Refusal.TASK_TAKEN
    handed = table.state.tasks["a"]
    assert (handed.holder, handed.attempt, handed.attempts[-1].holder) == ("two", 1, "two")
    kind(TaskChanged, table.finish(handed))


def test_a_poison_task_stops_at_its_cap_and_a_person_reopens_it() -> None:
    table = Table()
    table.add(task("a", most_attempts=2), task("b", needs=("a",)))
    table.run(FailTask("one", "a", table.claim("one").fence, "the tests fail"))
    table.claim("two")
    table.seconds += TTL
    assert kind(NoTask, table.ask("three")).waiting[0].why == "it needs a, which is failed"
    failed = table.state.tasks["a"]
    assert (failed.state, failed.note) == (TaskState.FAILED, "its lease ended before it was done (attempt 2 of 2)")
    table.run(ReopenTask("person", "a", "the test was wrong"))
    reopened = table.claim("three")
    assert (reopened.attempt, reopened.tries, len(reopened.attempts)) == (3, 1, 3)


def test_cancelling_a_claimed_task_breaks_the_claim() -> None:
    table = Table()
    table.add(task("a"))
    claimed = table.claim("one")
    table.run(CancelTask("person", "a", "not needed"))
    assert (table.state.leases, table.state.tasks["a"].state) == ({}, TaskState.CANCELLED)
    assert LeaseBroken("one", claimed.lease_id, "person", "not needed") in table.log
    assert kind(TaskRefused, table.finish(claimed)).why == "a is not claimed: it is cancelled (not needed)"


def test_cancelling_an_open_task_leaves_its_history() -> None:
    table = Table()
    table.add(task("a"))
    table.run(FailTask("one", "a", table.claim("one").fence, "could not"))
    cancelled = kind(TaskChanged, table.run(CancelTask("person", "a", "not needed"))).record
    assert [(each.end, each.note) for each in cancelled.attempts] == [(Move.RETURN, "could not")]


def test_a_command_that_expects_another_state_is_refused() -> None:
    table = Table()
    table.add(task("a"))
    seen = Expected(TaskState.OPEN, 0)
    table.claim("one")
    refused = kind(TaskRefused, table.run(CancelTask("person", "a", "x", seen)))
    assert (refused.code, refused.why) == (
        Refusal.TASK_CHANGED,
        "a has moved on since: it is claimed, in attempt 1",
    )


def test_a_transition_that_the_table_does_not_have_is_refused() -> None:
    table = Table()
    table.add(task("a"))
    for command in (
        RefuseTask("x", "a", "why", 1.0),
        ReopenTask("x", "a", "why"),
        LandTask("x", "a", COMMIT, 0, "main"),
        StrandTask("x", "a", COMMIT, 0, "main"),
    ):
        refused = kind(TaskRefused, table.run(command))
        assert refused.why.startswith("a is open, so there is nothing to ")
    assert len(table.log) == 1


def test_every_command_on_an_unknown_task_is_an_error() -> None:
    for command in (ClaimTask("x", "l", TTL, "no"), FailTask("x", "no", 1, "y"), CancelTask("x", "no", "y")):
        with pytest.raises(InputError, match="there is no task 'no'"):
            Table().run(command)


def test_the_fence_of_a_claim_is_the_number_of_its_grant() -> None:
    table = Table()
    table.add(task("a"), task("b"))
    table.claim("one", "a")
    table.seconds += TTL
    claimed = table.claim("two", "b")
    moves = [each for each in table.log if isinstance(each, TaskMoved)]
    assert [each.move for each in moves] == [Move.CLAIM, Move.RETURN, Move.CLAIM]
    assert claimed.fence == table.state.leases[claimed.lease_id].fence


def test_a_landed_task_whose_commits_were_undone_is_open_with_all_attempts_before_it() -> None:
    table = Table()
    table.add(task("a", most_attempts=1), task("b", needs=("a",)))
    claimed = table.claim("one", "a")
    table.run(FinishTask("one", "a", Result(admitted=(7, 9)), claimed.fence))
    ended_at = table.seconds
    assert table.conditions() == {"a": "landed", "b": "ready"}
    table.seconds += 50.0
    for admitted, attempt in (((7,), 1), ((7, 9), 2)):
        refused = kind(TaskRefused, table.run(UndoTask("lead", "a", admitted, attempt, "undone")))
        assert refused.code is Refusal.TASK_CHANGED
    record = kind(TaskChanged, table.run(UndoTask("lead", "a", (7, 9), 1, "undone by lead"))).record
    assert (record.state, record.note, record.tries, record.holder) == (TaskState.OPEN, "undone by lead", 0, "")
    assert (record.attempts[-1].end, record.attempts[-1].ended_at) == (Move.UNDO, ended_at)
    assert table.conditions() == {"a": "ready", "b": "blocked"}
    kind(TaskRefused, table.run(UndoTask("lead", "a", (7, 9), 1, "twice")))
    assert table.claim("two", "a").attempt == 2
