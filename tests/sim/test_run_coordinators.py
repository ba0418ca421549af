"""Runs that are carried out by coordinators that die, freeze and stop: nothing is lost, and nothing is done twice."""

from collections import Counter
from collections.abc import Mapping

import pytest
from tests.sim.run_coordinators import Story

from commonhold.history.ledger import Ledger
from commonhold.history.reasons import reasons
from commonhold.history.replay import replay
from commonhold.history.traces import traces
from commonhold.history.wording import sentence
from commonhold.kernel.events import Recorded
from commonhold.kernel.projection import fold
from commonhold.kernel.run import (
    IN_PROGRESS,
    ITEM_TRANSITIONS,
    ItemMoved,
    ItemRecord,
    ItemState,
    ItemStep,
    Locking,
    Role,
    RunMoved,
    RunState,
)
from commonhold.kernel.task import Move, TaskMoved, TaskState

SEEDS = range(30)
_reopening = vars(ItemRecord)["reopening"].fget


@pytest.mark.parametrize("seed", SEEDS)
def test_every_item_is_carried_out_once_and_in_order(seed: int) -> None:
    story = Story(seed)
    story.run()
    log = story.log()
    state = fold(log)
    assert story.is_over(), f"seed {seed}: the run was lost"
    assert state.runs[story.run_id].state is RunState.COMPLETED, f"seed {seed}"
    assert {each.state for each in state.tasks.values()} == {TaskState.LANDED}
    landed = [each.event.task_id for each in log if isinstance(each.event, TaskMoved) and each.event.move is Move.LAND]
    assert sorted(landed) == sorted(state.tasks), f"seed {seed}: a task landed twice, or never"
    assert tuple(state.run_items.values()) == story.items(), f"seed {seed}: the log does not explain the items"
    _check_effects(story)
    _check_edits([each.event for each in log if isinstance(each.event, ItemMoved)], state.tasks)
    assert not state.leases, f"seed {seed}: a lease was left behind"
    _check_history(seed, log)


def _check_history(seed: int, log: tuple[Recorded, ...]) -> None:
    """Every decision comes out the same, and every event has its words and its place in the traces."""
    found = replay(log)
    assert found.difference is None, f"seed {seed}: {found.difference}"
    assert found.checked == found.events, f"seed {seed}: {found.events - found.checked}"
    ledger = Ledger(log)
    assert all(sentence(each.event, ledger) for each in log)
    assert sum(len(reasons(each, ledger)) for each in log) > len(log) / 4
    assert traces(log, "1.0")


def _check_effects(story: Story) -> None:
    """Each effect on files is known to the blackboard, and each was made once."""
    made = sorted(sequence for each in story.effects.values() for sequence in each.admitted)
    known = sorted(sequence for item in story.items() for sequence in item.admitted)
    assert made == known, f"seed {story.seed}: an effect was lost or repeated"
    found_wrong = Counter(
        each.event.task_id
        for each in story.log()
        if isinstance(each.event, ItemMoved)
        and each.event.role is Role.VALIDATOR
        and each.event.step is not ItemStep.ACCEPT
    )
    for item in story.items():
        expected = 1 + found_wrong[item.task_id]
        assert len(item.admitted) == expected, f"seed {story.seed}: the change of {item.task_id} was made twice"


def _check_edits(moves: list[ItemMoved], tasks: Mapping[str, object]) -> None:
    """Each round proposes at most one candidate; an item that must be edited alone is; rounds never go back."""
    rounds: dict[str, int] = {}
    states = dict.fromkeys(tasks, ItemState.OPEN)
    proposed: set[tuple[str, int]] = set()
    alone = ""
    for each in moves:
        assert each.round >= rounds.get(each.task_id, 0)
        rounds[each.task_id] = each.round
        if each.step is ItemStep.PROPOSE:
            assert (each.task_id, each.round) not in proposed
            proposed.add((each.task_id, each.round))
        edited = {task for task, state in states.items() if state in IN_PROGRESS and task != each.task_id}
        if each.step is ItemStep.TAKE and states[each.task_id] is ItemState.OPEN:
            assert alone not in edited
        is_serial = each.locks is not None and each.locks.locking is Locking.SERIAL
        states[each.task_id] = ITEM_TRANSITIONS[states[each.task_id], each.step]
        if is_serial and states[each.task_id] is ItemState.EDITING:
            assert not edited
            alone = each.task_id
    assert set(rounds) == set(tasks)


@pytest.mark.parametrize("forgotten", [ItemStep.RECOMMIT, ItemStep.REVALIDATE])
def test_an_item_that_is_reopened_from_the_start_is_found_out(
    forgotten: ItemStep, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reopening(item: ItemRecord) -> ItemStep:
        step: ItemStep = _reopening(item)
        return ItemStep.REOPEN if step is forgotten else step

    monkeypatch.setattr(ItemRecord, "reopening", property(reopening))
    with pytest.raises(AssertionError, match=r"lost or repeated|made twice"):
        _check_all_effects()


def _check_all_effects() -> None:
    for seed in SEEDS:
        story = Story(seed)
        story.run()
        _check_effects(story)


def test_the_stories_contain_what_they_are_about() -> None:
    stories = [Story(seed) for seed in SEEDS]
    for story in stories:
        story.run()
    events = [each.event for story in stories for each in story.log()]
    steps = {each.step for each in events if isinstance(each, ItemMoved)}
    wanted = set(ItemStep) - {ItemStep.LAND, ItemStep.CANCEL}
    assert wanted <= steps, wanted - steps
    assert any(isinstance(each, ItemMoved) and each.locks and each.locks.locking is Locking.SERIAL for each in events)
    assert {each.move.value for each in events if isinstance(each, RunMoved)} == {"resume", "stop", "complete", "fail"}
    assert sum(story.deaths for story in stories) > 50
    assert sum(story.freezes for story in stories) > 10
    assert sum(story.stops for story in stories) > 5
    assert sum(story.reopened for story in stories) > 10
    assert any(
        item.state is ItemState.ACCEPTED and len(item.admitted) > 1 for story in stories for item in story.items()
    )
