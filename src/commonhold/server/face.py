"""The network face of a daemon: where it listens for other machines, and how it is encrypted."""

import socket
from dataclasses import dataclass
from typing import Final

from commonhold.kernel.errors import Code, InputError, StoreError
from commonhold.workspace.daemon_files import BACKLOG

DEFAULT_PORT: Final = 7420
DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_RATE: Final = 200.0
"""How many requests a second the bearer of a token may send."""


@dataclass(frozen=True, slots=True)
class Face:
    """The choices of `commonhold serve`.

    `port` 0 is any free one. `certificate` and `key` are files in PEM form; without them there is no TLS. `hosts` are
    the names by which clients call this server, besides its addresses and `localhost`. `rate` is how many requests a
    second the bearer of a token may send.
    """

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    certificate: str | None = None
    key: str | None = None
    hosts: tuple[str, ...] = ()
    rate: float = DEFAULT_RATE

    @property
    def scheme(self) -> str:
        """The scheme of its URLs."""
        return "http" if self.certificate is None else "https"

    def check_tls(self) -> None:
        """Raise InputError `CONFIG_INVALID` if the certificate and the key cannot be used."""
        if self.certificate is None:
            return
        import ssl  # noqa: PLC0415 - loaded here: a daemon without TLS does not need it

        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.certificate, self.key)
        except (OSError, ValueError) as fault:
            raise InputError(
                Code.CONFIG_INVALID,
                f"the certificate {self.certificate!a} and the key {self.key!a} cannot be used: {fault}",
                hint="name a certificate and its key, both in PEM form and readable by this user",
            ) from fault


@dataclass(frozen=True, slots=True)
class OpenFace:
    """A face whose sockets listen."""

    face: Face
    listeners: tuple[socket.socket, ...]

    @property
    def url(self) -> str:
        """The address of the server."""
        host, port = self.listeners[0].getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        return f"{self.face.scheme}://{shown}:{port}"


def listen(face: Face) -> OpenFace:
    """Listen for clients. Raises StoreError `STORE_BUSY` if the port is taken, InputError `CONFIG_INVALID`."""
    face.check_tls()
    try:
        found = socket.getaddrinfo(face.host, face.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
    except OSError as fault:
        raise InputError(
            Code.CONFIG_INVALID,
            f"the host {face.host!a} has no address here: {fault.strerror}",
            hint="give an address of this machine, such as --host 127.0.0.1",
        ) from fault
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as fault:
        listener.close()
        raise StoreError(
            Code.STORE_BUSY,
            f"port {face.port} of {face.host} cannot be used: {fault.strerror}",
            hint="choose another: commonhold serve --port PORT",
            fields={"host": face.host, "port": face.port},
        ) from fault
    return OpenFace(face, (listener,))
