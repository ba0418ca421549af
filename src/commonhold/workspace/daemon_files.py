"""The files of a repository's daemon: its lock, its sockets, its log."""

import fcntl
import os
import socket
import struct
import time
from contextlib import suppress
from typing import Final

from commonhold.kernel.errors import Code, StoreError
from commonhold.workspace.socket_paths import address as address  # noqa: PLC0414 - they are of this place, too
from commonhold.workspace.socket_paths import http_address as http_address  # noqa: PLC0414
from commonhold.workspace.state_folder import Identity, identity_of

LOCK: Final = "daemon.lock"
LOG: Final = "daemon.log"
DOES_NOT_SERVE: Final = "daemon does not serve"
"""The event in its log whose `message` says why."""
BACKLOG: Final = 4096
"""The number of clients that may wait for a connection at once; the default of 100 turns some away."""
CLAIM_SECONDS: Final = 0.5
"""How long a claim is tried while another daemon has the lock: it may be ending."""
PAUSE_SECONDS: Final = 0.01
_PEER_CREDENTIALS: Final = struct.Struct("3i")


def lock_path(state_folder: str) -> str:
    """Return the file that the daemon holds a lock on while it lives."""
    return os.path.join(state_folder, LOCK)


def log_path(state_folder: str) -> str:
    """Return the file to which the daemon, its supervisor and its planners log."""
    return os.path.join(state_folder, LOG)


def is_running(state_folder: str) -> bool:
    """Whether a daemon is running there: it holds its lock while it lives."""
    try:
        descriptor = os.open(lock_path(state_folder), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def pid(state_folder: str) -> int | None:
    """Return the process that has registered as the daemon; meaningful while `is_running`."""
    try:
        with open(lock_path(state_folder), encoding="ascii") as file:
            return int(file.readline(32))
    except (OSError, ValueError):
        return None


def url(state_folder: str) -> str:
    """Return where the daemon serves a network; empty if it serves none. Meaningful while `is_running`."""
    with suppress(OSError, UnicodeError), open(lock_path(state_folder), encoding="ascii") as file:
        return file.read(512).partition("\n")[2].strip()
    return ""


def claim(state_folder: str, url: str = "") -> int:
    """Become the only daemon there, for as long as the descriptor is open, which serves a network at `url`.

    Raises StoreError `STORE_OWNED`.
    """
    with suppress(FileExistsError):
        os.mkdir(state_folder, 0o700)  # its parents never: a repository that was moved away must not come back
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(lock_path(state_folder), flags, 0o600)
    if not _is_locked_within(CLAIM_SECONDS, descriptor):
        os.close(descriptor)
        raise StoreError(
            Code.STORE_OWNED,
            "a daemon serves this repository already",
            hint="use that one, or stop it first: commonhold daemon stop",
        )
    lines = f"{os.getpid()}\n{url}\n".encode()
    os.write(descriptor, lines)  # in one step over the last content: a reader finds one or the other
    os.ftruncate(descriptor, len(lines))
    return descriptor


def _is_locked_within(seconds: float, descriptor: int) -> bool:
    until = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until and not _is_only_looked_at(descriptor):
                return False
            time.sleep(PAUSE_SECONDS)
        else:
            return True


def _is_only_looked_at(descriptor: int) -> bool:
    """Whether those who hold the lock only check for a daemon, however long the system keeps them from going on."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return True


def listen(address: str) -> socket.socket:
    """Return a socket at `address` that only this user can connect to. The caller has the claim: no other is alive.

    It is moved to its place after it has begun to listen: every client that finds it there can connect.
    """
    made = f"{os.path.splitext(address)[0]}.new"
    with suppress(FileNotFoundError):
        os.unlink(made)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)  # private from its first moment on
    try:
        listener.bind(made)
    finally:
        os.umask(mask)
    listener.listen(BACKLOG)
    os.rename(made, address)
    return listener


def is_of_this_user(connection: socket.socket) -> bool:
    """Whether the other end of a connection belongs to this user (or to root); True if the system cannot say."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True  # the folder and the mode of the socket keep others out
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER_CREDENTIALS.size)
    return _PEER_CREDENTIALS.unpack(raw)[1] in (os.geteuid(), 0)


def identity(address: str) -> Identity | None:
    """Return the identity of the socket at an address, to recognize a replacement; None if there is none."""
    try:
        return identity_of(os.lstat(address))
    except OSError:
        return None


def withdraw(address: str, known: Identity | None) -> None:
    """Remove a socket from its address, if it is still the one that is `known`."""
    if known is not None and identity(address) == known:
        os.unlink(address)
