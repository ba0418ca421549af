"""Plans that are carried out by sessions that die: no task twice, none lost, the order respected."""

import pytest
from tests.sim.task_workers import Story, landings, lives

from commonhold.history.replay import replay
from commonhold.kernel.events import LeaseGranted
from commonhold.kernel.projection import fold
from commonhold.kernel.task import Move, TaskMoved
from commonhold.tasks import decide

SEEDS = range(40)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_task_is_carried_out_once_and_in_order(seed: int) -> None:
    story = Story(seed)
    story.run()
    log = story.log()
    assert story.is_over(), f"seed {seed}: a task was lost"
    assert all(landings(moves) == 1 for moves in lives(log).values()), f"seed {seed}: a task landed twice"
    _check_order(story, [each.event for each in log if isinstance(each.event, TaskMoved)])
    _check_claims(story)
    state = fold(log)
    assert tuple(state.tasks.values()) == story.records(), f"seed {seed}: the log does not explain the tasks"
    assert replay(log).difference is None, f"seed {seed}: a decision comes out otherwise"


def _check_order(story: Story, moves: list[TaskMoved]) -> None:
    """No task is claimed before all that it needs has landed, and none by two at once."""
    needs = {each.id: each.task.needs for each in story.records()}
    landed: set[str] = set()
    claimed: set[str] = set()
    for each in moves:
        if each.move is Move.CLAIM:
            assert set(needs[each.task_id]) <= landed
            assert each.task_id not in claimed
            claimed.add(each.task_id)
        elif each.move is Move.LAND:
            landed.add(each.task_id)
        else:
            landed -= {each.task_id} if each.move is Move.UNDO else set()
            claimed.discard(each.task_id)


def _check_claims(story: Story) -> None:
    """Each claim is a lease of its own, with the fence of its grant; fences rise."""
    granted = {each.event.lease.id: each.sequence for each in story.log() if isinstance(each.event, LeaseGranted)}
    claims = [each.event for each in story.log() if isinstance(each.event, TaskMoved) and each.event.to]
    assert [each.fence for each in claims] == [granted[each.lease_id or ""] for each in claims]
    assert len({each.lease_id for each in claims}) == len(claims)


def test_a_decision_that_refuses_every_late_finish_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decide, "_has_only_lapsed", lambda *_: False)
    with pytest.raises(AssertionError, match="work was thrown away"):
        _run_all()


def _run_all() -> None:
    for seed in SEEDS:
        Story(seed).run()


def test_the_stories_contain_what_they_are_about() -> None:
    stories = [Story(seed) for seed in SEEDS]
    for story in stories:
        story.run()
    moves = {each.event.move for story in stories for each in story.log() if isinstance(each.event, TaskMoved)}
    usual = {Move.CLAIM, Move.RETURN, Move.FINISH, Move.LAND, Move.REFUSE, Move.UNDO}
    assert moves == usual | {Move.EXHAUST, Move.REOPEN}
    assert sum(story.deaths for story in stories) > 100
    assert sum(story.lost_answers for story in stories) > 50
    assert sum(story.reboots for story in stories) > 10
