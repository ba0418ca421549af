"""Asking again and again, for a contestant that does not wait by itself."""

import time
from collections.abc import Callable

PAUSE_SECONDS = 0.001


def poll(claim: Callable[[], bool], wait_seconds: float) -> bool:
    """Ask until granted, with a millisecond of sleep in between. Whether it was, within `wait_seconds`."""
    until = time.monotonic() + wait_seconds
    while not claim():
        if time.monotonic() >= until:
            return False
        time.sleep(PAUSE_SECONDS)
    return True
