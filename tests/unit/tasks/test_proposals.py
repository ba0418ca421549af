"""Proposed tasks: who may accept one, and what waits for it."""

import pytest
from tests.unit.runs.blackboard import Board
from tests.unit.tasks.table import Table, kind, task

from commonhold.history.replay import replay
from commonhold.kernel.events import Recorded
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.task import Task, TaskAdded, TaskState
from commonhold.runs.commands import NoItem
from commonhold.server.notify.decisions import Kind, decision_of
from commonhold.tasks.commands import (
    AcceptTask,
    AddTasks,
    CancelTask,
    DeclineTask,
    NoTask,
    ReopenTask,
    TaskChanged,
    TaskRefused,
    TasksAdded,
)


def propose(table: Table, *tasks: Task, by: str = "claude:a") -> None:
    kind(TasksAdded, table.run(AddTasks(by, tasks, is_proposed=True)))


def test_a_proposed_task_waits_until_another_session_accepts_it() -> None:
    table = Table()
    propose(table, task("a"))
    table.add(task("b", needs=("a",)))
    refused = kind(NoTask, table.ask("ben", "a"))
    assert (refused.code, refused.waiting[0].why) == (
        Refusal.TASK_NOT_READY,
        "claude:a has proposed it, and it waits to be accepted",
    )
    assert table.conditions() == {"a": "proposed", "b": "blocked"}
    accepted = kind(TaskChanged, table.run(AcceptTask("lead", "a", "good idea"))).record
    assert (accepted.state, accepted.note, accepted.added_by) == (TaskState.OPEN, "good idea", "claude:a")
    assert table.complete(table.claim("ben")).id == "a"
    assert table.conditions() == {"a": "landed", "b": "ready"}


@pytest.mark.parametrize("holder", ["claude:a", "claude:a/sub"])
def test_a_session_cannot_accept_its_own_proposal_but_can_decline_it(holder: str) -> None:
    table = Table()
    propose(table, task("a"))
    refused = kind(TaskRefused, table.run(AcceptTask(holder, "a")))
    assert (refused.code, refused.record.state) == (Refusal.TASK_NOT_YOURS, TaskState.PROPOSED)
    declined = kind(TaskChanged, table.run(DeclineTask(holder, "a", "done already"))).record
    assert (declined.state, declined.note) == (TaskState.CANCELLED, "done already")


def test_a_proposal_is_decided_on_once() -> None:
    table = Table()
    propose(table, task("a"), task("b"))
    table.run(AcceptTask("lead", "a"))
    table.run(CancelTask("lead", "b", "not now"))
    for command in (AcceptTask("lead", "a"), DeclineTask("lead", "a", "no"), AcceptTask("lead", "b")):
        assert kind(TaskRefused, table.run(command)).code is Refusal.TASK_CHANGED
    assert kind(TaskChanged, table.run(ReopenTask("lead", "b", "now"))).record.state is TaskState.OPEN


def test_replay_makes_the_decisions_on_proposals_again() -> None:
    table = Table()
    propose(table, task("a"), task("b"))
    table.run(AddTasks("claude:a", (task("c"),)))
    table.run(AcceptTask("lead", "a", "yes"))
    table.run(DeclineTask("lead", "b", "no"))
    log = tuple(Recorded(number, 0.0, event) for number, event in enumerate(table.log, 1))
    found = replay(log)
    assert (found.difference, found.checked) == (None, found.events)


def test_a_run_does_not_wait_for_a_proposal() -> None:
    board = Board()
    propose(board, task("a"))
    board.start(task("a"), task("b", needs=("a",)))
    found = kind(NoItem, board.ask_item())
    assert found.is_over
    assert {each.task_id: each.why for each in found.waiting} == {
        "a": "claude:a has proposed it, and it waits to be accepted",
        "b": "it needs a, which is proposed",
    }
    board.run(AcceptTask("lead", "a"))
    assert board.take().task_id == "a"


def test_a_person_is_notified_of_a_proposal() -> None:
    decision = decision_of(Recorded(7, 1.0, TaskAdded("claude:a", task("a"), is_proposed=True)))
    assert decision is not None
    assert (decision.kind, decision.subject, decision.next) == (Kind.TASK_PROPOSED, "a", "commonhold task accept a")
    assert decision_of(Recorded(7, 1.0, TaskAdded("claude:a", task("a")))) is None
