"""Compact the log in the background, as often as the daemon is asked to look."""

import threading
from collections.abc import Callable
from typing import Final

from commonhold.kernel.errors import CommonholdError
from commonhold.machine.correlation import correlated
from commonhold.machine.logs import Log

AFTER_SECONDS: Final = 60.0
"""The delay from the start: the calls that started the daemon come first."""
EVERY_SECONDS: Final = 3600.0
_log: Final = Log(__name__)


class Retention:
    """Applies the retention of events once an hour, in a thread: the daemon serves meanwhile."""

    def __init__(self, apply: Callable[[], object], begins_at: float) -> None:
        """Call `apply`, which may raise CommonholdError, from the time `begins_at` on."""
        self._apply = apply
        self._next_at = begins_at

    def look(self, now: float) -> None:
        """Apply it if it is time. Raises RuntimeError if no thread can be started; then the next look tries again."""
        if now >= self._next_at:
            threading.Thread(target=self._run, name="commonhold-retention", daemon=True).start()
            self._next_at = now + EVERY_SECONDS

    def _run(self) -> None:
        with correlated():
            try:
                self._apply()
            except CommonholdError as fault:  # a full disk, say: it is tried again in an hour
                _log.warning("old events not compacted", code=fault.code, message=fault.message)
            except Exception as fault:  # noqa: BLE001 - a defect of ours must not end the daemon
                _log.error("old events not compacted", fault=fault)
