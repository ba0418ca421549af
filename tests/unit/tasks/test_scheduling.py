"""Schedules of plans: overlaps by keys and by predictions, and list schedules that keep overlapping tasks apart."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.tasks.table import task

from commonhold.code.analysis.repository.library import Shelf
from commonhold.kernel.keys import canonical, overlaps
from commonhold.tasks.prediction import PastCommit, Predictor, Project, Touch
from commonhold.tasks.scheduling import (
    RISK_LIMIT,
    Schedule,
    Work,
    limit_for,
    overlap_of,
    overlaps_in,
    schedule,
)

KEYS = ["file:a.py", "file:a.py#f", "file:a.py#g", "file:b.py#f", "file:src/", "file:src/a.py#f", "account:1"]


@st.composite
def plans(draw: st.DrawFn) -> list[Work]:
    count = draw(st.integers(1, 9))
    names = [f"p{number}" for number in range(count)]
    return [
        Work(
            task(
                name,
                *draw(st.lists(st.sampled_from(KEYS), max_size=2, unique=True)),
                needs=tuple(draw(st.lists(st.sampled_from(names[:number]), max_size=2, unique=True))) if number else (),
                estimate_seconds=draw(st.sampled_from((1.0, 2.0, 7.0))),
                priority=draw(st.integers(0, 1)),
            )
        )
        for number, name in enumerate(names)
    ]


def collide(one: Work, other: Work) -> bool:
    return any(overlaps(canonical(mine), canonical(theirs)) for mine in one.task.keys for theirs in other.task.keys)


@given(plans(), st.integers(1, 4))
def test_a_schedule_keeps_needs_overlaps_and_agents_apart(works: list[Work], agents: int) -> None:
    found = schedule(works, overlaps_in(works), agents)
    steps = {step.task_id: step for step in found.steps}
    known = {work.task.id: work for work in works}

    assert len(steps) == len(works) == len(found.steps)
    for name, step in steps.items():
        assert step.ends - step.begins == known[name].seconds
        assert 1 <= step.agent <= agents
        assert all(steps[need].ends <= step.begins for need in known[name].task.needs)
        for other in found.steps:
            if other is not step and other.begins < step.ends and step.begins < other.ends:
                assert other.agent != step.agent
                assert not collide(known[name], known[other.task_id])


@given(plans(), st.integers(1, 4))
def test_a_schedule_is_never_longer_than_one_agent_alone_nor_shorter_than_possible(
    works: list[Work], agents: int
) -> None:
    found = schedule(works, overlaps_in(works), agents)
    assert max(found.alone / agents, *(work.seconds for work in works)) <= found.seconds <= found.alone
    assert 1.0 <= found.speed_up <= agents


@given(plans())
def test_exactly_the_pairs_overlap_whose_keys_do_and_that_could_run_at_once(works: list[Work]) -> None:
    needs = {work.task.id: set(work.task.needs) for work in works}
    for work in works:  # each comes after all that it needs
        needs[work.task.id] |= {each for need in work.task.needs for each in needs[need]}
    expected = {
        (one.task.id, other.task.id)
        for number, one in enumerate(works)
        for other in works[number + 1 :]
        if one.task.id not in needs[other.task.id] and collide(one, other)
    }
    assert {(each.one, each.other) for each in overlaps_in(works)} == expected


def test_the_longest_chain_begins_first() -> None:
    works = [
        Work(task("short", estimate_seconds=4.0)),
        Work(task("other", estimate_seconds=4.0)),
        Work(task("first", estimate_seconds=2.0)),
        Work(task("last", estimate_seconds=6.0, needs=("first",))),
    ]
    found = schedule(works, (), 2)
    assert (found.seconds, found.speed_up) == (8.0, 2.0)
    assert found.steps[0].task_id == "first"


def test_a_need_outside_of_the_plan_is_taken_to_be_met() -> None:
    assert schedule([Work(task("a", needs=("landed",), estimate_seconds=3.0))], (), 1).seconds == 3.0


def test_an_empty_plan_takes_no_time() -> None:
    assert schedule([], (), 3) == Schedule()
    assert Schedule().speed_up == 1.0


def predicted(name: str, *touches: Touch) -> Work:
    return Work(task(name), touches)


def test_two_predictions_collide_where_both_may_change_one_region() -> None:
    one = predicted("one", Touch("a.py", 0.5, regions={"f": 0.8, "g": 0.0}))
    other = predicted("other", Touch("a.py", 0.5, regions={"f": 0.5, "g": 1.0}))
    found = overlap_of(one, other)
    assert (found.one, found.other, found.key) == ("one", "other", "file:a.py#f")
    assert found.risk == pytest.approx(0.1)
    assert overlap_of(one, predicted("third", Touch("b.py", 1.0, regions={"f": 1.0}))).risk == 0.0


def test_a_declared_region_collides_with_the_predicted_share_of_it() -> None:
    touch = Touch("a.py", 0.5, regions={"f": 0.8, "g": 0.1})
    assert overlap_of(Work(task("one", "file:a.py#f")), predicted("other", touch)).risk == pytest.approx(0.4)
    assert overlap_of(predicted("one", touch), Work(task("other", "file:a.py"))).risk == 0.5
    assert overlap_of(predicted("one", touch), Work(task("other", "account:1"))).risk == 0.0
    unknown = overlap_of(Work(task("one", "file:a.css#f")), predicted("other", Touch("a.css", 0.5)))
    assert 0.0 < unknown.risk < 0.5


def test_the_worst_key_is_named() -> None:
    found = overlap_of(Work(task("one", "file:b.py#f", "file:a.py")), Work(task("other", "file:a.py#g.h")))
    assert (found.risk, found.key) == (1.0, "file:a.py#g.h")


def history(count: int) -> list[PastCommit]:
    """Commits that each change one of three files, which their messages name, and often a list of changes."""
    return [
        PastCommit(f"mend part{number % 3}.css", (f"part{number % 3}.css", *(("CHANGES.md",) if number % 2 else ())))
        for number in range(count)
    ]


def predictor(past: list[PastCommit]) -> Predictor:
    return Predictor(Project(("part0.css", "part1.css", "part2.css", "CHANGES.md"), Shelf({}), past))


def test_the_limit_serialises_a_small_share_of_the_pairs_that_changed_no_file_in_common() -> None:
    past = history(80)
    limit = limit_for(predictor(past))
    older = predictor(past[40:])
    works = [Work(task(str(number)), older.predict(each.message)) for number, each in enumerate(past[:40])]
    apart = [
        overlap_of(works[one], works[other]).risk > limit
        for one, other in combinations(range(40), 2)
        if not set(past[one].paths) & set(past[other].paths)
    ]
    assert len(apart) > 100
    assert sum(apart) / len(apart) <= 0.15


def test_a_short_history_has_the_usual_limit() -> None:
    assert limit_for(predictor(history(11))) == RISK_LIMIT
    same = [PastCommit("again", ("part0.css",))] * 30
    assert limit_for(predictor(same)) == RISK_LIMIT
