"""One client's connection, without ever waiting for it."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from commonhold.app.service import Service
from commonhold.wire import calls

CHUNK_BYTES: Final = 32_768


class Peer:
    """A connection that was accepted. `service` is what it speaks to, once it has said for whom (`hello`)."""

    def __init__(self, connection: socket.socket, restless: set["Peer"]) -> None:
        """Take over `connection`; get into `restless` when the connection needs attention."""
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
        """For whom it speaks; None for nobody."""
        return self.hello.agent if self.hello is not None else None

    @property
    def has_more_to_send(self) -> bool:
        """Whether the other end has not taken all yet."""
        return bool(self._outgoing)

    def receive(self) -> Iterator[calls.Request]:
        """The requests that have come in whole. Nothing more is heard of somebody who sends what is none."""
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
        yield from self._whole_requests()

    def _whole_requests(self) -> Iterator[calls.Request]:
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
        """Send, as far as the other end takes it now; the rest with the next `flush`."""
        sent = 0 if self._outgoing else self._sent(frame)
        if sent < len(frame):
            self._outgoing += frame[sent:]
            self._restless.add(self)

    def give_up(self) -> None:
        """The other end is gone, or talks nonsense: nothing more is heard from it."""
        self.is_open = False
        self._restless.add(self)

    def flush(self) -> None:
        """Send what is left."""
        self._restless.add(self)
        with memoryview(self._outgoing) as rest:
            sent = self._sent(rest)
        del self._outgoing[:sent]

    def _sent(self, data: bytes | memoryview) -> int:
        """Send as much as the other end takes; how much that was."""
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
