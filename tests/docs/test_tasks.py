"""docs/tasks.md says what the code does."""

import re

from tests.docs.task_states import PAGE, renewed

from commonhold.tasks import plans
from commonhold.tasks.plans import read_plan

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_diagram_is_that_of_the_table() -> None:
    assert renewed(TEXT) == TEXT, "run: python -m tests.docs.task_states"
    assert "claimed --> done: finish" in TEXT


def test_the_plan_is_one() -> None:
    (plan,) = re.findall(r"```yaml plan\n(.*?)```", TEXT, re.DOTALL)
    assert [each.id for each in read_plan(plan.encode(), 0.0)] == ["price", "apply"]


def test_every_field_of_a_task_is_described() -> None:
    table = TEXT.partition("| field | meaning |")[2].partition("\n\n")[0]
    told = {name for cell in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", cell)}
    assert told == plans._FIELDS
