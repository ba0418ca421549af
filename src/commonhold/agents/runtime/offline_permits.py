"""Permits for commands, left in files: a launcher that cannot reach the daemon may run a permitted command."""

import fcntl
import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from commonhold.client.launching import foretold

IsShutOff = Callable[[str, str], bool]
"""Whether an agent's commands come to our launcher, which may be unable to call the daemon, in a tree at a root."""
_PRIVATE: Final = 0o700


class OfflinePermits:
    """The permit files for a repository's calls.

    Those of an earlier daemon are removed: this one does not know the calls.
    """

    def __init__(self, state_folder: str, is_for: IsShutOff) -> None:
        """Leave files in this folder; `is_for` says for which agents."""
        self.is_for = is_for
        self._state_folder = state_folder
        self._running: set[Path] = set()
        self._turn = threading.Lock()
        shutil.rmtree(foretold.folder(state_folder), ignore_errors=True)

    def leave(self, holder: str, call: str, command: str) -> None:
        """Leave a permit for the launcher of this command."""
        path = self._place(holder, call)
        path.parent.mkdir(_PRIVATE, exist_ok=True)
        path.write_text(json.dumps({"of": command}), encoding="ascii")

    def withdraw(self, holder: str, call: str) -> None:
        """Withdraw the permit for a call."""
        path = self._place(holder, call)
        path.unlink(missing_ok=True)
        self._running.discard(path)

    def is_begun(self, holder: str, call: str) -> bool:
        """Whether a launcher that used a permit still waits for the end of its command: it has the file locked."""
        path = self._place(holder, call)
        try:
            with self._turn, path.open("rb") as file:  # two threads at once would each take the other for a launcher
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                fcntl.flock(file, fcntl.LOCK_UN)  # a program that is just being started may have the file, too
        except BlockingIOError:
            self._running.add(path)
            return True
        except FileNotFoundError:
            pass
        return False

    def is_over(self, holder: str, call: str) -> bool:
        """Whether a launcher that was seen waiting has stopped; True only once."""
        path = self._place(holder, call)
        if path not in self._running or self.is_begun(holder, call):
            return False
        self._running.discard(path)
        return True

    def _place(self, holder: str, call: str) -> Path:
        return Path(foretold.place(self._state_folder, holder, call))
