"""The messages of language servers: a header that gives the length, then JSON."""

from typing import IO, Any, Final

import msgspec

Message = dict[str, Any]

_LONGEST_HEADER_BYTES: Final = 1024
_MOST_HEADERS: Final = 16
LARGEST_MESSAGE_BYTES: Final = 64_000_000


class ServerFault(Exception):  # noqa: N818 - it is caught and answered, never shown
    """A server broke the protocol; the text says how, and continues a sentence that begins with its name."""


def encode(message: Message) -> bytes:
    """Return a message in its encoded form."""
    body = msgspec.json.encode(message)
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def read_message(stream: IO[bytes]) -> Message | None:
    """Return the next message; None if the stream ends between two. Raises ServerFault for anything that is none."""
    size = _size(stream)
    if size is None:
        return None
    if size > LARGEST_MESSAGE_BYTES:
        raise ServerFault(f"announced a message of {size:,} bytes")
    body = stream.read(size)
    if len(body) < size:
        raise ServerFault("broke off in the middle of a message")
    try:
        message = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise _no_message(body) from fault
    if not isinstance(message, dict):
        raise _no_message(body)
    return message


def _size(stream: IO[bytes]) -> int | None:
    """The length that the headers give; None at the end of the stream."""
    size = None
    for number in range(_MOST_HEADERS):
        line = stream.readline(_LONGEST_HEADER_BYTES)
        if not line and number == 0:
            return None
        if line == b"\r\n" and size is not None:
            return size
        name, colon, value = line.partition(b":")
        if not colon or not line.endswith(b"\r\n"):
            raise _no_message(line)
        if name.strip().lower() == b"content-length":
            digits = value.strip()
            if not digits.isdigit():
                raise _no_message(value)
            size = int(digits)
    raise ServerFault("sent headers without end")


def _no_message(said: bytes) -> ServerFault:
    return ServerFault(f"sent an invalid message: {said[:60].decode('utf-8', 'replace')!r}")
