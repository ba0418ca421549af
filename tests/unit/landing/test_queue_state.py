"""The state of a queue, and why an entry of it waits."""

from dataclasses import replace

import pytest

from commonhold.kernel.clock import Deadline, Now
from commonhold.kernel.entry import Entry, EntryRecord, EntryState, Landings
from commonhold.kernel.lease import Lease
from commonhold.kernel.modes import Mode
from commonhold.landing.answers import QueueView
from commonhold.landing.queue_state import queue_states, why_waiting

MAIN = "refs/heads/main"
RUN = QueueView(MAIN, "queue-1")
NEXT, HIGH, TESTED, BESIDE = (
    EntryRecord(Entry(f"e{number}", name, f"c{number}", MAIN, priority=priority), number, number, "ann", at, at)
    for number, (name, priority, at) in enumerate(
        (("next", 0, 9.0), ("high", 1, 8.0), ("one", 0, 7.0), ("two", 0, 6.0))
    )
)
TESTED, BESIDE = (replace(each, state=EntryState.TESTING, batch="b5") for each in (TESTED, BESIDE))
ELSEWHERE = replace(NEXT, entry=replace(NEXT.entry, id="e9", onto="refs/heads/release"), added_at=1.0)
LIVE = (NEXT, HIGH, TESTED, BESIDE, ELSEWHERE)
PASSED = replace(TESTED, is_approved=True)


def test_the_queue_of_each_branch_is_counted_alone() -> None:
    lease = Lease("l1", 7, "queue-1", "", (f"queue:{MAIN}",), Mode.EXCLUSIVE, "a", 1.0, Deadline("b", 20.0, 20.0))
    landings = (Landings(MAIN, 4, 5.0), Landings("refs/heads/release", 0, None))
    assert queue_states(landings, LIVE, (lease,), Now("b", 10.0, 10.0)) == (
        QueueView(MAIN, "queue-1", 2, 2, 4, 5.0, 6.0),
        QueueView("refs/heads/release", "", 1, 0, 0, None, 1.0),
    )
    assert queue_states(landings, LIVE, (lease,), Now("b", 30.0, 30.0))[0].runner == ""


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (NEXT, "1 ahead of it; 2 being tested"),
        (HIGH, "it is next; 2 being tested"),
        (
            replace(HIGH, note="another entry left its batch"),
            "it is next; 2 being tested; another entry left its batch",
        ),
        (
            replace(HIGH, suspected_in="b3", note="x"),
            "its batch b3 failed, and the culprit is looked for; it is next; 2 being tested",
        ),
        (replace(HIGH, held_at="c0", note="main fails `x`"), "main fails `x`"),
        (TESTED, "its checks run together with 1 more"),
        (PASSED, "its checks have passed together with 1 more; the branch is being moved"),
        (replace(PASSED, note="a.py would be overwritten"), "a.py would be overwritten"),
        (replace(NEXT, state=EntryState.LANDED), ""),
    ],
)
def test_every_state_has_its_reason(record: EntryRecord, why: str) -> None:
    live = tuple(record if each.id == record.id else each for each in LIVE)
    assert why_waiting(record, live, RUN) == why


def test_without_a_runner_the_command_that_begins_one_is_named() -> None:
    why = "no process runs the queue; begin one: commonhold queue run"
    assert why_waiting(NEXT, LIVE, replace(RUN, runner="")) == why
    stopped = replace(NEXT, note="its runner was stopped")
    assert why_waiting(stopped, LIVE, replace(RUN, runner="")) == f"its runner was stopped; {why}"
