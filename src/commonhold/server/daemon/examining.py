"""Examine in the background the changes that were recorded before all files had been read."""

import threading
from collections.abc import Callable
from typing import Final

from commonhold.api.service import Service
from commonhold.commits.deferred_changes import DeferredChanges
from commonhold.kernel.errors import CommonholdError
from commonhold.machine.correlation import correlated
from commonhold.machine.logs import Log
from commonhold.server.daemon.indexing import Indexing

PAUSE_SECONDS: Final = 5.0
"""The least time from the start of one examination to the next, so that a failing one is not repeated at once."""
_log: Final = Log(__name__)


class Examining:
    """Has another process read the files first, then examines in a thread: the daemon serves meanwhile."""

    def __init__(
        self, deferred_changes: DeferredChanges, indexing: Indexing, service_at: Callable[[str], Service]
    ) -> None:
        """Examine the working trees in `deferred_changes`; `service_at` returns the holderless service for a root."""
        self._deferred_changes = deferred_changes
        self._indexing = indexing
        self._service_at = service_at
        self._service: Service | None = None
        self._thread: threading.Thread | None = None
        self._asked: set[str] = set()
        self._not_before = 0.0

    @property
    def services(self) -> set[Service]:
        """The services that examine."""
        return {self._service} if self._service else set()

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to examine."""
        return self._thread is None and not self._deferred_changes.roots

    def look(self, now: float) -> None:
        """Request the reading of files for waiting examinations, and start one whose files have been read."""
        if self._thread is not None:
            if self._thread.is_alive():
                return
            self._service = self._thread = None
        if now < self._not_before:
            return
        for root in self._deferred_changes.roots:
            if root not in self._asked:
                self._asked.add(root)
                self._indexing.begin(root)
        ready = next((root for root in self._deferred_changes.roots if not self._indexing.is_reading(root)), None)
        if ready is not None:
            self._asked.discard(ready)
            self._begin(ready, now)

    def _begin(self, root: str, now: float) -> None:
        try:
            self._service = self._service_at(root)
        except (CommonholdError, OSError):  # the tree was removed, or its settings cannot be used
            self._deferred_changes.take(root)
            return
        self._not_before = now + PAUSE_SECONDS
        self._thread = threading.Thread(
            target=_examine, args=(self._service, root), name="commonhold-examining", daemon=True
        )
        self._thread.start()


def _examine(service: Service, root: str) -> None:
    with correlated():
        try:
            service.examine_deferred()
        except CommonholdError as fault:
            _log.warning("recorded changes not examined", root=root, code=fault.code, message=fault.message)
        except Exception as fault:  # noqa: BLE001 - a defect of ours must not end the daemon
            _log.error("recorded changes not examined", root=root, fault=fault)
