"""Whatever a server does: no exception, a reason, a next step, and no process left."""

import os
import re
import signal
import threading
from itertools import count
from pathlib import Path

import pytest
from tests.patience import PATIENCE_SECONDS
from tests.unit.typecheck.rig import PATIENT, Rig, said

from commonhold.typecheck import Patience, connection

pytestmark = pytest.mark.slow

CHANGE = {"a.fake": b"offer other\n"}
BROKEN = ["b.fake:1 one is not offered"]
IMPATIENT = Patience(1.0, 0.5)

FAILING = {
    "dies at once": r"ended by itself \(status 1, it said 'no such option'\)",
    "dies when greeted": r"ended by itself \(status 7\)",
    "dies when asked": r"ended by itself \(status 1, it said 'out of luck'\)",
    "refuses the greeting": "answered with an error: not today",
    "answers nothing to greeting": "did not declare its capabilities",
    "sends noise": "sent an invalid message",
    "sends no JSON": r"sent an invalid message: '\{\]\}'",
    "sends a list": r"sent an invalid message: '\[\]'",
    "announces too much": "announced a message of 1,000,000,000,000 bytes",
    "announces nothing": "sent an invalid message",
    "sends endless headers": "sent headers without end",
    "breaks off": "broke off in the middle of a message",
    "closes its output": "ended by itself",
    "answers oddly": "answered with no list of diagnostics",
    "answers with odd items": "answered with an invalid diagnostic",
    "answers with an error": "answered with an error: why not",
}
PUSHING = {
    "push nothing": "said nothing of a.fake within",
    "push for ever": "did not come to rest within",
}
PUSHING_AND_FAILING = {
    "push and die": r"ended by itself \(status 9\)",
    "push oddly": "answered with no list of diagnostics",
}
SILENT = ("hangs", "hangs when asked", "is deaf", "answers others")


