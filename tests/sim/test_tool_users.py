"""Nothing is lost, whatever the order in which agents, their tools and a person write; and defects are noticed."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.sim.losses import harm, losses
from tests.sim.tool_users import CALM, ROUGH, Stage, Story, Weather

from commonhold.agents.runtime import editing
from commonhold.commits.external.external_writes import ExternalWrites, Made
from commonhold.commits.external.proposals import Proposals
from commonhold.commits.read_before_write import Acquaintance
from commonhold.kernel.answers import RecordAnswer
from commonhold.kernel.keys import canonical
from commonhold.kernel.presence import Proposal

pytestmark = pytest.mark.slow

SEEDS = range(8)
MOST_SEEDS = 30


@pytest.fixture(autouse=True)
def _nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editing, "PATIENCE_SECONDS", 0.0)


def told(seed: int, folder: Path, weather: Weather) -> Story:
    stage = Stage(folder / str(seed))
    try:
        return Story(seed, stage, weather).play()
    finally:
        stage.attending.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_lost(seed: int, tmp_path: Path) -> None:
    story = told(seed, tmp_path, ROUGH)
    assert losses(story) == [], f"seed {seed}"
    assert sum(edit.is_settled for edit in story.edits) >= 3


@pytest.mark.parametrize("seed", SEEDS)
def test_where_nobody_is_late_nothing_is_overwritten(seed: int, tmp_path: Path) -> None:
    story = told(seed, tmp_path, CALM)
    assert harm(story) == [], f"seed {seed}"
    assert sum(edit.is_settled for edit in story.edits) >= 3


def no_slots(patch: pytest.MonkeyPatch) -> None:
    """Each has a slot of its own, and nobody looks at another's."""
    count = iter(range(10_000))
    patch.setattr(editing, "slot_of", lambda *_: canonical(f"slot:{next(count)}:x"))


def no_acquaintance(patch: pytest.MonkeyPatch) -> None:
    """Whoever is blind may write."""
    patch.setattr(Acquaintance, "strangers", lambda *_: None)


def no_settling(patch: pytest.MonkeyPatch) -> None:
    """What was proposed is forgotten, and nobody looks what became of it."""

    def forgotten(self: Proposals, _holder: str, proposals: Sequence[Proposal]) -> RecordAnswer:
        self.withdraw(proposals)
        return RecordAnswer("nothing")

    patch.setattr(Proposals, "_settled", forgotten)


def no_lateness(patch: pytest.MonkeyPatch) -> None:
    """A late write is taken for one in time."""
    patch.setattr(ExternalWrites, "is_overtaken", lambda *_: False)
    patch.setattr(ExternalWrites, "late", lambda _, each: Made(each.holder, {each.path: each.before}, each.intent))


Defect = Callable[[pytest.MonkeyPatch], None]
DEFECTS: dict[Defect, tuple[Weather, Callable[[Story], list[str]]]] = {
    no_slots: (CALM, harm),
    no_acquaintance: (ROUGH, losses),
    no_settling: (ROUGH, losses),
    no_lateness: (ROUGH, losses),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_noticed(defect: Defect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    defect(monkeypatch)
    weather, found_by = DEFECTS[defect]
    assert any(found_by(told(seed, tmp_path, weather)) for seed in range(MOST_SEEDS))
