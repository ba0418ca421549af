"""Waiting for what must come: for the event itself. The time only bounds how long a hang takes."""

import time
from collections.abc import Callable
from typing import Final

PATIENCE_SECONDS: Final = 60.0


def until(is_so: Callable[[], object], *, what: str = "") -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < end, f"it never came to be so: {what or is_so}"
        time.sleep(0.01)
