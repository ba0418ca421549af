"""The process that runs a merge queue, while the store, git or the machine cannot be used."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from commonhold.coordinator.merge_queue import QueueRunner, Turn
from commonhold.coordinator.queue_driver import MOST_FAULTS, MergeQueue
from commonhold.coordinator.queue_ports import QueueLostError
from commonhold.kernel.errors import Code, CommonholdError, InputError, StoreError

FULL = StoreError(Code.DISK_FULL, "the disk is full", hint="free some space")
GONE = InputError(Code.REVISION_UNKNOWN, "there is no branch", hint="make it")


class Hold:
    """A session whose lease is always free. `leases` is what became of it, in order."""

    def __init__(self) -> None:
        self.leases: list[str] = []

    def acquire(self, *_: object, **__: object) -> Any:
        self.leases.append("acquired")
        return SimpleNamespace(lease=SimpleNamespace(id="l1", fence=7), conflicts=())

    def release(self, _: str) -> None:
        self.leases.append("released")

    def renew(self, *_: object, **__: object) -> Any:
        return SimpleNamespace(outcome="renewed")


class Clock:
    """The sign to stop; a wait for it takes no time, and is counted."""

    def __init__(self) -> None:
        self.waited: list[float] = []
        self.is_over = False

    def is_set(self) -> bool:
        return self.is_over

    def wait(self, seconds: float | None = None) -> bool:
        self.waited.append(seconds or 0.0)
        return self.is_over


class Script:
    """A runner whose turns are given; after the last one the queue is to stop."""

    def __init__(self, clock: Clock, turns: Sequence[Turn | Exception]) -> None:
        self.clock = clock
        self.turns = list(turns)
        self.held = "the checkout is in the way"

    def turn(self, _: object) -> Turn:
        found = self.turns.pop(0)
        self.clock.is_over = not self.turns
        if isinstance(found, Exception):
            raise found
        return found


def run(*turns: Turn | Exception, until_empty: bool = False) -> tuple[Hold, Clock, list[str], str]:
    hold, clock, said = Hold(), Clock(), list[str]()
    script = cast("QueueRunner", Script(clock, turns))
    queue = MergeQueue(cast("Any", hold), "refs/heads/main", lambda _: script, say=said.append)
    queue.stop = cast("Any", clock)
    return hold, clock, said, queue.run(until_empty=until_empty)


@pytest.mark.parametrize("fault", [FULL, GONE, OSError("no space left on device")])
def test_a_fault_is_said_once_and_waited_out(fault: Exception) -> None:
    hold, clock, said, left = run(fault, fault, fault, Turn.WORKED, fault, Turn.IDLE)
    words = f"{fault.message}; {fault.hint}" if isinstance(fault, CommonholdError) else str(fault)
    assert said == [*[f"waiting: {words}"] * 2, "waiting for entries of main"]
    assert clock.waited == [1.0, 2.0, 3.0, 1.0, 1.0]
    assert (hold.leases, left) == (["acquired", "released"], "")


def test_a_fault_that_lasts_leaves_the_queue_to_other_runners_for_a_while() -> None:
    hold, clock, said, _ = run(*[FULL] * MOST_FAULTS, Turn.WORKED)
    assert hold.leases == ["acquired", "released"] * 2
    assert (max(clock.waited), len(said)) == (30.0, 1)


def test_with_until_empty_a_fault_that_lasts_ends_it_with_the_error() -> None:
    with pytest.raises(StoreError, match="the disk is full"):
        run(*[FULL] * (MOST_FAULTS + 1), until_empty=True)
    with pytest.raises(InputError, match="there is no branch"):
        run(GONE, Turn.WORKED, until_empty=True)


def test_a_runner_that_was_replaced_asks_for_the_queue_again() -> None:
    hold, _, _, left = run(QueueLostError("another runs it"), Turn.HELD, until_empty=True)
    assert hold.leases == ["acquired", "released"] * 2
    assert left == "the checkout is in the way"


def test_a_queue_without_entries_says_once_that_it_waits() -> None:
    assert run(Turn.IDLE, Turn.IDLE)[2] == ["waiting for entries of main"]
    assert run(Turn.IDLE, until_empty=True)[2] == ["nothing is queued for main"]
    assert run(Turn.WORKED, Turn.IDLE, until_empty=True)[2] == []
