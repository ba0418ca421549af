"""Whether a repository is also served over the loopback: the port, and the token that clients need."""

import json
import os
import secrets
import socket
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Final

from commonhold.kernel.errors import Code, InputError, StoreError
from commonhold.workspace.daemon_files import BACKLOG

FILE: Final = "http.json"
HOST: Final = "127.0.0.1"
MAX_PORT: Final = 65_535
_TOKEN_BYTES: Final = 24
_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Loopback:
    """A port of this machine, and the token that clients must know: every user can reach the port."""

    port: int
    token: str

    @property
    def url(self) -> str:
        """The beginning of the routes, for clients that send the token in a header."""
        return f"http://{HOST}:{self.port}"

    @property
    def secret_url(self) -> str:
        """The same for clients that can send no header."""
        return f"{self.url}/t/{self.token}"


def loopback(state_folder: str) -> Loopback | None:
    """Return the port and token of a repository; None if it is not served. Raises InputError `CONFIG_INVALID`."""
    path = os.path.join(state_folder, FILE)
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), encoding="utf-8") as file:
            is_private = os.fstat(file.fileno()).st_mode & 0o077 == 0
            chosen = json.load(file)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as fault:
        raise _unusable(path, str(fault)) from fault
    if not is_private:
        raise _unusable(path, "others may read it, and it holds a token")
    match chosen:
        case {"port": int(port), "token": str(token)} if port is not True and 0 < port <= MAX_PORT and token.isalnum():
            return Loopback(port, token)
    raise _unusable(path, "it names no port and token")


def choose(state_folder: str, port: int | None) -> Loopback:
    """Serve the repository at `port`, else at the one chosen before, else at one that is free now.

    The token stays with the port, so that clients that have it still work. If a port is given up for another, its next
    owner may have been sent the token.
    """
    before = None
    with suppress(InputError):  # an unusable entry is replaced
        before = loopback(state_folder)
    if before is not None and port in (None, before.port):
        return before
    return _written(state_folder, Loopback(port or _free_port(), secrets.token_hex(_TOKEN_BYTES)))


def _written(state_folder: str, chosen: Loopback) -> Loopback:
    path = os.path.join(state_folder, FILE)
    beside = f"{path}.{secrets.token_hex(8)}.new"
    with suppress(FileExistsError):
        os.mkdir(state_folder, 0o700)
    with open(os.open(beside, _FLAGS, 0o600), "w", encoding="utf-8") as file:
        json.dump(asdict(chosen), file)
    os.replace(beside, path)
    return chosen


def forget(state_folder: str) -> None:
    """Stop serving the repository there; its token is invalid from then on."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(state_folder, FILE))


def bind(chosen: Loopback) -> socket.socket:
    """Return a socket that listens there. Raises StoreError `STORE_BUSY` if another program has the port."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, chosen.port))
        listener.listen(BACKLOG)
    except OSError as fault:
        listener.close()
        raise StoreError(
            Code.STORE_BUSY,
            f"port {chosen.port} of this machine cannot be used: {fault.strerror}",
            hint="choose another: commonhold daemon http --port PORT",
            fields={"port": chosen.port},
        ) from fault
    return listener


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _unusable(path: str, why: str) -> InputError:
    return InputError(
        Code.CONFIG_INVALID,
        f"{FILE} in the state folder cannot be used: {why}",
        hint="create it again: commonhold daemon http",
        fields={"path": path},
    )
