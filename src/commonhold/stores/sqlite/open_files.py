"""The files behind an open database: SQLite keeps using those that it opened, whatever is at their paths by then."""

import os
import time
from typing import Final

from commonhold.stores.sqlite.last_event_mark import LOGS
from commonhold.workspace.state_folder import Identity, identity_at, identity_of

_SECOND: Final = 1_000_000_000
_FINE_STEP: Final = _SECOND // 20
_COARSE_STEP: Final = _SECOND * 5 // 2
"""Two changes of a folder may have one time stamp if less than this lies between them, in nanoseconds.

Kernels count in steps of up to ten milliseconds, some file systems in whole seconds, or two.
"""


class OpenFiles:
    """The database, its log, its shared index and the gate, as they were when a connection had read from all."""

    def __init__(self, path: str, gate: str) -> None:
        """Remember the files of the database at `path`, and the gate if there is one. Raises OSError."""
        self._folder = os.path.dirname(path)
        self._known = [(each, identity_of(os.stat(each))) for each in (path, *(path + ending for ending in LOGS))]
        self.database: Final = self._known[0][1][1]
        """The inode of the database."""
        self.gate: Final = identity_at(gate)
        """The identity of the gate, to recognize another one; None if there was none."""
        if self.gate:
            self._known.append((gate, self.gate))
        self._settled: tuple[Identity, int] | None = None

    def are_in_place(self) -> bool:
        """Whether each is still the file at its path, so that newcomers open these same files.

        One look at the folder is usually enough: its time stamp changes with every name in it.
        """
        try:
            folder = os.stat(self._folder)
            stamp = identity_of(folder), folder.st_mtime_ns
            if stamp == self._settled:
                return True
            if any(identity_of(os.stat(path)) != known for path, known in self._known):
                return False
        except OSError:
            return False
        step = _FINE_STEP if folder.st_mtime_ns % _SECOND else _COARSE_STEP
        self._settled = stamp if time.time_ns() - folder.st_mtime_ns > step else None
        return True
