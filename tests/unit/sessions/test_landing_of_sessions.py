"""The way of a session's work through the merge queue, where nobody reviews it."""

from dataclasses import replace

import pytest
from tests.unit.sessions.house import FINISHED, House
from tests.unit.tasks.table import kind

from commonhold.kernel.entry import Entry, EntryRecord, EntryState, Fault, RepairPacket
from commonhold.kernel.managed_session import ManagedSessionRecord, SessionMove, SessionResult, SessionState
from commonhold.session_host.repairs import prompt_of
from commonhold.sessions.commands import SessionAction, SessionClaimed
from commonhold.sessions.landing import LandingMove, landing_step

TIP, MERGED = "a" * 40, "d" * 40
WORK = replace(FINISHED, result=SessionResult(TIP, TIP))
PACKET = RepairPacket(Fault.CHECK_FAILED, "the check `make` failed", "b" * 40, check="make", output="line 3: no\n")


def finished(house: House, *, attempts: int = 3) -> ManagedSessionRecord:
    session = house.start("add it\nwith care", branch="main", lands=True, most_attempts=attempts)
    house.report(house.take(), WORK)
    return house.record(session.id)


def entry(record: ManagedSessionRecord, state: EntryState, number: int = 1, commit: str = TIP) -> EntryRecord:
    packet = PACKET if state is EntryState.RETURNED else None
    made = Entry(f"e{number}", f"agent/{record.id}", commit, "refs/heads/main", session=record.id)
    return EntryRecord(made, number, number, "x", 0.0, 0.0, state=state, built=MERGED, packet=packet)


@pytest.mark.parametrize(
    ("state", "move"),
    [
        (EntryState.QUEUED, LandingMove.WAIT),
        (EntryState.TESTING, LandingMove.WAIT),
        (EntryState.LANDED, LandingMove.APPROVE),
        (EntryState.RETURNED, LandingMove.RETRY),
    ],
)
def test_the_entry_of_its_work_decides(state: EntryState, move: LandingMove) -> None:
    record = finished(House())
    assert record.is_landing
    assert landing_step(record, []).move is LandingMove.ENQUEUE
    found = landing_step(record, [entry(record, state)])
    assert (found.move, found.entry and found.entry.id) == (move, "e1")


def test_the_entry_of_earlier_work_does_not_count() -> None:
    record = finished(House())
    assert landing_step(record, [entry(record, EntryState.RETURNED, commit="9" * 40)]).move is LandingMove.ENQUEUE


def test_work_that_changes_nothing_is_done() -> None:
    house = House()
    session = house.start(branch="main", lands=True)
    taken = house.take()
    nothing = SessionResult(taken.session.base, taken.session.base)
    house.report(taken, replace(FINISHED, result=nothing))
    assert landing_step(house.record(session.id), []).move is LandingMove.APPROVE


def test_a_person_decides_after_too_many_returns_and_after_a_removal() -> None:
    record = finished(House(), attempts=2)
    older = entry(record, EntryState.RETURNED, commit="9" * 40)
    both = landing_step(record, [older, entry(record, EntryState.RETURNED, 2)])
    assert (both.move, "returned it 2 times" in both.why) == (LandingMove.STOP, True)
    removed = replace(entry(record, EntryState.RETURNED), packet=None)
    assert landing_step(record, [removed]).move is LandingMove.STOP


def test_a_returned_session_begins_again_where_its_branch_ends_now() -> None:
    house, now = House(), {"main": "e" * 40}
    record = finished(house)
    house.change(record.id, SessionAction.RETRY)
    again = kind(SessionClaimed, house.ask_claim(tips=now)).record
    assert (again.attempt, again.session.base, again.state) == (2, now["main"], SessionState.RUNNING)


def test_a_session_that_is_reviewed_begins_again_from_its_base() -> None:
    house = House()
    record = house.start(branch="main")
    house.report(house.take(), WORK)
    house.change(record.id, SessionAction.RETRY)
    again = kind(SessionClaimed, house.ask_claim(tips={"main": "e" * 40})).record
    assert again.session.base == record.session.base


def test_the_next_attempt_is_told_why_the_last_one_did_not_land() -> None:
    house = House()
    record = finished(house)
    assert prompt_of(record, []) == record.session.task
    house.change(record.id, SessionAction.RETRY)
    again = house.take()
    text = prompt_of(again, [entry(again, EntryState.RETURNED)])
    assert text.startswith("add it\nwith care\n\nYour earlier work, the commit aaaaaaaaaaaa, was not merged into main")
    assert "\nReason: the check `make` failed\n" in text
    assert text.endswith("This command failed on the merged files: make\nline 3: no\n")


def test_a_lost_attempt_loses_no_repair_packet_and_no_output_spoils_the_prompt() -> None:
    house = House()
    record = finished(house)
    house.change(record.id, SessionAction.RETRY)
    house.report(house.take(), replace(FINISHED, move=SessionMove.FAIL))
    house.change(record.id, SessionAction.RETRY)
    third = house.take()
    packet = replace(PACKET, output="a\x00b \x1b[31mred\x1b[0m \udcff" + "ü" * 40_000)
    text = prompt_of(third, [replace(entry(third, EntryState.RETURNED), packet=packet)])
    assert "Reason: the check `make` failed\n" in text
    assert "ab [31mred[0m ü" in text
    assert len(text.encode()) < 21_000
