"""The table of transitions."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from commonhold.kernel.task import (
    FINAL,
    MOST_KEPT_ATTEMPTS,
    TRANSITIONS,
    Move,
    Task,
    TaskAdded,
    TaskMoved,
    TaskRecord,
    TaskState,
    added_record,
    moved_record,
)

NEW = added_record(TaskAdded("one", Task("a", "title")), 1, 5.0)
PROPOSED = replace(NEW, state=TaskState.PROPOSED)


def moved(record: TaskRecord, move: Move) -> TaskRecord:
    return moved_record(record, TaskMoved("one", "a", move, record.attempt + (move is Move.CLAIM), to="one"), 9.0)


def test_every_state_and_every_move_is_reached() -> None:
    assert {TaskState.PROPOSED, TaskState.OPEN, *TRANSITIONS.values()} == set(TaskState)
    assert {move for _, move in TRANSITIONS} == set(Move)


def test_no_state_is_a_trap_for_a_task_whose_target_can_be_reset() -> None:
    left = {state for state, _ in TRANSITIONS}
    assert left == set(TaskState)
    assert {state for state, move in TRANSITIONS if move in (Move.STRAND, Move.REOPEN)} == FINAL


@given(st.sampled_from((NEW, PROPOSED)), st.lists(st.sampled_from(Move), max_size=60))
def test_a_record_follows_the_table_whatever_is_asked(record: TaskRecord, moves: list[Move]) -> None:
    for move in moves:
        # An open task is finished only by the holder of a claim on it that has lapsed.
        if record.can(move) and (record.attempts or move is not Move.FINISH):
            expected = TRANSITIONS[record.state, move]
            record = moved(record, move)
            assert record.state is expected
        assert (record.state is TaskState.CLAIMED) == bool(record.attempts and record.attempts[-1].ended_at is None)
        assert bool(record.holder) == (record.state in (TaskState.CLAIMED, TaskState.DONE, TaskState.LANDED))
        assert record.tries <= record.attempt


def test_the_last_attempts_are_kept() -> None:
    record = NEW
    for _ in range(MOST_KEPT_ATTEMPTS + 5):
        record = moved(moved(record, Move.CLAIM), Move.RETURN)
    assert [each.number for each in record.attempts] == [*range(6, MOST_KEPT_ATTEMPTS + 6)]
