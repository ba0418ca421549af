"""A way to a server on which answers get lost."""

import select
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

_MOST: Final = 1 << 20


class Forgetful:
    """Hands on what a client sends to a Unix socket and what is answered, but for the answers it is told to lose."""

    def __init__(self, folder: Path, target: str) -> None:
        self.path = folder / "forgetful"
        self.to_lose = 0
        self._target = target
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    @property
    def url(self) -> str:
        return f"unix://{self.path}"

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                thread = threading.Thread(target=self._serve, args=(client,))
                self._threads.append(thread)
                thread.start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, suppress(OSError):
            server.connect(self._target)
            asked = b""
            while True:  # what is asked and answered may come in parts
                ready, _, _ = select.select([client, server], [], [])
                said = (client if client in ready else server).recv(_MOST)
                if not said:
                    return
                if client in ready:
                    asked = said
                    server.sendall(said)
                elif self.to_lose and b"EVALSHA" in asked:
                    self.to_lose -= 1
                    return
                else:
                    client.sendall(said)
