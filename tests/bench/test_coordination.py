"""The bench of coordination works, at sizes that show no more than that."""

from bench import coordination


def test_the_plan_is_carried_out_once_and_in_order_also_by_agents_that_die() -> None:
    figures = coordination.measure(coordination.QUICK)
    wrong = {each.name: each.value for each in figures if each.goal.startswith("0")}

    assert len(wrong) == 9
    assert not any(wrong.values()), wrong
    assert any("1 killed" in each.name for each in figures)


def test_the_plan_allows_no_less_than_its_longest_chain() -> None:
    plan = coordination.plan_of(coordination.Sizes())
    assert len(plan.tasks) == 60
    assert plan.allows(1) == sum(plan.seconds.values())
    assert plan.allows(1_000) >= max(plan.seconds.values())
    assert all(int(need[1:]) < int(each.id[1:]) for each in plan.tasks for need in each.needs)
    assert any(each.needs for each in plan.tasks)
