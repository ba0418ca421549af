"""A notification is signed, goes to the checked address alone, and a failure is a reason, not an exception."""

import socket
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.server.notify.receiver import receiving

from commonhold.kernel.entry import EntryMove, EntryMoved
from commonhold.kernel.events import Event, Recorded, WorkLeft
from commonhold.kernel.managed_session import SessionMove, SessionMoved
from commonhold.kernel.partial_work import UnfinishedChange
from commonhold.kernel.run import RunMove, RunMoved
from commonhold.kernel.task import Move, TaskMoved
from commonhold.server.notify import delivery
from commonhold.server.notify.decisions import Decision, Kind, decision_of
from commonhold.server.notify.targets import DESKTOP, add

LEFT = WorkLeft("ann", "lease-1", tuple(UnfinishedChange(f"file:a.py#f{n}", "0", "1") for n in range(7)))


def test_the_events_that_need_a_person() -> None:
    events: list[Event] = [
        LEFT,
        WorkLeft("ben", "lease-2", ()),
        TaskMoved("ann", "price", Move.EXHAUST, 3, "tests fail; password=hunter2"),
        TaskMoved("ann", "price", Move.LAND, 3),
        RunMoved("ann", "r12", RunMove.FAIL),
        RunMoved("ann", "r12", RunMove.COMPLETE),
    ]
    work, nothing, task, landed, run, completed = (decision_of(Recorded(n, 1.0, each)) for n, each in enumerate(events))

    assert work is not None
    assert task is not None
    assert run is not None
    assert (nothing, landed, completed) == (None, None, None)
    assert [each.kind for each in (work, task, run)] == [Kind.PARTIAL_WORK, Kind.TASK_FAILED, Kind.RUN_FAILED]
    assert "file:a.py#f4 and 2 more" in work.why
    assert task.why == "attempt 3 was the last: tests fail; password=***"
    assert [each.next for each in (work, task, run)] == [
        "commonhold review show lease-1",
        "commonhold task show price",
        "commonhold run show r12",
    ]


@pytest.mark.parametrize(
    ("event", "kind", "why", "call"),
    [
        (
            EntryMoved("queue-1", "e12", EntryMove.REFUSE, "it cannot be merged: a.py"),
            *(Kind.ENTRY_RETURNED, "it cannot be merged: a.py", "commonhold queue show e12"),
        ),
        (
            EntryMoved("queue-1", "e12", EntryMove.APPROVE, "a.py would be overwritten"),
            *(Kind.LANDING_HELD, "a.py would be overwritten", "commonhold queue list"),
        ),
        (
            EntryMoved("queue-1", "e12", EntryMove.REQUEUE, "main itself fails the check", held_at="c0"),
            *(Kind.LANDING_HELD, "main itself fails the check", "commonhold queue list"),
        ),
    ],
)
def test_an_entry_that_came_back_or_cannot_land_needs_a_person(
    event: EntryMoved, kind: Kind, why: str, call: str
) -> None:
    decision = decision_of(Recorded(7, 1.0, event))
    assert decision is not None
    assert (decision.kind, decision.subject, decision.why, decision.next) == (kind, "e12", why, call)
    assert "e12" in delivery.title_of(decision)


def test_a_session_that_waits_for_approval_or_has_failed_needs_a_person() -> None:
    moves = [
        SessionMoved("supervisor", "s12", SessionMove.FINISH, 2),
        SessionMoved("supervisor", "s12", SessionMove.FAIL, 2, "the check failed; password=hunter2"),
        SessionMoved("ann", "s12", SessionMove.APPROVE, 2),
    ]
    finished, failed, approved = (decision_of(Recorded(7, 1.0, each)) for each in moves)
    assert finished is not None
    assert failed is not None
    assert approved is None
    assert (finished.kind, finished.next) == (Kind.SESSION_REVIEW, "commonhold session review s12")
    assert finished.why == "its work waits for your approval, in attempt 2"
    assert (failed.kind, failed.next) == (Kind.SESSION_FAILED, "commonhold session logs s12")
    assert failed.why == "attempt 2 has failed: the check failed; password=***"


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_of_decision_has_a_title(kind: Kind) -> None:
    decision = Decision(kind, 7, 1.0, "ann", "x12", "why", "commonhold status")
    title = delivery.title_of(decision)
    assert "ann" in title or "x12" in title


@pytest.mark.parametrize("move", [EntryMove.APPROVE, EntryMove.LAND, EntryMove.REMOVE, EntryMove.REQUEUE])
def test_the_usual_steps_of_an_entry_need_no_person(move: EntryMove) -> None:
    note = "" if move is EntryMove.APPROVE else "a note"
    assert decision_of(Recorded(7, 1.0, EntryMoved("queue-1", "e12", move, note))) is None


def test_a_webhook_is_signed_and_repeated_under_one_id(tmp_path: Path) -> None:
    decision = decision_of(Recorded(41, 1.0, LEFT))
    with receiving() as receiver:
        target = add(str(tmp_path), receiver.url, [], 0, is_private=True)
        receiver.secret = target.secret
        receiver.statuses = [500]
        first, second = (delivery.deliver(target, decision, "shop", now) for now in (100.0, 200.0))
        one, two = receiver.received

    assert (first, second) == ("the answer was 500", "")
    assert one.id == two.id == f"msg_{target.id}_41"
    assert one.is_signed
    assert two.is_signed
    assert one.body["type"] == "partial_work"
    assert one.body["data"]["next"] == "commonhold review show lease-1"


def test_a_redirection_is_not_followed(tmp_path: Path) -> None:
    with receiving() as receiver:
        target = add(str(tmp_path), receiver.url, [], 0, is_private=True)
        receiver.statuses = [307]
        assert delivery.deliver(target, None, "shop", 1.0) == "the answer was 307"
        assert len(receiver.received) == 1


def test_a_host_that_leads_to_this_machine_is_not_called(tmp_path: Path) -> None:
    with receiving() as receiver:
        target = replace(add(str(tmp_path), receiver.url, [], 0, is_private=True), is_private=False)
        assert "private network" in delivery.deliver(target, None, "shop", 1.0)
        assert receiver.received == []


def test_a_host_that_does_not_answer_is_a_reason(tmp_path: Path) -> None:
    with socket.socket() as bound:  # nobody listens there, and nobody else can
        bound.bind(("127.0.0.1", 0))
        target = add(str(tmp_path), f"http://127.0.0.1:{bound.getsockname()[1]}/hook", [], 0, is_private=True)
        assert delivery.deliver(target, None, "shop", 1.0) == "Connection refused"


def test_texts_of_agents_are_no_options_and_no_markup_on_the_desktop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/shown\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    decision = decision_of(Recorded(1, 1.0, RunMoved("ann", "r12", RunMove.FAIL, "--urgent <b>")))
    target = add(str(tmp_path), DESKTOP, [], 0)

    assert delivery.deliver(target, decision, "shop", 1.0) == ""
    assert (tmp_path / "shown").read_text().splitlines() == [
        *("--app-name=Commonhold", "--", "shop: Run r12 needs a person", "--urgent &lt;b&gt;")
    ]
    program.unlink()
    assert delivery.deliver(target, decision, "shop", 1.0) == "notify-send is not installed"
