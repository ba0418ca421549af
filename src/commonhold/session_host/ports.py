"""Ranges of ports, of which each running session has one of its own on this machine."""

import errno
import fcntl
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

FIRST_PORT: Final = 21_000
PORTS: Final = 10
_RANGES: Final = 1_000
"""They end below the ports that systems give out by themselves."""


@contextmanager
def port_range(folder: Path, preferred: int) -> Iterator[range]:
    """Yield ports that nothing listens on, and no other session of this user has, of whichever repository.

    `preferred` is the number of the range that is tried first. The files of `folder` are locks; they end with this
    process. Raises OSError if all ranges are in use.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for number in (*range(preferred, _RANGES), *range(min(preferred, _RANGES))):
        first = FIRST_PORT + PORTS * number
        ports = range(first, first + PORTS)
        with (folder / str(first)).open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            if all(map(_is_free, ports)):
                yield ports
                return
    raise OSError(errno.EADDRINUSE, "all ranges of ports are in use")


def _is_free(port: int) -> bool:
    with socket.socket() as trial:
        # As servers do: a connection that was closed just now is no listener.
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
