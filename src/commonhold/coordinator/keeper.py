"""Leases that outlive a call: renewed by one thread as long as they are needed."""

import threading
from contextlib import suppress
from typing import Final, Self

from commonhold.client.session import Commonhold
from commonhold.kernel.errors import CommonholdError
from commonhold.machine.logs import Log

_RENEWALS: Final = 3
"""How often a lease is renewed within its time to live."""
_log: Final = Log(__name__)


class Keeper:
    """Renews leases. A renewal that fails is tried again; a lease that has ended is noticed by the posts under it."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._kept: dict[str, tuple[Commonhold, float]] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def keep(self, session: Commonhold, lease_id: str, ttl_seconds: float) -> None:
        """Renew a lease of `session` from now on, each time for `ttl_seconds`."""
        with self._lock:
            self._kept[lease_id] = (session, ttl_seconds)

    def drop(self, *lease_ids: str) -> None:
        """Renew these leases no longer."""
        with self._lock:
            for each in lease_ids:
                self._kept.pop(each, None)

    def forget(self, session: Commonhold) -> None:
        """Renew no lease of a session any longer."""
        with self._lock:
            self._kept = {name: kept for name, kept in self._kept.items() if kept[0] is not session}

    def _run(self) -> None:
        while not self._stop.wait(self._pause()):
            with self._lock:
                kept = list(self._kept.items())
            for lease_id, (session, ttl_seconds) in kept:
                if self._stop.is_set():
                    return
                with suppress(CommonholdError):
                    answer = session.renew(lease_id, ttl_seconds=ttl_seconds)
                    if answer.outcome == "refused":
                        _log.info("lease not renewed", lease=lease_id, why=answer.why)

    def _pause(self) -> float:
        with self._lock:
            return min((ttl for _, ttl in self._kept.values()), default=1.0) / _RENEWALS
