"""Periodic tasks, which run whether requests come or not."""

import threading
from collections.abc import Callable
from typing import Final

from commonhold.machine.correlation import correlated
from commonhold.machine.logs import Log

ROUND_SECONDS: Final = 2.0
_log: Final = Log(__name__)

Wait = Callable[[float], bool]
"""Waits for so many seconds, or until it is over; returns whether it is over."""


class PeriodicTasks:
    """Runs the tasks in a thread of its own."""

    def __init__(self, see_to: Callable[[], object], wait: Wait | None = None) -> None:
        """Call `see_to` after each `wait`."""
        self._see_to = see_to
        self._over = threading.Event()
        self._wait = wait or self._over.wait
        self._thread = threading.Thread(target=self._go, name="commonhold-rounds", daemon=True)
        self._thread.start()

    def _go(self) -> None:
        while not self._wait(ROUND_SECONDS):
            with correlated():
                try:
                    self._see_to()
                except Exception as fault:  # noqa: BLE001 - no error may end the rounds
                    _log.error("periodic task failed", fault=fault)

    def close(self) -> None:
        """Run no more rounds; wait for one that has begun."""
        self._over.set()
        self._thread.join()
