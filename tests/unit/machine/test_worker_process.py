"""A child that answers requests, and one that is ended, killed, crashes or hangs while somebody asks."""

import os
import signal

import pytest

from commonhold.machine import worker_process
from commonhold.machine.worker_process import ChildGone, ChildSilent, WorkerProcess, program_of

pytestmark = pytest.mark.slow

ANSWERING = """
import json, os, signal, sys; sys.path[:] = json.loads(sys.argv.pop())
from commonhold.machine.worker_process import answer_frames
def answer(data, ask):
    match data:
        case b"die": os.kill(os.getpid(), signal.SIGKILL)
        case b"crash": os.kill(os.getpid(), signal.SIGSEGV)
        case b"hang": signal.pause()
        case b"ask": return ask(b"a question") + b", he said"
    return data
answer_frames(answer)
"""
LARGE = b"x" * 3_000_000


@pytest.fixture
def child() -> WorkerProcess:
    return WorkerProcess(ANSWERING)


def test_a_request_may_be_of_any_size_and_so_may_its_answer(child: WorkerProcess) -> None:
    assert [child.ask(each) for each in (b"", b"one", LARGE)] == [b"", b"one", LARGE]
    child.end()


def test_a_child_that_was_ended_is_gone_for_whoever_asks(child: WorkerProcess) -> None:
    child.end()
    with pytest.raises(EOFError):
        child.ask(b"anything")


def test_it_is_told_apart_whether_a_child_was_killed_or_crashed() -> None:
    has_crashed = {}
    for request_ in (b"die", b"crash"):
        child = WorkerProcess(ANSWERING)
        with pytest.raises(ChildGone):
            child.ask(request_)
        child.end()
        has_crashed[request_] = child.has_crashed
    assert has_crashed == {b"die": False, b"crash": True}


def test_a_child_that_is_silent_for_too_long_is_killed(child: WorkerProcess) -> None:
    with pytest.raises(ChildSilent):
        child.ask(b"hang", silence=lambda: 0.05)
    child.end()
    assert not child.has_crashed


@pytest.mark.parametrize("request_", [b"one", LARGE], ids=["before it answers", "before it has read"])
def test_a_child_that_stands_still_is_killed(child: WorkerProcess, request_: bytes) -> None:
    os.kill(child.pid, signal.SIGSTOP)
    with pytest.raises(ChildSilent):
        child.ask(request_, silence=lambda: 0.05)
    child.end()


def test_how_long_it_may_be_silent_is_asked_again_after_each_question(child: WorkerProcess) -> None:
    limits = iter((60.0, 30.0))
    assert child.ask(b"ask", lambda question: question.upper(), lambda: next(limits)) == b"A QUESTION, he said"
    assert not list(limits)
    child.end()


def test_a_child_that_never_gets_ready_could_not_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "SILENCE_SECONDS", 0.05)
    with pytest.raises(ChildProcessError):
        WorkerProcess("import signal; signal.pause()")


def test_a_program_that_does_not_speak_could_not_be_started() -> None:
    with pytest.raises(ChildProcessError):
        WorkerProcess(program_of("this"))
