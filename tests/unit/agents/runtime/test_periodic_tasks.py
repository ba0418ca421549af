"""Rounds: made for as long as nobody ends them, whatever comes of one."""

import queue
from collections.abc import Callable

import pytest

from commonhold.agents.runtime.periodic_tasks import ROUND_SECONDS, PeriodicTasks


class Passing:
    """Time that passes when the test says so, and is over when it says that."""

    def __init__(self) -> None:
        self.waited: list[float] = []
        self._said: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def wait(self, seconds: float) -> bool:
        self.waited.append(seconds)
        return self._said.get(timeout=60)

    def pass_by(self, *, is_over: bool = False) -> None:
        self._said.put(is_over)


def made(see_to: Callable[[], object], rounds: int) -> Passing:
    """So many rounds, from beginning to end."""
    time = Passing()
    going = PeriodicTasks(see_to, time.wait)
    for _ in range(rounds):
        time.pass_by()
    time.pass_by(is_over=True)
    going.close()
    return time


def test_a_round_is_made_each_time_that_so_many_seconds_have_passed() -> None:
    seen: list[str] = []
    time = made(lambda: seen.append("here"), 3)
    assert (seen, time.waited) == (["here"] * 3, [ROUND_SECONDS] * 4)


def test_what_goes_wrong_in_one_is_told_and_ends_none_of_the_others(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[str] = []

    def fails() -> None:
        seen.append("here")
        if len(seen) == 1:
            raise RuntimeError("a defect")

    made(fails, 3)
    assert seen == ["here"] * 3
    assert "RuntimeError: a defect" in caplog.text


def test_who_closes_them_waits_for_none_that_is_not_begun() -> None:
    seen: list[str] = []
    PeriodicTasks(lambda: seen.append("here")).close()
    assert seen == []