@pytest.mark.parametrize("mode", FAILING)
def test_a_server_that_fails_is_told_of(rig: Rig, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "status" in FAILING[mode]:  # it ends at once, and how it does is told if it is let
        monkeypatch.setattr(connection, "_SHORT_SECONDS", PATIENCE_SECONDS)
    report = rig.checker(mode).compare(CHANGE, ["b.fake"])
    assert report.new == ()
    assert re.match(f"types were not compared: fake {FAILING[mode]}.*; see whether it runs: .*fake-server", report.why)


@pytest.mark.parametrize("mode", SILENT)
@pytest.mark.parametrize("changes", [CHANGE, {"new.fake": b"offer three\n"}], ids=["in place", "in a mirror"])
def test_a_server_that_gives_no_answer_is_told_of(rig: Rig, mode: str, changes: dict[str, bytes]) -> None:
    checker = rig.checker(mode, IMPATIENT)
    for _ in range(3):  # late, late again and ended, left alone
        report = checker.compare(changes, ["b.fake"])
        assert report.new == ()
        assert "types were not compared: fake gave no answer within" in report.why


@pytest.mark.parametrize("mode", PUSHING)
def test_a_server_that_pushes_without_end_or_nothing_is_told_of(rig: Rig, mode: str) -> None:
    report = rig.checker(mode, Patience(10, 1)).compare(CHANGE, ["b.fake"])
    assert report.new == ()
    assert re.match(f"types were not compared: fake {PUSHING[mode]}", report.why)


@pytest.mark.parametrize("mode", PUSHING_AND_FAILING)
def test_a_server_that_pushes_and_fails_is_told_of(rig: Rig, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_SHORT_SECONDS", PATIENCE_SECONDS)
    report = rig.checker(mode).compare(CHANGE, ["b.fake"])
    assert report.new == ()
    assert re.match(f"types were not compared: fake {PUSHING_AND_FAILING[mode]}", report.why)


def test_a_program_that_cannot_be_run_is_told_of(rig: Rig) -> None:
    (Path(rig.environment()["PATH"].split(":")[0]) / "fake-server").write_bytes(b"\x7fnothing")
    assert "fake cannot be started: Exec format error; see whether it runs" in rig.checker().compare(CHANGE).why


def test_one_that_puts_off_is_asked_again_and_not_for_ever(rig: Rig) -> None:
    assert said(rig.checker("puts off").compare(CHANGE, ["b.fake"])) == BROKEN
    assert "put off a question 5 times" in rig.checker("always puts off").compare(CHANGE, ["b.fake"]).why


def test_what_was_answered_in_time_counts(rig: Rig) -> None:
    rig.write(d="use one\n")
    report = rig.checker("hangs about b", Patience(12, 12)).compare(CHANGE, ["d.fake", "b.fake"])
    assert said(report) == ["d.fake:1 one is not offered"]
    assert "gave no answer about 1 of 3 files within 12 s; repeat the call" in report.why


def test_a_server_that_asks_is_answered(rig: Rig) -> None:
    report = rig.checker("asks").compare(CHANGE, ["b.fake"])
    assert (said(report), report.why) == (BROKEN, "")


def test_a_long_answer_is_read(rig: Rig) -> None:
    assert said(rig.checker("says much").compare(CHANGE, ["b.fake"])) == BROKEN


def test_a_text_that_fills_the_pipe_of_a_server_that_does_not_read_stops_nobody(rig: Rig) -> None:
    report = rig.checker("is deaf", IMPATIENT).compare({"a.fake": b"offer x\n" * 400_000}, ["b.fake"])
    assert "gave no answer" in report.why


def test_what_a_server_started_ends_with_it(rig: Rig) -> None:
    checker = rig.checker("leaves a child")
    assert said(checker.compare(CHANGE, ["b.fake"])) == BROKEN
    assert len(rig.started()) == 2
    rig.close()


def test_one_that_always_fails_is_left_alone_for_longer_and_longer(rig: Rig) -> None:
    now = [0.0]
    checker = rig.checker("dies at once", clock=lambda: now[0])
    starts = []
    for second in range(20):
        now[0] = float(second)
        report = checker.compare(CHANGE)
        assert "ended by itself" in report.why
        if "see whether it runs" in report.why:
            starts.append(second)
        else:
            assert re.search("repeat the call in [0-9]+ s, when it is tried again", report.why)
    assert starts == [0, 1, 3, 7, 15]


def test_one_that_dies_between_two_calls_is_started_anew(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_SHORT_SECONDS", PATIENCE_SECONDS)
    now = count(0, 100)
    checker = rig.checker(clock=lambda: float(next(now)))
    assert said(checker.compare(CHANGE, ["b.fake"])) == BROKEN
    (pid,) = rig.started()
    os.kill(pid, signal.SIGKILL)
    report = checker.compare(CHANGE, ["b.fake"])
    assert "ended by itself (signal 9)" in report.why
    assert said(checker.compare(CHANGE, ["b.fake"])) == BROKEN
    assert len(rig.started()) == 2


def test_closing_twice_and_before_anything_is_fine(rig: Rig) -> None:
    checker = rig.checker()
    checker.close()
    assert checker.compare(CHANGE).why == ""
    checker.close()
    checker.close()
    assert checker.compare(CHANGE).why == ""


def test_calls_from_many_threads_take_turns(rig: Rig) -> None:
    checker, found = rig.checker(patience=PATIENT), []
    threads = [
        threading.Thread(target=lambda: found.append(said(checker.compare(CHANGE, ["b.fake"])))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [BROKEN] * 6
    assert len(rig.started()) == 1


def test_one_that_is_busy_is_told_of(rig: Rig) -> None:
    checker = rig.checker("hangs", Patience(0.2, 0.2))
    reports = []
    threads = [threading.Thread(target=lambda: reports.append(checker.compare(CHANGE).why)) for _ in range(2)]
    with checker._turn:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (
        reports == ["types were not compared: fake is busy with the changes of others; repeat the call in a moment"] * 2
    )
