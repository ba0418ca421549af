"""The bench of predicted overlaps works, on a history that is small enough to know its truth."""

from pathlib import Path

import pytest
from bench.merging.repository import Repository
from tests.e2e.cli_driver import git

from bench import plan_check
from commonhold.tasks.prediction import SIGNS

FUNCTIONS = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    root = tmp_path_factory.mktemp("history")
    git(root, "init", "--quiet", "-b", "main")
    steps = [
        ("begin", {"a.py": FUNCTIONS, "b.py": FUNCTIONS}),
        ("one() gives a text", {"a.py": FUNCTIONS.replace("1", "'1'")}),
        ("two() gives a text", {"a.py": FUNCTIONS.replace("1", "'1'").replace("2", "'2'")}),
        ("one() gives bytes", {"a.py": FUNCTIONS.replace("1", "b'1'").replace("2", "'2'")}),
        ("mend b.py", {"b.py": FUNCTIONS.replace("1", "3")}),
    ]
    for message, files in steps:
        for name, text in files.items():
            (root / name).write_text(text, encoding="utf-8")
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "-m", message)
    return Repository(root)


def test_two_commits_collide_if_they_change_one_region_in_ways_that_do_not_merge(repository: Repository) -> None:
    other, again, second, first = plan_check.history_of(repository, 4)
    assert [plan_check.share_region(first, each) for each in (second, again, other)] == [False, True, False]
    assert plan_check.collide(first, again)
    assert not plan_check.collide(first, second)


def test_a_history_becomes_figures(repository: Repository, tmp_path: Path) -> None:
    found = plan_check.measure([repository], tmp_path, plan_check.Sizes(plans=1, tasks=4, distance=1))
    values = {each.name: each.value for each in found}
    assert values["pairs of tasks"] == 6
    assert values["pairs that change a region in common"] == values["pairs that collide after validation"]
    assert values["pairs that collide after validation"] == pytest.approx(100 / 6)
    assert len([each for each in found if each.goal]) == 2


def test_weights_are_fitted_to_what_changed(repository: Repository, tmp_path: Path) -> None:
    weights = plan_check.learn([repository], tmp_path, plan_check.Sizes(plans=1, tasks=4, distance=1))
    assert len(weights.signs) == len(SIGNS)
    assert weights.bias < 0


def test_a_logistic_regression_finds_the_sign_that_counts() -> None:
    rows = [((1.0, float(is_true), float(number % 2)), is_true) for number in range(40) for is_true in (True, False)]
    _, first, second = plan_check.fitted(rows)
    assert first > 3
    assert abs(second) < first / 5


def test_the_shares_are_those_of_the_parallel_and_of_the_independent() -> None:
    pairs = [
        plan_check.Pair(is_serial=True, shares_region=True, collides=True),
        plan_check.Pair(is_serial=True, shares_region=False, collides=False),
        plan_check.Pair(is_serial=False, shares_region=True, collides=True),
        plan_check.Pair(is_serial=False, shares_region=False, collides=False),
        plan_check.Pair(is_serial=False, shares_region=False, collides=False),
    ]
    assert plan_check.shares(pairs) == (1 / 3, 1 / 3)
