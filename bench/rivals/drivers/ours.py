"""Commonhold, as `commonhold.open` gives it: by its daemon where it finds or starts one, else directly."""

import inspect
import os
from functools import partial
from pathlib import Path
from typing import Any

import apsw

import commonhold
from bench.rivals.drivers import LEASE_SECONDS, SYNCHRONOUS, WAIT_SECONDS, Facts
from bench.rivals.drivers.polling import poll


class Driver:
    """One agent session."""

    def __init__(self, folder: str, agent: str) -> None:
        """Open a plain folder: `.commonhold` keeps the search for a repository from going further up."""
        Path(folder, ".commonhold").mkdir(exist_ok=True)
        self._hold = commonhold.open(folder, agent=agent)
        self._leases: dict[str, str] = {}
        self._can_wait = "wait_seconds" in inspect.signature(self._hold.acquire).parameters

    def facts(self) -> Facts:
        """The pragma is read where this process has the connection; a daemon's is as it was asked to be."""
        return Facts(
            version=commonhold.__version__,
            calls=f"commonhold.open().acquire(), .release(), by {type(self._hold).__name__}",
            waiting=f"acquire(wait_seconds={WAIT_SECONDS:.0f})" if self._can_wait else "polled every 1 ms",
            durability=self._durability(),
            sqlite=apsw.sqlite_lib_version(),
        )

    def _durability(self) -> str:
        store = getattr(self._hold, "_store", None)
        if store is None:
            return os.environ.get("COMMONHOLD_DURABILITY", "full").upper()
        with store.read() as session:
            return SYNCHRONOUS[session._connection.pragma("synchronous")]  # noqa: SLF001 - it is told nowhere else

    def claim(self, key: str) -> bool:
        """One acquire."""
        return self._acquire(key)

    def claim_waiting(self, key: str) -> bool:
        """An acquire that waits in line."""
        if self._can_wait:
            return self._acquire(key, wait_seconds=WAIT_SECONDS)
        return poll(partial(self._acquire, key), WAIT_SECONDS)

    def _acquire(self, key: str, **waiting: Any) -> bool:  # noqa: ANN401 - handed on as it is
        lease = self._hold.acquire(key, ttl_seconds=LEASE_SECONDS, **waiting).lease
        if lease is not None:
            self._leases[key] = lease.id
        return lease is not None

    def release(self, key: str) -> None:
        """One release, which must succeed."""
        answer = self._hold.release(self._leases.pop(key))
        assert answer.outcome == "released", answer

    def close(self) -> None:
        """Close the session."""
        self._hold.close()
