"""A client that only reads through the daemon, for commands that must start as fast as Python does.

It loads next to nothing, and speaks as `channel.py` does. Every unusual case, even an error of the service, raises
`Unread`: the caller then takes the long way, which meets the same case again and can report it.
"""

import _socket
import os

from commonhold.api.wire.messagepack import decode, encode
from commonhold.api.wire.protocol import HELLO, PROTOCOL

PATIENCE_SECONDS = 120.0
CHUNK_BYTES = 65_536
_LENGTH_BYTES = 4


class Unread(Exception):  # noqa: N818 - it is answered with another way, and never shown
    """This client cannot give an answer."""


class Reader:
    """A connection to the daemon at an address, for the working tree at `root`, and for an agent session or none."""

    def __init__(self, address: str, version: str, root: str, agent: str | None) -> None:
        """Connect. Raises Unread if no daemon answers, or if it rejects this client."""
        self._number = -1
        self._correlation = os.urandom(6).hex()  # as `machine/correlation.py` makes it, which takes longer to load
        self._socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        self._socket.settimeout(PATIENCE_SECONDS)
        hello = {"protocol": PROTOCOL, "version": version, "root": root, "agent": agent, "umask": _umask()}
        try:
            self._socket.connect(address)
            self._ask(HELLO, hello)
        except (OSError, Unread) as fault:
            self.close()
            raise Unread from fault

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def call(self, name: str, **parameters: object) -> object:
        """Call a method of the service; return its answer, with objects that have the attributes of the real ones."""
        return self._ask(name, parameters)

    def _ask(self, name: str, parameters: dict[str, object]) -> object:
        self._number += 1
        try:
            body = encode([self._number, name, parameters, self._correlation])
            self._socket.sendall(len(body).to_bytes(_LENGTH_BYTES, "big") + body)
            reply = decode(self._received(int.from_bytes(self._received(_LENGTH_BYTES), "big")))
        except (OSError, ValueError) as fault:
            raise Unread from fault
        if not isinstance(reply, list) or reply[:2] != [self._number, "answer"]:
            raise Unread
        answer: object = reply[2]
        return answer

    def _received(self, size: int) -> bytes:
        parts, missing = [], size
        while missing:
            part = self._socket.recv(min(missing, CHUNK_BYTES))
            if not part:
                raise Unread
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)


def _umask() -> int:
    """Return the bits that new files of this process lack; it has no other threads yet."""
    current = os.umask(0o077)
    os.umask(current)
    return current
