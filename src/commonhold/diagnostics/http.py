"""Whether the daemon answers at its addresses: at its socket, and on the loopback."""

import http.client
import socket
from collections.abc import Iterator
from typing import Final

from commonhold.diagnostics.finding import Finding, fail, ok
from commonhold.kernel.errors import InputError
from commonhold.workspace.daemon_files import http_address
from commonhold.workspace.loopback import HOST, Loopback, loopback

PATIENCE_SECONDS: Final = 10.0
"""The first client waits until the answering code is loaded: on a busy machine that takes seconds."""


class _Beside(http.client.HTTPConnection):
    """A connection to a socket in the file system."""

    def __init__(self, address: str) -> None:
        super().__init__("localhost", timeout=PATIENCE_SECONDS)
        self._address = address

    def connect(self) -> None:
        """See HTTPConnection."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._address)


def serving(state_folder: str, daemon: int | None) -> Finding:
    """Return whether the process that serves the repository, if there is one, answers at the address that hooks use."""
    if daemon is None:
        return ok("daemon", "none is running")
    if _says_what_it_is(_Beside(http_address(state_folder)), {}):
        return ok("daemon", f"process {daemon} serves this repository")
    found = f"process {daemon} serves this repository, but does not answer: hooks let nothing be written"
    return fail("daemon", found, f"kill -9 {daemon}: its answers are kept, and the next use starts another")


def is_answered(chosen: Loopback) -> bool:
    """Whether the daemon of this repository answers at the port: no other server accepts the token."""
    connection = http.client.HTTPConnection(HOST, chosen.port, timeout=PATIENCE_SECONDS)
    return _says_what_it_is(connection, {"Authorization": f"Bearer {chosen.token}"})


def _says_what_it_is(connection: http.client.HTTPConnection, headers: dict[str, str]) -> bool:
    try:
        connection.request("GET", "/", headers=headers)
        answer = connection.getresponse()
        return answer.status == http.client.OK and b'"commonhold"' in answer.read(1000)
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def over_http(state_folder: str, daemon: int | None) -> Iterator[Finding]:
    """Yield the findings if the repository is served over the loopback; `daemon` is the process that serves it."""
    try:
        chosen = loopback(state_folder)
    except InputError as fault:
        yield fail("http", fault.message, fault.hint)
        return
    if chosen is None:
        return
    if daemon is None:
        yield ok("http", f"{chosen.url} while a daemon runs")
    elif is_answered(chosen):
        yield ok("http", f"{chosen.url} answers")
    else:
        found = f"another program has port {chosen.port}, or the daemon is older than the choice of it"
        yield fail("http", found, "commonhold daemon http, with another --port PORT if it is taken")
