"""Reading all files of a repository in the background, by a process that nobody waits for."""

import subprocess
import sys
from typing import Final

_PROGRAM: Final = "commonhold.adapters.index.filling"


class Indexing:
    """Begins that process when its time has come, and ends it with the daemon."""

    def __init__(self, root: str, max_file_bytes: int, begins_at: float | None) -> None:
        """Read the files at `root`, those of up to so many bytes, from `begins_at` on; never if that is None."""
        self._words = (root, str(max_file_bytes))
        self._begins_at = begins_at
        self._process: subprocess.Popen[bytes] | None = None

    def look(self, now: float) -> None:
        """Begin if it is time; let go of a process that has ended."""
        if self._begins_at is not None and now >= self._begins_at:
            self._begins_at = None
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-I", "-m", _PROGRAM, *self._words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        if self._process is not None and self._process.poll() is not None:
            self._process = None

    @property
    def pid(self) -> int | None:
        """The process that reads; None where none does."""
        return None if self._process is None else self._process.pid

    def end(self) -> None:
        """Stop it, wherever it is; what it has read so far is kept."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None
