"""What is seen to every so often, whether anybody asks for something or not."""

import threading
import traceback
from collections.abc import Callable
from typing import Final

ROUND_SECONDS: Final = 2.0

Wait = Callable[[float], bool]
"""Waits for so many seconds, or until it is over; whether it is."""


class Rounds:
    """Goes round in a thread of its own."""

    def __init__(self, see_to: Callable[[], object], wait: Wait | None = None) -> None:
        """Call `see_to` after each `wait`."""
        self._see_to = see_to
        self._over = threading.Event()
        self._wait = wait or self._over.wait
        self._thread = threading.Thread(target=self._go, name="commonhold-rounds", daemon=True)
        self._thread.start()

    def _go(self) -> None:
        while not self._wait(ROUND_SECONDS):
            try:
                self._see_to()
            except Exception:  # noqa: BLE001 - whatever it was, the next round is made
                traceback.print_exc()

    def close(self) -> None:
        """Make no more rounds; one that has begun is waited for."""
        self._over.set()
        self._thread.join()
