"""A daemon applies the retention of events once an hour, whatever becomes of it."""

import threading

import pytest
from tests.patience import until

from commonhold.kernel.errors import Code, StoreError
from commonhold.server.daemon.retention import EVERY_SECONDS, Retention


def running() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "commonhold-retention"]


FULL = StoreError(Code.DISK_FULL, "full", hint="free some space")


@pytest.mark.parametrize("fault", [None, FULL, ZeroDivisionError()])
def test_it_is_applied_after_the_start_and_once_an_hour(fault: Exception | None) -> None:
    times = []

    def apply() -> None:
        times.append(now)
        if fault:
            raise fault

    retention = Retention(apply, 60.0)
    for now in (0.0, 59.0, 60.0, 61.0, 59.0 + EVERY_SECONDS, 61.0 + EVERY_SECONDS):
        retention.look(now)
        until(lambda: not running())
    assert times == [60.0, 61.0 + EVERY_SECONDS]
