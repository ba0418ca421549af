"""The newest event of a store that this machine has seen: it reveals a store that has lost events."""

import os
from contextlib import suppress
from hashlib import sha256
from struct import Struct
from time import monotonic
from typing import Final
from urllib.parse import urlsplit

_FORM: Final = Struct("<8sQ48s")
_HEAD: Final = b"chseen1\n"
_READ_EVERY_SECONDS: Final = 1.0
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


def place_of(folder: str, url: str, namespace: str) -> str:
    """The file in a state folder for one namespace of one store, for all of its clients."""
    parts = urlsplit(url)
    store = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}?{parts.query}#{namespace}"
    return os.path.join(folder, f"seen-{sha256(store.encode()).hexdigest()[:16]}")


class Seen:
    """The number of the newest event, and the server that reported it; in a file, for later processes as well.

    It is written in one step and not flushed: it outlives a process that is killed. After a loss of power, if it cannot
    be written, or if the lower of two numbers is written last at the same moment, it recognises less.
    """

    def __init__(self, path: str = "") -> None:
        """Keep it at `path`, in a folder that exists by the first event; without a path in memory alone."""
        self._path = path
        self._number, self._server = 0, ""
        self._descriptor = -1
        self._read_at = -_READ_EVERY_SECONDS

    def newest(self) -> tuple[int, str]:
        """Return the number, 0 before the first event; and the server, by the name that was given for it.

        The file, with other processes' events, is read once a second: no store is set back in less.
        """
        now = monotonic()
        if now - self._read_at >= _READ_EVERY_SECONDS:
            self._read_at = now
            number, server = self._read()
            if number > self._number:
                self._number, self._server = number, server
        return self._number, self._server

    def note(self, number: int, server: str = "") -> None:
        """Record that the store has durably recorded the event of that number."""
        if (number, server) == (self._number, self._server) or number < self._number:
            return
        self._number, self._server = number, server
        with suppress(OSError):
            if self._open():
                os.pwrite(self._descriptor, _FORM.pack(_HEAD, number, server.encode()), 0)

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _read(self) -> tuple[int, str]:
        try:
            data = os.pread(self._descriptor, _FORM.size, 0) if self._open() else b""
        except OSError:
            return 0, ""
        if len(data) < _FORM.size or not data.startswith(_HEAD):
            return 0, ""
        _, number, server = _FORM.unpack(data)
        return number, server.rstrip(b"\0").decode(errors="replace")

    def _open(self) -> bool:
        if self._descriptor < 0 and self._path and os.path.isdir(os.path.dirname(self._path)):
            with suppress(OSError):
                self._descriptor = os.open(self._path, _FLAGS, 0o600)
        return self._descriptor >= 0
