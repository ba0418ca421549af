"""A run in words."""

from dataclasses import replace

from commonhold.cli.common_options import Given
from commonhold.cli.run_words import details, ended, item_moved, listed, waiting
from commonhold.kernel.run import (
    CandidateOutcome,
    ItemMoved,
    ItemRecord,
    ItemState,
    ItemStep,
    Locking,
    LockPlan,
    Run,
    RunRecord,
    RunState,
)
from commonhold.kernel.task import Task, TaskRecord
from commonhold.runs.answers import ItemView, RunAnswer, RunView

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
        "(round 2; optimistic on its keys: correct it; line 2 does not compile)"
    )
    assert list(details(view(edited)))[-1].endswith("(round 2; optimistic on its keys: correct it)")


def test_a_run_waits_only_while_no_item_is_worked_on() -> None:
    assert waiting(view(ITEM, "it is claimed by ben")) == "waiting: a: it is claimed by ben"
    assert waiting(view(ITEM)) == "waiting: a: its keys are in use"
    assert waiting(view(replace(ITEM, state=ItemState.EDITING))) == ""
    assert waiting(view(replace(ITEM, state=ItemState.ACCEPTED))) == ""
    awaited = "it waits for ben's lease on file:b.py#f"
    assert waiting(view(replace(ITEM, state=ItemState.EDITING), awaited)) == f"waiting: a: {awaited}"


def test_a_lock_plan_is_not_shown_as_leases_that_are_held() -> None:
    locks = LockPlan(Locking.LEASED, ("file:b.py#f",), "ben uses file:b.py#f")
    edited = replace(ITEM, state=ItemState.EDITING, locks=locks)
    (*_, line) = details(view(edited, "it waits for ben's lease on file:b.py#f"))
    assert line.endswith("title  (it waits for ben's lease on file:b.py#f)")
    (*_, line) = details(view(edited))
    assert line.endswith("title  (to lease its keys: ben uses file:b.py#f)")
    taken = item_moved(ItemMoved("ann", "r1", "a", ItemStep.TAKE, 1, locks=locks))
    assert taken == 'r1.a taken (round 1), to lease file:b.py#f: "ben uses file:b.py#f"'


def test_a_written_change_is_named_by_its_event() -> None:
    """A number beside the word commit would be looked for in git."""
    written = ItemMoved("ann", "r1", "a", ItemStep.WRITE, 1, outcome=CandidateOutcome(admitted=(12,)))
    assert item_moved(written) == "r1.a written (round 1) as event 12"


def test_a_completed_run_says_where_its_changes_are() -> None:
    written = view(replace(ITEM, state=ItemState.ACCEPTED, admitted=(12,)))
    completed = replace(written, run=replace(RUN, state=RunState.COMPLETED))
    said = list(ended(RunAnswer("changed", (completed,)), Given(), "--editor claude"))
    assert said[-2:] == ["its changes are in the working tree; they are not committed to git", "next: git status"]
    assert "next: git status" not in list(ended(RunAnswer("changed", (written,)), Given(), "--editor claude"))


def test_a_list_without_a_run_names_a_call_that_shows_more() -> None:
    (line,) = listed(RunAnswer("listed"), is_all=False)
    assert line.startswith("no run is open: `commonhold run list --all` shows")
    (line,) = listed(RunAnswer("listed"), is_all=True)
    assert line == "no run has been started here; `commonhold run PLAN` begins one"
