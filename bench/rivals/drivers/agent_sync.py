"""claude-agent-sync: the functions of `agent_sync.locks` that its command line calls, on one open connection.

Its command line also heartbeats at each call; here the agent registers once, which is quicker.
"""

import sqlite3
from importlib.metadata import version

from agent_sync import db, locks  # type: ignore[import-not-found]  # only in its own environment
from agent_sync.errors import LockConflict  # type: ignore[import-not-found]  # as above

from bench.rivals.drivers import SYNCHRONOUS, WAIT_SECONDS, Facts


class Driver:
    """One registered agent."""

    def __init__(self, folder: str, agent: str) -> None:
        """Open the database where it would lie in a repository, and register."""
        self._connection = db.connect(f"{folder}/.claude/coordination/state.sqlite")
        self._agent = agent
        db.ensure_agent(self._connection, agent)

    def facts(self) -> Facts:
        """The pragma is read from the connection that locks use."""
        return Facts(
            version=version("claude-agent-sync"),
            calls="locks.acquire_lock(), release_lock()",
            waiting="locks.acquire_lock_blocking(), what `lock --wait` calls: it polls every 0.5 s",
            durability=SYNCHRONOUS[self._connection.execute("PRAGMA synchronous").fetchone()[0]],
            sqlite=sqlite3.sqlite_version,
        )

    def claim(self, key: str) -> bool:
        """One lock."""
        try:
            locks.acquire_lock(self._connection, self._agent, key)
        except LockConflict:
            return False
        return True

    def claim_waiting(self, key: str) -> bool:
        """A lock that it waits for."""
        try:
            locks.acquire_lock_blocking(self._connection, self._agent, key, wait_seconds=WAIT_SECONDS)
        except LockConflict:
            return False
        return True

    def release(self, key: str) -> None:
        """One unlock, which must succeed."""
        released = locks.release_lock(self._connection, self._agent, key)
        assert released, key

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
