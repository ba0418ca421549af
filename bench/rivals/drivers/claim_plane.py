"""claim-plane: `Plane.claim` and `Plane.release`, the lightest pair of its public API.

Its change intents (`Plane.admit`) do more and cost more. It has no call that waits, and its pages tell no way to:
an answer that is not granted names the holder, so it is asked again.
"""

import sqlite3
from functools import partial
from importlib.metadata import version

from claim_plane import Claim, ClaimType, Plane  # type: ignore[import-not-found]  # only in its own environment

from bench.rivals.drivers import LEASE_SECONDS, SYNCHRONOUS, WAIT_SECONDS, Facts
from bench.rivals.drivers.polling import poll


class Driver:
    """One owner of claims."""

    def __init__(self, folder: str, agent: str) -> None:
        """Open a plane in a file, with its own defaults."""
        self._plane = Plane.open(f"{folder}/plane.db")
        self._owner = agent

    def facts(self) -> Facts:
        """The pragma is read from the connection that claims use."""
        connection = self._plane._registry._conn  # noqa: SLF001 - it is told nowhere else
        return Facts(
            version=version("claim-plane"),
            calls="Plane.open().claim(), .release()",
            waiting="no call waits; polled every 1 ms",
            durability=SYNCHRONOUS[connection.execute("PRAGMA synchronous").fetchone()[0]],
            sqlite=sqlite3.sqlite_version,
        )

    def claim(self, key: str) -> bool:
        """One claim of a name."""
        wish = Claim(ClaimType.NAME, key, owner=self._owner, lease_seconds=LEASE_SECONDS)
        return bool(self._plane.claim(wish).granted)

    def claim_waiting(self, key: str) -> bool:
        """Claims until one is granted."""
        return poll(partial(self.claim, key), WAIT_SECONDS)

    def release(self, key: str) -> None:  # noqa: ARG002 - a release is by owner, who holds one key at a time here
        """Release all that this owner holds, which must be one claim."""
        released = self._plane.release(self._owner)
        assert released == 1, released

    def close(self) -> None:
        """Close the plane."""
        self._plane.close()
