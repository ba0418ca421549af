"""A run in words."""

from dataclasses import replace

from commonhold.cli.run_words import details, waiting
from commonhold.kernel.run import CandidateOutcome, ItemRecord, ItemState, LockPlan, Run, RunRecord
from commonhold.kernel.task import Task, TaskRecord
from commonhold.runs.answers import ItemView, RunView

RUN = RunRecord(Run("r1", "goal"), 1, "ann", 0.0, 0.0, "ann", "lease-1", 1)
ITEM = ItemRecord("r1", "a", 2, 2, 0.0)


def view(item: ItemRecord, why: str = "") -> RunView:
    return RunView(RUN, (ItemView(item, TaskRecord(Task("a", "title"), 2, "ann", 0.0, 0.0), why),), is_coordinated=True)


def test_an_item_that_is_edited_again_says_why_its_candidate_was_refused() -> None:
    edited = replace(
        ITEM,
        state=ItemState.EDITING,
        round=2,
        locks=LockPlan(why="correct it"),
        outcome=CandidateOutcome("PARSE_INVALID", "line 2 does not compile"),
    )
    assert list(details(view(replace(edited, refusals=1))))[-1].endswith(
        "(round 2; optimistic: correct it; line 2 does not compile)"
    )
    assert list(details(view(edited)))[-1].endswith("(round 2; optimistic: correct it)")


def test_a_run_waits_only_while_no_item_is_worked_on() -> None:
    assert waiting(view(ITEM, "it is claimed by ben")) == "waiting: a: it is claimed by ben"
    assert waiting(view(ITEM)) == "waiting: a: its keys are in use"
    assert waiting(view(replace(ITEM, state=ItemState.EDITING))) == ""
    assert waiting(view(replace(ITEM, state=ItemState.ACCEPTED))) == ""
