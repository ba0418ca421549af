"""Work beside the caller: begun at once, waited for however the block ends."""

import threading
from threading import Event

import pytest
from tests.patience import PATIENCE_SECONDS

from commonhold.machine.correlation import correlated, current
from commonhold.machine.meanwhile import meanwhile


def test_both_work_at_once_in_one_request() -> None:
    is_begun, may_end = Event(), Event()

    def work() -> str:
        is_begun.set()
        assert may_end.wait(PATIENCE_SECONDS)
        return current()

    with correlated("request1"), meanwhile(work) as result:
        assert is_begun.wait(PATIENCE_SECONDS)
        may_end.set()
        assert result() == "request1"


def test_the_block_raises_what_the_work_raised() -> None:
    def work() -> None:
        raise LookupError("nothing")

    with meanwhile(work) as result, pytest.raises(LookupError, match="nothing"):
        result()


def test_a_block_that_fails_ends_after_the_work() -> None:
    is_failing, has_ended = Event(), Event()

    def work() -> None:
        assert is_failing.wait(PATIENCE_SECONDS)
        has_ended.set()

    def fail() -> None:
        is_failing.set()
        raise ValueError("failed")

    with pytest.raises(ValueError, match="failed"), meanwhile(work):
        fail()
    assert has_ended.is_set()


def test_without_another_thread_the_work_is_done_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    done: list[int] = []

    def work() -> int:
        done.append(1)
        return 2

    with meanwhile(work) as result:
        assert done == [1]
        assert result() == 2
