"""Commits that take turns: nothing is lost, nobody starves, and whoever comes first is served first."""

from pathlib import Path

import pytest
from tests.effort import is_stress
from tests.sim.committers import PACES, ROUGH, Story, wrongs
from tests.sim.mutants import OF_TURNS

from commonhold.commits.turns import TURN_SECONDS
from commonhold.kernel.errors import Code, StoreError

pytestmark = pytest.mark.slow

SEEDS = range(15 if is_stress() else 8)
MOST_SEEDS = 60
FOUND_EARLY = 22
"""A seed that finds the rarest defect: tried first, for time."""


@pytest.mark.parametrize("pace", PACES)
def test_every_commit_is_answered_in_order_and_made_of_what_is_there(pace: str, tmp_path: Path) -> None:
    for seed in SEEDS:
        assert wrongs(Story(seed, tmp_path / str(seed), PACES[pace]).play()) == [], f"seed {seed}"


def test_what_could_go_wrong_is_tried(tmp_path: Path) -> None:
    """What never happens proves nothing."""
    stories = [Story(seed, tmp_path / str(seed), ROUGH).play() for seed in range(5)]
    answered = [each for story in stories for each in story.answered]
    assert {each.outcome for each in answered} == {"committed", "merged", "refused"}
    assert any(each.seconds > TURN_SECONDS for each in answered)
    assert any(story.foreign for story in stories)


def test_the_same_seed_gives_the_same_story(tmp_path: Path) -> None:
    first, second = (Story(7, tmp_path / name, ROUGH).play() for name in ("first", "second"))
    assert first.answered == second.answered


@pytest.mark.parametrize("name", OF_TURNS)
def test_a_defect_is_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant, harm = OF_TURNS[name]
    mutant(monkeypatch)
    assert any(harm in harms(seed, tmp_path) for seed in (FOUND_EARLY, *range(MOST_SEEDS))), f"{name} was not found"


def harms(seed: int, folder: Path) -> str:
    found = []
    for name, pace in PACES.items():
        try:
            found += wrongs(Story(seed, folder / f"{name}-{seed}", pace).play())
        except StoreError as fault:
            found.append("somebody starved" if fault.code is Code.REPOSITORY_BUSY else fault.message)
    return "\n".join(found)
