"""A plain TCP proxy in front of several servers: each connection goes to the next one that accepts it."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count

from tests.patience import PATIENCE_SECONDS

HOST = "127.0.0.1"


@contextmanager
def proxied(ports: Sequence[int]) -> Iterator[int]:
    """The port of a proxy for servers at these ports of this machine."""
    listener = socket.create_server((HOST, 0))
    turns = count()

    def open_next() -> socket.socket | None:
        first = next(turns)
        for turn in range(len(ports)):
            with suppress(OSError):
                server = socket.create_connection((HOST, ports[(first + turn) % len(ports)]), PATIENCE_SECONDS)
                server.settimeout(None)  # who has nothing to say for a while is not cut off
                return server
        return None

    def pass_on(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def serve(client: socket.socket) -> None:
        server = open_next()
        with client:
            if server is not None:
                with server:
                    back = threading.Thread(target=pass_on, args=(server, client), daemon=True)
                    back.start()
                    pass_on(client, server)
                    back.join()

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
