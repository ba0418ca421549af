"""Tasks whose commits are undone: they are open again, and what was undone before is no result."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.history.shop import SOURCE, Shop

from commonhold.kernel.errors import UsageError
from commonhold.kernel.run import CandidateOutcome, ItemState, ItemStep, Role, RunMove
from commonhold.kernel.task import Move, Task, TaskRecord, TaskState
from commonhold.runs.commands import Post
from commonhold.tasks.answers import TaskAction


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    (tmp_path / "a.py").write_text(SOURCE, encoding="utf-8")
    made = Shop(tmp_path)
    made.session("lead").add_tasks(Task("f", "f"), Task("g", "g", needs=("f",)))
    yield made
    for each in made.services.values():
        each.close()


def record(shop: Shop, task: str = "f") -> TaskRecord:
    return shop.session("lead").tasks(task).tasks[0].record


def change(shop: Shop, text: str) -> int:
    """Claim the task `f`, commit a new text of the function `g`, and return the fence of the claim."""
    lease = shop.session("ann").claim_task("f").lease
    assert lease is not None
    shop.clock.advance(1)
    shop.replace_g("ann", f"def g(x):\n    return {text}\n")
    shop.clock.advance(1)
    return lease.fence


def test_an_undo_opens_a_landed_task_again_with_the_reason(shop: Shop) -> None:
    fence = change(shop, "2")
    done = shop.session("ann").change_task("f", TaskAction.DONE, fence=fence).tasks[0].record
    assert done.state is TaskState.LANDED
    undone = shop.session("lead").undo("task:f", apply=True)
    assert undone.outcome == "undone"
    log = shop.session("lead").log(limit=1)
    assert (getattr(log[0].event, "move", ""), log[0].sequence) == (Move.UNDO, (undone.sequence or 0) + 1)
    assert record(shop).state is TaskState.OPEN
    assert record(shop).note == f"its commits were undone by lead (event {undone.sequence})"
    assert shop.session("ben").claim_task("g").outcome == "none"
    fence = change(shop, "3")
    again = shop.session("ann").change_task("f", TaskAction.DONE, fence=fence).tasks[0].record
    assert again.state is TaskState.LANDED
    assert again.result != done.result
    assert shop.session("person").replay().outcome == "same"


def test_an_undo_that_was_itself_undone_leaves_the_task_landed(shop: Shop) -> None:
    fence = change(shop, "2")
    undone = shop.session("lead").undo("ann", apply=True)
    shop.session("lead").undo(str(undone.sequence), apply=True)
    assert shop.session("ann").change_task("f", TaskAction.DONE, fence=fence).tasks[0].record.state is TaskState.LANDED
    assert record(shop).state is TaskState.LANDED


@pytest.mark.parametrize("by", ["lead", "ann"])
def test_commits_that_were_undone_are_no_result(shop: Shop, by: str) -> None:
    fence = change(shop, "2")
    undone = shop.session(by).undo("task:f", apply=True)
    with pytest.raises(UsageError, match=rf"undone by {by} \(event {undone.sequence}\)"):
        shop.session("ann").change_task("f", TaskAction.DONE, fence=fence)
    assert record(shop).state is TaskState.CLAIMED
    shop.replace_g("ann", "def g(x):\n    return 5\n")
    assert shop.session("ann").change_task("f", TaskAction.DONE, fence=fence).tasks[0].record.state is TaskState.LANDED


def test_an_undo_of_a_part_of_the_commits_leaves_the_task_landed(shop: Shop) -> None:
    fence = change(shop, "2")
    shop.replace_g("ann", "def g(x):\n    return 3\n")
    shop.session("ann").change_task("f", TaskAction.DONE, fence=fence)
    newest = shop.session("ann").commits_on("a.py")[-1].sequence
    assert shop.session("lead").undo(str(newest), apply=True).outcome == "undone"
    assert record(shop).state is TaskState.LANDED


def test_a_run_does_the_task_of_an_undone_item_again(shop: Shop) -> None:
    boss = shop.session("boss")
    run = boss.start_run(Task("f", "f")).runs[0].run

    def write() -> Post:
        item = boss.take_item(run.id, fence=run.fence).item
        assert item is not None
        shop.clock.advance(1)
        shop.replace_g(item.item.session, f"def g(x):\n    return {item.item.round + 7}\n")
        sequence = shop.session("lead").commits_on("a.py")[-1].sequence
        outcome = CandidateOutcome(admitted=(sequence,))
        post = Post("f", ItemStep.WRITE, item.item.last, Role.EDITOR, outcome=outcome)
        written = boss.post(run.id, post, fence=run.fence).item
        assert written is not None
        return Post("f", ItemStep.ACCEPT, written.item.last, Role.VALIDATOR, "its checks passed")

    accept = write()
    shop.session("lead").undo("task:f", apply=True)
    rejected = boss.post(run.id, accept, fence=run.fence, request_id="accept-1").item
    assert rejected is not None
    assert rejected.item.state is ItemState.OPEN
    assert rejected.item.failure.startswith("its commits were undone by lead")
    assert boss.post(run.id, accept, fence=run.fence, request_id="accept-1").item == rejected

    accepted = boss.post(run.id, write(), fence=run.fence).item
    assert accepted is not None
    assert accepted.item.state is ItemState.ACCEPTED
    shop.clock.advance(1)
    assert shop.session("lead").undo("task:f", apply=True).outcome == "undone"
    boss.end_run(run.id, RunMove.STOP, fence=run.fence)
    resumed = boss.resume_run(run.id).runs[0]
    run = resumed.run
    assert [(each.item.state, each.item.admitted) for each in resumed.items] == [(ItemState.OPEN, ())]
    assert resumed.items[0].item.failure.startswith("its commits were undone by lead")
    accepted = boss.post(run.id, write(), fence=run.fence).item
    assert accepted is not None
    assert accepted.task.state is TaskState.LANDED
    assert boss.end_run(run.id, RunMove.COMPLETE, fence=run.fence).code is None
    assert shop.session("person").replay().outcome == "same"
