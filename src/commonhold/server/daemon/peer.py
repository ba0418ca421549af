"""One client's connection, which never blocks."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from commonhold.api.service import Service
from commonhold.api.wire import calls

CHUNK_BYTES: Final = 32_768


class Peer:
    """An accepted connection. `service` is the service that it calls, once its `hello` has named a holder."""

    def __init__(self, connection: socket.socket, restless: set["Peer"]) -> None:
        """Take over `connection`; add itself to `restless` when the connection needs attention."""
        self.connection = connection
        self._restless = restless
        self.service: Service | None = None
        self.hello: calls.Hello | None = None
        self.is_open = True
        self._incoming: bytes | bytearray = b""
        self._outgoing = bytearray()
        connection.settimeout(0)

    @property
    def agent(self) -> str | None:
        """The agent in whose name it calls; None if it names none."""
        return self.hello.agent if self.hello is not None else None

    @property
    def has_more_to_send(self) -> bool:
        """Whether the other end has not taken all bytes yet."""
        return bool(self._outgoing)

    def receive(self) -> Iterator[calls.Request]:
        """Yield the complete requests that have arrived. After a malformed one nothing more is read from this peer."""
        try:
            data = self.connection.recv(CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.give_up()
            return
        if self._incoming:
            self._incoming += data
        else:
            self._incoming = data
        buffer, start, head = self._incoming, 0, calls.LENGTH.size
        while len(buffer) - start >= head:
            (size,) = calls.LENGTH.unpack_from(buffer, start)
            if size > calls.MAX_FRAME_BYTES:
                self.give_up()
                return
            if len(buffer) - start < head + size:
                break
            try:
                request = calls.decode_request(buffer[start + head : start + head + size])
            except calls.UNREADABLE:
                self.give_up()
                return
            yield request
            start += head + size
        self._incoming = bytearray(buffer[start:]) if start or isinstance(buffer, bytes) else buffer

    def send(self, frame: bytes) -> None:
        """Send as much as the other end takes now; the rest with the next `flush`."""
        sent = 0 if self._outgoing else self._sent(frame)
        if sent < len(frame):
            self._outgoing += frame[sent:]
            self._restless.add(self)

    def give_up(self) -> None:
        """Mark the connection as closed: the other end is gone, or sends nonsense. Nothing more is read from it."""
        self.is_open = False
        self._restless.add(self)

    def flush(self) -> None:
        """Send as much of the rest as the other end takes now."""
        self._restless.add(self)
        with memoryview(self._outgoing) as rest:
            sent = self._sent(rest)
        del self._outgoing[:sent]

    def _sent(self, data: bytes | memoryview) -> int:
        """Send as much as the other end takes; return the number of bytes."""
        try:
            return self.connection.send(data)
        except BlockingIOError:
            return 0
        except OSError:
            self.give_up()
            return len(data)

    def close(self) -> None:
        """End the connection."""
        self.is_open = False
        with suppress(OSError):
            self.connection.close()
