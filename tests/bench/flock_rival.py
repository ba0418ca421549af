"""The smallest rival that there can be: a claim is the kernel's lock of a file. Its driver runs in workers."""

import fcntl
import os
from pathlib import Path

from bench.rivals.drivers import Facts


class Driver:
    def __init__(self, folder: str, agent: str) -> None:
        self._folder, self._agent = Path(folder), agent
        self._held: dict[str, int] = {}

    def facts(self) -> Facts:
        return Facts("1", f"flock, as {self._agent}", "flock waits by itself", "NORMAL", "none")

    def claim(self, key: str) -> bool:
        try:
            self._lock(key, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def claim_waiting(self, key: str) -> bool:
        self._lock(key, fcntl.LOCK_EX)
        return True

    def _lock(self, key: str, how: int) -> None:
        descriptor = os.open(self._folder / f"claim-{key}", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, how)
        except BlockingIOError:
            os.close(descriptor)
            raise
        self._held[key] = descriptor

    def release(self, key: str) -> None:
        os.close(self._held.pop(key))

    def close(self) -> None:
        assert not self._held
