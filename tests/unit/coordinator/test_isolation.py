"""The choices of an isolated run, on made-up items and sessions."""

from dataclasses import replace

import pytest

from commonhold.coordinator.isolation import Isolation, Standing
from commonhold.kernel.managed_session import ManagedSession, ManagedSessionRecord, SessionState
from commonhold.kernel.run import ItemRecord
from commonhold.kernel.task import Task, TaskRecord, TaskState
from commonhold.runs.answers import ItemView
from commonhold.sessions.answers import ManagedSessionView


def item(name: str, *keys: str, needs: tuple[str, ...] = (), state: TaskState = TaskState.OPEN) -> ItemView:
    record = TaskRecord(Task(name, name, keys=keys, needs=needs), 1, "ann", 0.0, 0.0)
    return ItemView(ItemRecord("r1", name, 1, 1, 0.0), replace(record, state=state))


def session(task: str, state: SessionState, *, needs_person: bool = False) -> ManagedSessionView:
    made = ManagedSession(f"s-{task}", "do it", "x", "c" * 40, "/root", "here", task_id=task, lands=True)
    record = ManagedSessionRecord(made, 1, "ann", 0.0, 0.0, state=state)
    return ManagedSessionView(
        record,
        is_supervised=False,
        lease_seconds=0.0,
        why="it was removed",
        age_seconds=0.0,
        needs_person=needs_person,
    )


def isolation(items: list[ItemView], *sessions: ManagedSessionView, ready: str = "") -> Isolation:
    by_task = {each.record.session.task_id: each for each in sessions}
    return Isolation(items, by_task, ready.split())


def begun(found: Isolation, most: int) -> list[tuple[str, str]]:
    return [(each.item.item.task_id, each.retry) for each in found.starts(most)]


def test_as_many_begin_as_there_is_room_for_the_best_first() -> None:
    items = [item(each) for each in ("a", "b", "c", "d")]
    found = isolation(items, session("a", SessionState.RUNNING), ready="c b d")
    assert begun(found, 3) == [("c", ""), ("b", "")]
    assert begun(found, 1) == []


def test_work_that_lands_takes_no_room() -> None:
    found = isolation([item("a"), item("b")], session("a", SessionState.AWAITING_REVIEW), ready="b")
    assert begun(found, 1) == [("b", "")]


@pytest.mark.parametrize("state", [SessionState.RUNNING, SessionState.AWAITING_REVIEW])
def test_items_that_share_keys_wait_for_each_other_to_land(state: SessionState) -> None:
    items = [item("a", "file:x.py#f"), item("b", "file:x.py"), item("c", "file:x.py#g"), item("d", "file:x.py#g")]
    found = isolation(items, session("a", state), ready="b c d")
    assert begun(found, 9) == [("c", "")]


def test_one_that_failed_is_tried_again_by_its_session() -> None:
    found = isolation([item("a")], session("a", SessionState.FAILED), ready="a")
    assert begun(found, 1) == [("a", "s-a")]


def test_one_that_waits_for_a_person_holds_up_those_that_need_it() -> None:
    items = [item("a"), item("b", needs=("a",)), item("c", needs=("b",)), item("d")]
    found = isolation(items, session("a", SessionState.AWAITING_REVIEW, needs_person=True))
    assert found.stuck() == {
        "a": "its session s-a awaits review: it was removed",
        "b": "it needs a",
        "c": "it needs b",
    }
    assert isolation(items, session("a", SessionState.CANCELLED)).stuck().keys() == {"a", "b", "c"}
    assert not isolation(items, session("a", SessionState.PAUSED)).stuck()


def test_one_that_needs_a_failed_one_goes_on_no_more_either() -> None:
    items = [item("a"), item("b", needs=("gone",)), item("c", needs=("b",))]
    by_task = {"a": session("a", SessionState.CANCELLED)}
    assert Isolation(items, by_task, (), ended=("gone",)).stuck().keys() == {"a", "b", "c"}


@pytest.mark.parametrize(("task", "standing"), [(TaskState.DONE, Standing.LANDING), (TaskState.OPEN, Standing.NONE)])
def test_a_task_that_is_opened_again_gets_another_session(task: TaskState, standing: Standing) -> None:
    found = item("a", state=task)
    assert isolation([found], session("a", SessionState.COMPLETED)).standing(found) is standing
