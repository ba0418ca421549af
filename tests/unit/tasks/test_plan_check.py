"""Checks of plans: refused if they can never be carried out, and predicted where no key is declared."""

import pytest
from tests.unit.tasks.table import task

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.task import Task
from commonhold.tasks.plan_check import check_plan
from commonhold.tasks.prediction import Touch


def nothing(_: Task) -> tuple[Touch, ...]:
    return ()


def test_a_circle_of_needs_is_refused_with_its_path() -> None:
    found = check_plan([task("a", needs=("b",)), task("b", needs=("c",)), task("c", needs=("a",))], (), nothing, 2)
    assert (found.outcome, found.code) == ("refused", Refusal.TASK_IN_CIRCLE)
    assert found.circle[0] == found.circle[-1]
    assert " -> ".join(found.circle) in found.why


def test_a_need_that_does_not_exist_is_an_error_and_one_added_before_is_met() -> None:
    with pytest.raises(InputError) as raised:
        check_plan([task("a", needs=("gone",))], ["there"], nothing, 2)
    assert (raised.value.code, raised.value.fields["need"]) == (Code.TASK_UNKNOWN, "gone")
    assert check_plan([task("a", needs=("there",))], ["there"], nothing, 2).outcome == "checked"


def test_a_name_that_is_given_twice_is_refused() -> None:
    found = check_plan([task("a"), task("b"), task("a")], (), nothing, 2)
    assert (found.code, found.why) == (Refusal.TASK_EXISTS, "these tasks are in the plan twice: a")


def test_only_tasks_without_keys_are_predicted() -> None:
    asked = []

    def predict(each: Task) -> tuple[Touch, ...]:
        asked.append(each.id)
        return (Touch("a.py", 1.0, regions={"f": 1.0}),)

    found = check_plan([task("a"), task("b", "file:a.py#f"), task("c", "file:a.py#g")], (), predict, 3)
    assert asked == ["a"]
    assert [(each.one, each.other, each.risk) for each in found.overlaps] == [("a", "b", 1.0)]
    assert found.schedule.speed_up == 1.5


def test_tasks_without_a_name_are_called_by_their_number() -> None:
    found = check_plan([task(""), task("")], (), nothing, 2)
    assert [each.task.id for each in found.works] == ["#1", "#2"]
