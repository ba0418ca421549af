"""Read all files of a repository in the background, in a process that no request waits for."""

import subprocess
import sys
from typing import Final

_PROGRAM: Final = "commonhold.index.fill"


class Indexing:
    """Starts that process when its time has come or on request, and ends it with the daemon."""

    def __init__(self, root: str, max_file_bytes: int, begins_at: float | None) -> None:
        """Read the files at `root` of up to `max_file_bytes` each, from `begins_at` on; never if that is None."""
        self._root = root
        self._max_file_bytes = max_file_bytes
        self._begins_at = begins_at
        self._is_allowed = begins_at is not None
        self._roots: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self, root: str) -> None:
        """Read the files of the working tree at `root` once no others are being read; never if reading is off."""
        if root == self._root:
            self._begins_at = None
        if self._is_allowed and root not in self._roots:
            self._roots.append(root)

    def is_reading(self, root: str) -> bool:
        """Whether the files at `root` are being read, or are queued."""
        return root in self._roots

    def look(self, now: float) -> None:
        """Start the process if it is time; reap one that has ended."""
        if self._begins_at is not None and now >= self._begins_at:
            self.begin(self._root)
        if self._process is not None and self._process.poll() is not None:
            self._process = None
            del self._roots[0]
        if self._process is None and self._roots:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-I", "-m", _PROGRAM, self._roots[0], str(self._max_file_bytes)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    @property
    def pid(self) -> int | None:
        """The process that reads; None if there is none."""
        return None if self._process is None else self._process.pid

    def end(self) -> None:
        """Stop the process at any point; the index keeps the files that it has read so far."""
        self._is_allowed, self._roots = False, []
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None
