"""A daemon has the files read first, then examines what was put off, in a thread of its own."""

import threading
from typing import Any, cast

import pytest
from tests.patience import until

from commonhold.api.service import Service
from commonhold.commits.deferred_changes import DeferredChanges, Unexamined
from commonhold.kernel.errors import Code, CommonholdError, StoreError
from commonhold.server.daemon.examining import PAUSE_SECONDS, Examining
from commonhold.server.daemon.indexing import Indexing

CHANGE = Unexamined("/r", "one", {"a.py": None}, "")


class Reads:
    """A process that reads, or not."""

    def __init__(self) -> None:
        self.reading: set[str] = set()

    def begin(self, root: str) -> None:
        self.reading.add(root)

    def is_reading(self, root: str) -> bool:
        return root in self.reading


class Examines:
    """A service that examines until it is told to go on."""

    def __init__(self, deferred_changes: DeferredChanges) -> None:
        self.deferred_changes, self.times, self.go_on = deferred_changes, 0, threading.Event()
        self.fault: CommonholdError | None = None
        self.go_on.set()

    def examine_deferred(self) -> None:
        self.times += 1
        self.go_on.wait(60)
        if self.fault:
            raise self.fault
        self.deferred_changes.take("/r")


class House:
    def __init__(self) -> None:
        self.deferred_changes, self.reads = DeferredChanges(), Reads()
        self.service = Examines(self.deferred_changes)
        self.missing: Exception | None = None
        self.examining = Examining(self.deferred_changes, cast("Indexing", self.reads), self.service_at)

    def service_at(self, _root: str) -> Service:
        if self.missing:
            raise self.missing
        return cast("Service", cast("Any", self.service))

    def look_until_idle(self, now: float) -> None:
        def is_idle() -> bool:
            self.examining.look(now)
            return self.examining.is_idle

        until(is_idle)


@pytest.fixture
def house() -> House:
    return House()


def test_without_anything_put_off_nothing_is_read(house: House) -> None:
    house.examining.look(1.0)
    assert house.examining.is_idle
    assert house.reads.reading == set()


def test_files_are_read_before_anything_is_examined(house: House) -> None:
    house.deferred_changes.add(CHANGE)
    house.examining.look(1.0)
    house.examining.look(2.0)
    assert (house.reads.reading, house.service.times) == ({"/r"}, 0)
    assert not house.examining.is_idle
    house.reads.reading.clear()
    house.look_until_idle(3.0)
    assert house.service.times == 1


def test_one_thread_examines_and_its_service_is_in_use_meanwhile(house: House) -> None:
    house.service.go_on.clear()
    house.deferred_changes.add(CHANGE)
    house.examining.look(1.0)
    house.reads.reading.clear()
    for now in (2.0, 20.0):
        house.examining.look(now)
    until(lambda: house.service.times == 1)
    assert [*map(id, house.examining.services)] == [id(house.service)]
    house.service.go_on.set()
    house.look_until_idle(21.0)
    assert house.examining.services == set()
    assert house.service.times == 1


def test_what_failed_is_tried_again_after_a_pause(house: House, caplog: pytest.LogCaptureFixture) -> None:
    house.service.fault = StoreError(Code.STORE_BUSY, "busy", hint="repeat the call")
    house.deferred_changes.add(CHANGE)
    house.examining.look(1.0)
    house.reads.reading.clear()
    house.examining.look(2.0)
    until(lambda: not any(each.name == "commonhold-examining" for each in threading.enumerate()))
    house.examining.look(2.0 + PAUSE_SECONDS / 2)
    house.service.fault = None
    assert house.service.times == 1
    house.examining.look(3.0 + PAUSE_SECONDS)
    house.reads.reading.clear()
    house.look_until_idle(3.0 + PAUSE_SECONDS)
    assert house.service.times == 2
    assert "recorded changes not examined" in caplog.messages


def test_a_tree_that_was_taken_away_is_let_go(house: House) -> None:
    house.missing = OSError("gone")
    house.deferred_changes.add(CHANGE)
    house.examining.look(1.0)
    house.reads.reading.clear()
    house.examining.look(2.0)
    assert house.examining.is_idle
