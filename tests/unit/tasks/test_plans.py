"""Plans, as people and planners write them."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.task import Task
from commonhold.tasks.definition import checked
from commonhold.tasks.plans import duration, instant, read_plan

PLAN = b"""
goal: "discounts in checkout"
target: main
tasks:
  - id: price
    title: "discount parameter on charge()"
    intent: >
      charge() takes a discount in percent,
      default 0
    keys: [src/billing.py#charge]
    checks: ["pytest -q tests/billing"]
  - id: apply
    needs: price
    title: "apply_discount() uses it"
    estimate: 2m
    deadline: 2h
    priority: 5
    attempts: 2
    labels: [python]
    agent: claude
    for: [person:*]
    target: release
"""


def refused(text: str) -> str:
    with pytest.raises(InputError) as raised:
        tuple(checked(each, str) for each in read_plan(text.encode(), 0.0))
    assert raised.value.code is Code.PLAN_INVALID
    assert raised.value.hint
    return raised.value.message


def test_every_field_of_a_plan_is_read() -> None:
    price, apply = read_plan(PLAN, 1_000.0)
    assert price == Task(
        *("price", "discount parameter on charge()", "charge() takes a discount in percent, default 0"),
        keys=("src/billing.py#charge",),
        target="main",
        checks=("pytest -q tests/billing",),
    )
    assert apply == Task(
        *("apply", "apply_discount() uses it", "", (), ("price",), 5, 8_200.0, 120.0, 2, ("python",)),
        takers=("person:*", "claude", "claude:*"),
        target="release",
    )


def test_a_plan_may_be_json_or_a_mere_list() -> None:
    assert read_plan(b'[{"title": "a", "id": 7}]', 0.0) == (Task("7", "a"),)
    assert read_plan(b'{"tasks": [{"title": "a"}]}', 0.0) == (Task("", "a"),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- id: a\n title: b", "found '<block mapping start>' in line 2, column 2"),
        ("42", "neither a mapping with `tasks` nor a list"),
        ("tasks: []", "`tasks` is not a list of 1 to 10000 tasks"),
        ("task: []", "it has the unknown field 'task'"),
        ("- 7", "task number 1 is not a mapping"),
        ("- {title: a, need: b}", "the task 'a' cannot be added: it has the unknown field 'need'"),
        ("- {id: a}", "it has no title"),
        ("- {title: [a]}", "its title is no text"),
        ("- {title: a, keys: [[b]]}", "its keys is no list of texts"),
        ("- {title: a, priority: high}", "its priority is no whole number"),
        ("- {title: a, priority: 9999}", "its priority is not between -1000 and 1000"),
        ("- {title: a, attempts: 0}", "its number of attempts is not between 1 and 100"),
        ("- {title: a, estimate: soon}", "its estimate is no duration such as 90s, 2m or 1h"),
        ("- {title: a, estimate: 0}", "its estimate is no duration above zero"),
        ("- {title: a, deadline: 2026-12-01T10:00:00}", "its deadline is neither a duration such as 2h nor a time"),
        ("- {title: a, deadline: 2026-12-01}", "its deadline is neither a duration such as 2h nor a time"),
        ("- {title: a, id: 'a/b'}", "its id has other characters than letters"),
        ("- {title: a, id: t12}", "ids such as t12 are given by the store"),
        ("- {title: a, agent: 'run {prompt_file}'}", "its agent is no name such as claude"),
        ("- {title: a, target: --all}", "its target is no name of a branch"),
        ("- {title: a, labels: ['']}", "one of its labels is empty"),
    ],
)
def test_a_wrong_plan_is_refused_with_its_reason(text: str, expected: str) -> None:
    assert expected in refused(text)


def test_control_characters_are_refused() -> None:
    with pytest.raises(InputError) as raised:
        checked(Task("a", "a \x1b[2J"), str)
    assert raised.value.code is Code.TEXT_INVALID


def test_a_time_with_its_zone_is_a_deadline() -> None:
    assert read_plan(b"- {title: a, deadline: 1970-01-01T01:00:00Z}", 5.0)[0].deadline_at == 3_600.0
    assert instant("1970-01-01T01:00:00+01:00", 5.0) == 0.0
    assert (instant("1970-01-01T01:00:00", 5.0), instant("tomorrow", 5.0)) == (None, None)


@pytest.mark.parametrize(("text", "seconds"), [("90", 90.0), ("30s", 30.0), ("1.5h", 5_400.0), ("2 d", 172_800.0)])
def test_durations_have_units(text: str, seconds: float) -> None:
    assert duration(text) == seconds
    assert duration(f"-{text}") is None


@given(st.binary(max_size=60) | st.text("{}[]:-, \n\"'&*!abtasks01", max_size=60).map(str.encode))
def test_any_bytes_are_a_plan_or_refused(content: bytes) -> None:
    with suppress(InputError):
        tasks = tuple(checked(each, str) for each in read_plan(content, 0.0))
        assert tasks
        assert all(each.title for each in tasks)


def test_repeated_parts_count_once_and_keys_are_located() -> None:
    found = checked(Task("a", "title", keys=("b", "B"), needs=("x", "x"), labels=("l", "l")), str.lower)
    assert (found.keys, found.needs, found.labels) == (("b",), ("x",), ("l",))
